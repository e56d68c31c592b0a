"""What was erased or deleted, and must not come back when its recording is read again, or a copy of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import cached_property

from host.messages.types import JSON, Message
from host.store.kept import ERASED
from host.store.searching.folding import fold
from host.store.sqlite.archive import tombstone_content
from host.store.sqlite.care.wanted import is_piece, texts_of
from host.store.sqlite.receipts import DELETE, EXPIRE

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


class Erased:
    """What was erased of an archive, in whatever conversation. Lives as long as a transaction."""

    def __init__(self, connection: sqlite3.Connection, key: bytes) -> None:
        self._connection = connection
        self._key = key

    def holds(self, message: Message) -> bool:
        """Whether this was erased: a copy of its recording would bring it into another conversation."""
        return bool(self._contents) and tombstone_content(self._key, message) in self._contents

    def is_buried(self, conversation: int, place: int) -> bool:
        """Whether the message of a place was erased: what it grew to holds what it was."""
        return bool(self._contents) and self._connection.execute(BURIED, {"of": conversation, "place": place}).fetchone() is not None

    @cached_property
    def _contents(self) -> frozenset[bytes]:
        return frozenset(content for (content,) in self._connection.execute("SELECT content FROM tombstones"))


def was_deleted(connection: sqlite3.Connection, name: str) -> bool:
    """Whether a conversation of this name was deleted, or expired."""
    return connection.execute(DELETED, {"name": name}).fetchone() is not None


def without_erased(about: JSON, before: JSON, refused: Iterable[Message]) -> JSON:
    """What is told of a recording, without a title that is a piece of an erased message, and without what was erased from it before."""
    kept = {key: ERASED if before.get(key) == ERASED else value for key, value in about.items()}
    title = kept.get("title")
    texts = (fold(text) for message in refused for text in texts_of(message))
    return {**kept, "title": ERASED} if isinstance(title, str) and is_piece(title, texts) else kept
