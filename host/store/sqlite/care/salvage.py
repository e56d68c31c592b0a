"""Reading the tables of a damaged file, around the pages that cannot be read."""

from __future__ import annotations

import sqlite3
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from host.store.sqlite.care.holes import without
from host.store.sqlite.receipts import merged

UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)  # the second where damage is in the very text of an error
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
    ("readings", ()),
    ("chapters", ()),
    ("pins", ()),
)
"""The tables, each with the key by which one without rowids is read."""
SINCE = {"readings": 2, "chapters": 2, "pins": 3}  # tables that a file has from this schema on

Cells = tuple[Any, ...]


@dataclass(frozen=True)
class Count:
    """How much of a table was salvaged. ``lost`` are the rowids between others that could not be read."""

    salvaged: int
    lost: tuple[range, ...] = ()
    is_cut: bool = False  # more may be lost: nobody knows where the table ended
    garbled: int = 0  # texts that are no UTF-8
    refused: int = 0  # rows that do not fit in beside others: the same name, or the same place

    def with_found(self, target: sqlite3.Connection, table: str, found: int, *, is_whole: bool) -> Count:
        """The same after more rows were found on the pages; ``is_whole``: none can be missing there."""
        if not found and not is_whole:
            return self
        rows = "SELECT rowid FROM {} WHERE rowid BETWEEN ? AND ?"
        lost = list(self.lost)
        for gap in self.lost:
            for (rowid,) in target.execute(rows.format(table), (gap.start, gap.stop - 1)).fetchall():
                lost = [part for whole in lost for part in without(whole, range(rowid, rowid + 1))]
        return replace(self, salvaged=self.salvaged + found, lost=tuple(lost), is_cut=self.is_cut and not is_whole)

    def harm(self, table: str) -> Iterator[str]:
        """What is not as it was, besides what is lost."""
        if self.garbled:
            yield f"table {table}: {self.garbled:,} texts were damaged: what cannot be read of them is \ufffd now"
        if self.refused:
            yield f"table {table}: {self.refused:,} rows are gone, for others have their name or place"


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
        except UNREADABLE:
            return
        self.is_done = True


@contextmanager
def opened_tolerantly(path: Path) -> Iterator[sqlite3.Connection]:
    """The damaged file, for reading only: its log is read, not folded in. Faults of the schema do not keep it shut."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
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
        if not columns and is_younger(self._source, table):
            return Count(0)
        if not columns:
            return Count(0, is_cut=True)
        into = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        gaps, read = _Gaps(), Counter[str]()
        before = self._target.total_changes
        rows = self._by_key(table, key, columns, gaps) if key else self._by_rowid(table, columns, gaps)
        self._target.executemany(into, _readable(rows, read))
        salvaged = self._target.total_changes - before
        return Count(salvaged, gaps.between(), gaps.is_cut, read["garbled"], 0 if key else read["rows"] - salvaged)

    def _columns(self, table: str) -> list[str]:
        """The columns that both files have; none where the damaged file does not know the table."""
        try:
            theirs = {row[1] for row in self._source.execute(f"PRAGMA table_info({table})")}
        except UNREADABLE:
            return []
        return [row[1] for row in self._target.execute(f"PRAGMA table_info({table})") if row[1] in theirs]

    def _by_key(self, table: str, key: tuple[str, ...], columns: list[str], gaps: _Gaps) -> Iterator[Cells]:
        """The rows of a table without rowids, from both ends."""
        for order in ("ASC", "DESC"):
            by = ", ".join(f"{name} {order}" for name in key)
            try:
                yield from self._source.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {by}")
            except UNREADABLE:
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
        except UNREADABLE:
            return None
        return found if found is not None else 0

    def _last_readable(self, table: str, first: int) -> int:
        run = _Run(self._source, f"SELECT rowid FROM {table} NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid", (first, 1 << 62))
        for _ in run.rows(_Gaps()):
            pass
        return first if run.reached is None else run.reached


def has_schema(source: sqlite3.Connection) -> bool:
    """Whether the file still says which tables it has."""
    try:
        return source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    except UNREADABLE:
        return False


def is_younger(source: sqlite3.Connection, table: str) -> bool:
    """Whether a table came only after the file was made."""
    try:
        return bool(source.execute("PRAGMA user_version").fetchone()[0] < SINCE.get(table, 0))
    except UNREADABLE:
        return False


def _readable(rows: Iterator[Cells], read: Counter[str]) -> Iterator[Cells]:
    """The rows with texts that are such; ``read`` counts them, and those texts that were none."""
    for row in rows:
        read["rows"] += 1
        garbled = {at: cell for at, cell in enumerate(row) if isinstance(cell, str) and is_garbled(cell)}
        read["garbled"] += len(garbled)
        mended = {at: cell.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for at, cell in garbled.items()}
        yield tuple(mended.get(at, cell) for at, cell in enumerate(row)) if mended else row


def is_garbled(text: str) -> bool:
    """Whether a text came from bytes that are no UTF-8 (read with ``surrogateescape``)."""
    return not text.isascii() and any("\udc80" <= char <= "\udcff" for char in text)


def indexed_messages(source: sqlite3.Connection) -> Iterator[tuple[int, int, int]]:
    """Conversation, position and id of the messages that the index of the table knows, whatever became of the rows."""
    for order in ("ASC", "DESC"):
        try:
            found = source.execute(
                "SELECT conversation, position, id FROM messages INDEXED BY messages_at "
                f"WHERE conversation > -1 ORDER BY conversation {order}, position {order}"
            )
            yield from (entry for entry in found if all(isinstance(number, int) for number in entry))
        except UNREADABLE:
            continue
        return
