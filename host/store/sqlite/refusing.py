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


class Erased:
    """What was erased of an archive, in whatever conversation. Lives as long as a transaction."""

    def __init__(self, connection: sqlite3.Connection, key: bytes) -> None:
        self._connection = connection
        self._key = key

    def holds(self, message: Message) -> bool:
        """Whether this was erased: a copy of its recording would bring it into another conversation."""
        return bool(self._contents) and tombstone_content(self._key, message) in self._contents

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
    def _contents(self) -> frozenset[bytes]:
        return frozenset(content for (content,) in self._connection.execute("SELECT content FROM tombstones"))

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
