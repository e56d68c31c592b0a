"""Rows whose damage is in their very place: conversation or position. The chain knows where they belong.

Ids rise over the whole archive and positions over a conversation: between two rows of one conversation lie no more positions than
ids. Whatever does not fit into that is taken out and put where the digest of another row proves that it stood.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from host.store.sqlite.bodies import chained
from host.store.sqlite.care.reseal import canonical_in
from host.store.sqlite.schema import FIRST_ID

PLACES = "SELECT id, position FROM messages WHERE conversation = ? AND id > ? ORDER BY id"
ROW = "SELECT conversation, position, body, cuts, digest FROM messages WHERE id = ?"
STRAYS = """
SELECT min(id)
FROM messages
WHERE conversation NOT IN (
  SELECT id FROM conversations UNION SELECT conversation FROM sessions UNION SELECT conversation FROM segments
)
GROUP BY conversation
HAVING count(*) = 1 AND min(position) > 1
"""
BEFORE = """
SELECT conversation, position, digest
FROM (SELECT conversation, position, digest, max(id) FROM messages WHERE id < ? GROUP BY conversation)
"""


@dataclass(frozen=True)
class _Place:
    row: int
    position: int

    def is_after(self, other: _Place) -> bool:
        """Whether both can be right."""
        return 0 < self.position - other.position <= self.row - other.row


def mend_places(target: sqlite3.Connection, key: bytes | None, most: int) -> Iterator[str]:
    """Put misplaced rows where they belong. Yields which cannot be anywhere, at positions beyond ``most``, and are gone."""
    numbers = [number for (number,) in target.execute("SELECT DISTINCT conversation FROM messages")]
    misplaced = {row for number in numbers for row in _misplaced(target.execute(PLACES, (number, FIRST_ID)).fetchall())}
    misplaced |= {row for (row,) in target.execute(STRAYS)}
    for row in sorted(misplaced):
        if (place := _proven(target, key, row)) is not None:
            target.execute("UPDATE OR IGNORE messages SET conversation = ?, position = ? WHERE id = ?", (*place, row))
        elif target.execute("DELETE FROM messages WHERE id = ? AND position NOT BETWEEN 1 AND ?", (row, most)).rowcount:
            yield f"message number {row} is gone: its place was damaged, and no digest says which it was"


def mend_ids(target: sqlite3.Connection, explained: Callable[[range], list[range]], most: int) -> None:
    """Give a row whose number is far beyond all others another one: it would count as many lost ones before it."""
    before = FIRST_ID
    for (row,) in target.execute("SELECT id FROM messages WHERE id > ? ORDER BY id", (FIRST_ID,)).fetchall():
        if row - before > most and sum(map(len, explained(range(before + 1, row)))) > most:
            target.execute("UPDATE messages SET id = ? WHERE id = ?", (before + 1, row))
            before += 1
        else:
            before = row


def _misplaced(places: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The rows of a conversation that do not fit between the others."""
    kept = [_Place(FIRST_ID, 0)]
    rows = [_Place(*place) for place in places]
    for at, place in enumerate(rows):
        following = rows[at + 1] if at + 1 < len(rows) else None
        if place.is_after(kept[-1]):
            kept.append(place)
        elif len(kept) > 1 and place.is_after(kept[-2]) and (following is None or following.is_after(place)):
            yield kept.pop().row
            kept.append(place)
        else:
            yield place.row


def _proven(target: sqlite3.Connection, key: bytes | None, row: int) -> tuple[int, int] | None:
    """Conversation and position of a row by the digest of the one before it: where it is, or where its id says."""
    conversation, position, body, cuts, digest = target.execute(ROW, (row,)).fetchone()
    canonical = canonical_in(target, body, cuts)
    if key is None or canonical is None:
        return None
    for of, last, before in _candidates(target, row, conversation, position):
        if isinstance(before, bytes) and chained(key, before, canonical) == digest:
            return of, last + 1
    return None


def _candidates(target: sqlite3.Connection, row: int, conversation: int, position: int) -> Iterator[tuple[int, int, object]]:
    """Conversation, position and digest of what may stand before a row: what does, then the last of each conversation before its id."""
    here = "SELECT conversation, position, digest FROM messages WHERE conversation = ? AND position = ? - 1"
    yield from target.execute(here, (conversation, position)).fetchall()
    yield from target.execute(BEFORE, (row,)).fetchall()
    yield from ((number, 0, b"") for (number,) in target.execute("SELECT id FROM conversations").fetchall())
