"""Reading the tables of a damaged file, around the pages that cannot be read."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host.store.sqlite.receipts import merged

TRIES = 50_000  # in which a table's gaps are searched: seconds at most
BEYOND = 1 << 16  # rowids that are tried after the last one that can be read, where nothing says which is the last

COPIED = (
    ("store", ("key",)),
    ("conversations", ()),
    ("sessions", ()),
    ("segments", ()),
    ("messages", ()),
    ("blobs", ()),
    ("tombstones", ("conversation", "position")),
    ("quarantine", ()),
    ("made", ()),
    ("views", ()),
    ("engine_state", ("conversation", "engine")),
    ("leases", ("name",)),
    ("receipts", ()),
)
"""The tables, each with the key by which one without rowids is read."""

Cells = tuple[Any, ...]


@dataclass(frozen=True)
class Count:
    """How much of a table was salvaged. ``lost`` are the rowids between others that could not be read."""

    salvaged: int
    lost: tuple[range, ...] = ()
    is_cut: bool = False  # more may be lost: nobody knows where the table ended


@dataclass
class _Gaps:
    """What reading a table could not reach."""

    lost: list[range] = field(default_factory=list)
    first: int | None = None  # the lowest rowid that could be read
    last: int = 0  # the highest one
    is_cut: bool = False

    def reached(self, rowid: int) -> None:
        """A rowid could be read."""
        self.first = rowid if self.first is None else min(self.first, rowid)
        self.last = max(self.last, rowid)

    def between(self) -> tuple[range, ...]:
        """The lost rowids that had others around them: before the first and after the last nobody knows how many there were."""
        known = range(self.first or 0, self.last) if self.is_cut else range(1 << 62)
        inside = (range(max(gap.start, known.start), min(gap.stop, known.stop)) for gap in self.lost)
        return merged(gap for gap in inside if gap)


@dataclass
class _Run:
    """Reading rowids in one direction until the end or until it breaks off."""

    source: sqlite3.Connection
    asked: str
    bounds: tuple[int, int]
    reached: int | None = None
    is_done: bool = False

    def rows(self, gaps: _Gaps) -> Iterator[Cells]:
        """The rows without their rowids."""
        try:
            for rowid, *row in self.source.execute(self.asked, self.bounds):
                self.reached = rowid
                gaps.reached(rowid)
                yield tuple(row)
        except sqlite3.DatabaseError:
            return
        self.is_done = True


@contextmanager
def opened_tolerantly(path: Path) -> Iterator[sqlite3.Connection]:
    """The damaged file, for reading only: its log is read, not folded in. Faults of the schema do not keep it shut."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA writable_schema = ON")
        yield connection


class Salvage:
    """Copies what can be read from a damaged file into a new one."""

    def __init__(self, source: sqlite3.Connection, target: sqlite3.Connection) -> None:
        self._source = source
        self._target = target

    def copied(self, table: str, key: tuple[str, ...]) -> Count:
        """Copy a table; what cannot be read or does not fit in is left out."""
        columns = self._columns(table)
        if not columns:
            return Count(0, is_cut=True)
        into = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        gaps = _Gaps()
        before = self._target.total_changes
        self._target.executemany(into, self._by_key(table, key, columns, gaps) if key else self._by_rowid(table, columns, gaps))
        return Count(self._target.total_changes - before, gaps.between(), gaps.is_cut)

    def _columns(self, table: str) -> list[str]:
        """The columns that both files have; none where the damaged file does not know the table."""
        try:
            theirs = {row[1] for row in self._source.execute(f"PRAGMA table_info({table})")}
        except sqlite3.DatabaseError:
            return []
        return [row[1] for row in self._target.execute(f"PRAGMA table_info({table})") if row[1] in theirs]

    def _by_key(self, table: str, key: tuple[str, ...], columns: list[str], gaps: _Gaps) -> Iterator[Cells]:
        """The rows of a table without rowids, from both ends."""
        for order in ("ASC", "DESC"):
            by = ", ".join(f"{name} {order}" for name in key)
            try:
                yield from self._source.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {by}")
            except sqlite3.DatabaseError:
                gaps.is_cut = True
                continue
            return

    def _by_rowid(self, table: str, columns: list[str], gaps: _Gaps) -> Iterator[Cells]:
        """The rows of a table, read from both ends of each gap until every rowid in it was tried."""
        waiting = deque([self._bounds(table, gaps)])  # first in, first out: a long gap is searched evenly, coarse to fine
        for _ in range(TRIES):
            if not waiting:
                return
            low, high = waiting.popleft()
            forward = self._run(table, columns, low, high, "ASC")
            yield from forward.rows(gaps)
            if forward.is_done:
                continue
            low = low if forward.reached is None else forward.reached + 1
            backward = self._run(table, columns, low, high, "DESC")
            yield from backward.rows(gaps)
            high = high if backward.reached is None else backward.reached - 1
            if low == high and not backward.is_done:
                gaps.lost.append(range(low, low + 1))
            elif low < high and not backward.is_done:
                middle = (low + high) // 2
                waiting += [(low, middle), (middle + 1, high)]
        gaps.lost += [range(low, high + 1) for low, high in waiting]

    def _run(self, table: str, columns: list[str], low: int, high: int, order: str) -> _Run:
        asked = f"SELECT rowid, {', '.join(columns)} FROM {table} NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid {order}"
        return _Run(self._source, asked, (low, high))

    def _bounds(self, table: str, gaps: _Gaps) -> tuple[int, int]:
        """The lowest and highest rowid; where damage hides one, as far as it may reach."""
        first, last = self._end(table, "min"), self._end(table, "max")
        if first is not None and last is not None:
            return first, last
        gaps.is_cut = True
        indexed = [row for _, _, row in indexed_messages(self._source)] if table == "messages" else []
        first = min(indexed, default=0) if first is None else first
        return first, max(self._last_readable(table, first), max(indexed, default=0)) + BEYOND if last is None else last

    def _end(self, table: str, which: str) -> int | None:
        try:
            found: int | None = self._source.execute(f"SELECT {which}(rowid) FROM {table} NOT INDEXED").fetchone()[0]
        except sqlite3.DatabaseError:
            return None
        return found if found is not None else 0

    def _last_readable(self, table: str, first: int) -> int:
        run = _Run(self._source, f"SELECT rowid FROM {table} NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid", (first, 1 << 62))
        for _ in run.rows(_Gaps()):
            pass
        return first if run.reached is None else run.reached


def indexed_messages(source: sqlite3.Connection) -> Iterator[tuple[int, int, int]]:
    """Conversation, position and id of the messages that the index of the table knows, whatever became of the rows."""
    for order in ("ASC", "DESC"):
        try:
            yield from source.execute(
                "SELECT conversation, position, id FROM messages INDEXED BY messages_at "
                f"WHERE conversation > -1 ORDER BY conversation {order}, position {order}"
            )
        except sqlite3.DatabaseError:
            continue
        return
