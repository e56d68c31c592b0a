"""A row without content for each position that is not there any more."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from host.store.sqlite.care.chapters import told_by_keys
from host.store.sqlite.care.surroundings import Position, shown_in
from host.store.sqlite.receipts import runs
from host.store.sqlite.schema import FIRST_ID

NOBODY = "user"  # the role of a lost message: a window may hold it anywhere
Place = tuple[int, int]
"""Id and time of a row."""


def fill_positions(target: sqlite3.Connection, indexed: Iterable[tuple[int, int, int]], most: int) -> None:
    """Put a row at each position that is missing, with its old id where that is known, else one between those of its neighbours.

    ``indexed`` says where a row stood, by the index of the damaged file; of one that is there it says nothing.
    """
    found = target.execute("SELECT conversation, position, id, time FROM messages ORDER BY conversation, position").fetchall()
    known = {of: {position: (row, time) for _, position, row, time in rows} for of, rows in groupby(found, key=lambda row: row[0])}
    used = {row for _, _, row, _ in found}
    furthest = max(used, default=FIRST_ID) + most
    ids = {(of, at): row for of, at, row in indexed if at <= most and row <= furthest and row not in used}
    for conversation, length in _lengths(target, ids, most).items():
        rows = known.get(conversation, {})
        for span in runs(position for position in range(1, length + 1) if position not in rows):
            old = {position: ids[conversation, position] for position in span if (conversation, position) in ids}
            before, after = rows.get(span.start - 1), rows.get(span.stop)
            moment = before[1] if before else min((time for _, time in rows.values()), default=0)
            lost = _ids_between(span, before, after, old, used)
            target.executemany(
                "INSERT INTO messages (id, conversation, position, time, role, digest) VALUES (?, ?, ?, ?, ?, x'')",
                [(row, conversation, position, moment, NOBODY) for position, row in lost],
            )


def _ids_between(
    span: range, before: Place | None, after: Place | None, old: Mapping[int, int], used: set[int]
) -> Iterator[tuple[int, int]]:
    """Positions with their ids: counted down from the row that follows, up from the one before where none follows."""
    floor = before[0] if before else 0
    step, at = (-1, after[0]) if after else (1, floor)
    for position in reversed(span) if after else span:
        wanted = old.get(position, 0)
        is_between = wanted > floor and (wanted - at) * step > 0 and wanted not in used
        at = wanted if is_between else _free_id(at if at or after else FIRST_ID, step, floor, used)
        used.add(at)
        yield position, at


def _free_id(at: int, step: int, floor: int, used: set[int]) -> int:
    """The next id that nobody has; upwards where there is none left above the floor."""
    free = at + step
    while free in used:
        free += step
    return free if free > floor else _free_id(floor, 1, floor, used)


def _lengths(target: sqlite3.Connection, ids: Iterable[Position], most: int) -> dict[int, int]:
    """How far each conversation reached, by everything that names a position of it."""
    witnesses = """
    SELECT conversation, max(position) FROM messages GROUP BY 1
    UNION ALL SELECT conversation, max(position) FROM tombstones GROUP BY 1
    UNION ALL SELECT conversation, max(upto) FROM views GROUP BY 1
    UNION ALL SELECT conversation, max(first) - 1 FROM segments GROUP BY 1
    UNION ALL SELECT conversation, max(position) FROM pins GROUP BY 1
    """
    conversations = {number for (number,) in target.execute("SELECT id FROM conversations")}
    lengths = dict.fromkeys(conversations, 0)
    for conversation, position in (*target.execute(witnesses), *ids, *shown_in(target), *told_by_keys(target, most)):
        if conversation in conversations:
            lengths[conversation] = max(lengths[conversation], position)
    return lengths
