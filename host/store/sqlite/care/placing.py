"""Rows whose damage is in their very place: conversation or position. The chain knows where they belong.

Ids rise over the whole archive and positions over a conversation: between two rows of one conversation lie no more positions than
ids. Whatever does not fit into that is taken out and put where the digest of another row proves that it stood.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from host.store.sqlite.bodies import chained
from host.store.sqlite.care.holes import Holes
from host.store.sqlite.care.reseal import canonical_in
from host.store.sqlite.schema import FIRST_ID, LOWEST_ID

PLACES = "SELECT id, position FROM messages WHERE conversation = ? ORDER BY id"
ABOVE = "SELECT id FROM messages WHERE id > ? ORDER BY id"
BELOW = "SELECT id FROM messages WHERE id <= ? ORDER BY id DESC"
BESIDE = """
SELECT p.id + 1
FROM messages m
JOIN messages p ON p.conversation = m.conversation AND p.position = m.position - 1
WHERE m.id = ? AND NOT EXISTS (SELECT 1 FROM messages n WHERE n.id = p.id + 1)
"""
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
    misplaced = {row for number in numbers for row in _misplaced(target.execute(PLACES, (number,)).fetchall())}
    misplaced |= {row for (row,) in target.execute(STRAYS)}
    for row in sorted(misplaced):
        if (place := _proven(target, key, row)) is not None:
            target.execute("UPDATE OR IGNORE messages SET conversation = ?, position = ? WHERE id = ?", (*place, row))
        elif target.execute("DELETE FROM messages WHERE id = ? AND position NOT BETWEEN 1 AND ?", (row, most)).rowcount:
            yield f"message number {row} is gone: its place was damaged, and no digest says which it was"


def mend_ids(target: sqlite3.Connection, holes: Holes, most: int) -> None:
    """Give a row whose number is far from all others another one: it would count as many lost ones between, or leave history no room.

    Ids go up and down from the first one: what was said lies above it, history below.
    """
    for rows, before, step in ((ABOVE, FIRST_ID, 1), (BELOW, FIRST_ID + 1, -1)):
        for (row,) in target.execute(rows, (FIRST_ID,)).fetchall():
            between = range(before + 1, row) if step > 0 else range(row + 1, before)
            is_far = len(between) >= most and sum(map(len, holes.ids_left(between))) >= most
            number = _id_beside(target, row, range(before - most, before + most)) or before + step if is_far else row
            if is_far:
                target.execute("UPDATE messages SET id = ? WHERE id = ?", (number, row))
            before = max(before, number) if step > 0 else min(before, number)


def _id_beside(target: sqlite3.Connection, row: int, near: range) -> int | None:
    """The id behind that of the row before this one, where nobody has it."""
    found = target.execute(BESIDE, (row,)).fetchone()
    return found[0] if found is not None and found[0] in near else None


def mend_lowest(target: sqlite3.Connection, holes: Holes, most: int) -> None:
    """How far history reaches down is known: no id is given twice, not even that of a row that is gone."""
    ids = target.execute("SELECT min(id) FROM messages").fetchone()[0]
    reached = min((ids or FIRST_ID + 1, FIRST_ID + 1, *(span.start for span in holes.ids if span.start > 0)))
    held = target.execute("SELECT value FROM store WHERE key = ? AND typeof(value) = 'integer'", (LOWEST_ID,)).fetchone()
    if held is not None and max(reached - most, 1) <= held[0] <= reached:
        return
    target.execute("DELETE FROM store WHERE key = ?", (LOWEST_ID,))
    if reached <= FIRST_ID:
        target.execute("INSERT INTO store (key, value) VALUES (?, ?)", (LOWEST_ID, reached))


def _misplaced(places: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The rows of a conversation that do not fit between the others."""
    rows = [_Place(*place) for place in places]
    kept = [_Place(FIRST_ID if rows[0].row > FIRST_ID else 0, 0)]  # before the first of its kind: history lies below
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
