"""Erasing a conversation whole."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from host.messages.searchable import searchable
from host.store.sqlite.bodies import Unreadable, message_in
from host.store.sqlite.index import SearchIndex
from host.store.sqlite.remembered import empty_states
from host.store.sqlite.schema import HIGHEST_ID

OF_A_CONVERSATION = ("messages", "tombstones", "quarantine", "made", "views", "engine_state", "pins", "segments", "sessions")

LEASES = """
DELETE FROM leases
WHERE name IN (SELECT name FROM sessions WHERE conversation = :of UNION SELECT name FROM conversations WHERE id = :of)
"""
READ_FOR_IT_ALONE = """
SELECT h.reading
FROM chapters h
WHERE h.conversation = :of AND NOT EXISTS (
  SELECT 1
  FROM chapters o
  JOIN conversations c ON c.id = o.conversation
  WHERE o.reading = h.reading AND o.conversation <> :of
)
"""
"""Files of which nothing else is archived: what their readers know is known of it."""


@dataclass(frozen=True)
class Removed:
    """What went: how many rows, their ids, and how many large strings that nothing else used."""

    rows: int
    ids: tuple[int, ...]
    blobs: int


def remove_conversation(connection: sqlite3.Connection, index: SearchIndex, number: int) -> Removed:
    """Delete everything of a conversation. The caller's transaction makes it all or nothing."""
    connection.execute("PRAGMA secure_delete = ON")
    ids = tuple(row for (row,) in connection.execute("SELECT id FROM messages WHERE conversation = ? ORDER BY id", (number,)))
    blobs = blobs_of(connection, ids)
    keep_highest_id(connection)
    unindex(connection, index, ids)
    connection.execute(LEASES, {"of": number})
    connection.execute("UPDATE chapters SET keys = '{}' WHERE conversation = ?", (number,))  # the chapters stay: it is not imported again
    empty_states(connection, [reading for (reading,) in connection.execute(READ_FOR_IT_ALONE, {"of": number}).fetchall()])
    for table in OF_A_CONVERSATION:
        connection.execute(f"DELETE FROM {table} WHERE conversation = ?", (number,))
    connection.execute("DELETE FROM conversations WHERE id = ?", (number,))
    return Removed(len(ids), ids, remove_unused(connection, blobs))


def keep_highest_id(connection: sqlite3.Connection) -> None:
    """Remember the highest id that was given, before rows are deleted: it is not given again."""
    connection.execute(
        """
        INSERT INTO store (key, value)
        VALUES (?, (SELECT coalesce(max(id), 0) FROM messages))
        ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)
        """,
        (HIGHEST_ID,),
    )


def unindex(connection: sqlite3.Connection, index: SearchIndex, ids: Iterable[int]) -> None:
    """Take rows out of the search index while their text is still there; an index that cannot do without it is given up."""
    for row in ids:
        found = connection.execute("SELECT body, cuts FROM messages WHERE id = ? AND body IS NOT NULL", (row,)).fetchone()
        if found is None:
            continue
        try:
            index.unindex(connection, row, searchable(message_in(connection, *found)))
        except Unreadable:  # what of it is in the index nobody knows
            index.give_up(connection)


def blobs_of(connection: sqlite3.Connection, ids: Iterable[int]) -> frozenset[bytes]:
    """The large strings that rows use."""
    cuts = (connection.execute("SELECT cuts FROM messages WHERE id = ?", (row,)).fetchone() for row in ids)
    return frozenset(digest for found in cuts if found for digest in digests_of(found[0]))


def remove_unused(connection: sqlite3.Connection, blobs: frozenset[bytes]) -> int:
    """Delete those of the large strings that no message uses any more; returns how many."""
    unused = blobs - digests_in_use(connection) if blobs else frozenset()
    connection.executemany("DELETE FROM blobs WHERE digest = ?", [(digest,) for digest in unused])
    return len(unused)


def digests_in_use(connection: sqlite3.Connection, *, besides: Collection[int] = ()) -> set[bytes]:
    """The digests of all large strings that some message uses, leaving out some messages by their ids."""
    used: set[bytes] = set()
    for row, cuts in connection.execute("SELECT id, cuts FROM messages WHERE cuts IS NOT NULL"):
        if row not in besides:
            used |= digests_of(cuts)
    return used


def digests_of(cuts: str | None) -> set[bytes]:
    """The digests that a row's cuts name; none where they cannot be read."""
    try:
        return {bytes.fromhex(name) for _, name in json.loads(cuts or "[]")}
    except (ValueError, TypeError):
        return set()
