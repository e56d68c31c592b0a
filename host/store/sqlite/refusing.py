"""What was erased or deleted, and must not come back when its recording is read again, or a copy of it."""

from __future__ import annotations

import re
import sqlite3
from functools import cached_property

from host.messages.types import Message
from host.store.sqlite.archive import tombstone_content
from host.store.sqlite.bodies import chained
from host.store.sqlite.receipts import DELETE, EXPIRE, FORGET

RECORDED_AS = "recorded_as"  # in the receipt of an erasure: by which keys what it erased would come again
ASKED, ONE_MESSAGE, A_TEXT = "asked", "message", "text"  # in it too: what was to go
EVERYWHERE = 0  # in place of a conversation's number
BELONGS_TO_ONE = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""How a key begins that no other message has; a line's number is the key of another message in another file."""

BURIED = """
SELECT 1
FROM tombstones t
WHERE t.conversation = :of AND t.position IN (
  SELECT :place
  UNION ALL
  SELECT position FROM messages WHERE conversation = :of AND place = :place
)
"""
DELETED = f"""
SELECT 1
FROM receipts r
WHERE r.kind IN ('{DELETE}', '{EXPIRE}') AND json_valid(r.receipt)
  AND :name IN (SELECT value FROM json_each(r.receipt, '$.conversations'))
"""
KEYS = f"""
SELECT k.value
FROM receipts r, json_each(CASE WHEN json_valid(r.receipt) THEN r.receipt ELSE '{{}}' END, '$.{RECORDED_AS}') k
WHERE r.kind = '{FORGET}'
"""

CONTENTS = f"""
SELECT CASE WHEN EXISTS (
  SELECT 1
  FROM receipts r
  WHERE r.id = t.receipt AND CASE WHEN json_valid(r.receipt) THEN json_extract(r.receipt, '$.{ASKED}') END = '{ONE_MESSAGE}'
) THEN t.conversation ELSE {EVERYWHERE} END, t.content
FROM tombstones t
"""


class Erased:
    """What was erased of an archive, in whatever conversation. Lives as long as a transaction."""

    def __init__(self, connection: sqlite3.Connection, key: bytes) -> None:
        self._connection = connection
        self._key = key

    def holds(self, message: Message, conversation: int) -> bool:
        """Whether this was erased: as a text in whatever conversation, by its id in this one, for others may say it in earnest."""
        if not self._contents:
            return False
        content = tombstone_content(self._key, message)
        return (EVERYWHERE, content) in self._contents or (conversation, content) in self._contents

    def holds_key(self, client: str, key: str) -> bool:
        """Whether a message was erased that the client recorded under this key: a copy that grows brings it in pieces."""
        return bool(self._keys) and has_one_owner(key) and recorded_as(self._key, client, key) in self._keys

    def is_buried(self, conversation: int, place: int) -> bool:
        """Whether the message of a place was erased: what it grew to holds what it was."""
        return self._connection.execute(BURIED, {"of": conversation, "place": place}).fetchone() is not None

    def was_in(self, conversation: int) -> bool:
        """Whether something of a conversation was erased."""
        return self._connection.execute("SELECT 1 FROM tombstones WHERE conversation = ?", (conversation,)).fetchone() is not None

    @cached_property
    def _contents(self) -> frozenset[tuple[int, bytes]]:
        """Where what is refused. Of what a receipt that is lost was about the most is refused."""
        return frozenset(self._connection.execute(CONTENTS))

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(key for (key,) in self._connection.execute(KEYS))


def has_one_owner(key: str) -> bool:
    """Whether a recording's key names the same message in all recordings of its client."""
    return BELONGS_TO_ONE.match(key) is not None


def recorded_as(key: bytes, client: str, recorded: str) -> str:
    """By what a recorded key is recognised when it comes again."""
    return chained(key, b"recorded as", f"{client}\0{recorded}".encode()).hex()


def was_deleted(connection: sqlite3.Connection, name: str) -> bool:
    """Whether a conversation of this name was deleted, or expired."""
    return connection.execute(DELETED, {"name": name}).fetchone() is not None
