"""Rows read off the pages of a damaged file themselves, without its schema and without the pages that lead to them.

SQLite's file format, 1.5 to 2.1 and 4: each page of a b-tree says of what kind it is and where its cells begin, and a cell how
many columns its row has, of which types. By these the tables of the archive can be told from each other.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

MAGIC = b"SQLite format 3\0"
PAGE_SIZE = 4096  # of a file whose head is gone: SQLite's own choice, which no archive overrides
HEAD = 100  # bytes before the b-tree in page 1
LOG_HEAD, FRAME_HEAD = 32, 24  # bytes
INDEX_INTERIOR, INTERIOR, INDEX_LEAF, LEAF = 2, 5, 10, 13  # kinds of pages
CHILDREN = {INTERIOR: (INTERIOR, LEAF), INDEX_INTERIOR: (INDEX_INTERIOR, INDEX_LEAF)}
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # serial type -> bytes
FLOAT, ZERO, ONE, BLOB = 7, 8, 9, 12
STORED = {"INTEGER": int, "TEXT": str, "BLOB": bytes, "": object}  # declared type -> what a cell of it is
KEPT_KEYS = {
    "digest_key": bytes,
    "head": int,
    "highest_id": int,
    "lowest_id": int,
}  # of ``store``: indexes have rows like it
Cells = tuple[object, ...]


@dataclass(frozen=True)
class Shape:
    """How the rows of a table look in the file. ``alias`` is the column that stands for the rowid, and is empty there."""

    table: str
    columns: tuple[str, ...]
    types: tuple[type, ...]
    filled: tuple[bool, ...]  # columns that are never empty
    alias: int | None
    has_rowids: bool

    def row(self, rowid: int | None, cells: Cells) -> Cells | None:
        """The values of a row of this table, None for one of another."""
        if (rowid is None) is self.has_rowids or len(cells) != len(self.columns):
            return None
        for number, cell in enumerate(cells):
            is_empty_well = not self.filled[number] if number != self.alias else True
            if not (is_empty_well if cell is None else isinstance(cell, self.types[number]) and number != self.alias):
                return None
        if self.table == "store" and not isinstance(cells[1], KEPT_KEYS.get(str(cells[0]), ())):
            return None
        return cells if self.alias is None else (*cells[: self.alias], rowid, *cells[self.alias + 1 :])


def shape_of(connection: sqlite3.Connection, table: str, *, has_rowids: bool) -> Shape:
    """The shape of a table, from a file in which it is whole."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    alias = next((number for number, _, kind, _, _, key in columns if has_rowids and key and kind == "INTEGER"), None)
    return Shape(
        table,
        tuple(column[1] for column in columns),
        tuple(STORED[column[2]] for column in columns),
        tuple(bool(column[3] or column[5]) for column in columns),
        alias,
        has_rowids,
    )


class Pages:
    """The pages of a file that nobody writes, its log laid over it."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._file = mmap(file.fileno(), 0, access=ACCESS_READ)
        self._size = _page_size(self._file)
        self._logged = dict(_logged(path.with_name(path.name + "-wal"), self._size))
        self._count = max(-(-len(self._file) // self._size), *self._logged, 0)

    def rows(self) -> Iterator[tuple[int | None, Cells]]:
        """Rowid (None in a table without) and cells of every row that can be read, stale ones too."""
        for number in range(1, self._count + 1):
            page, start = self._page(number), HEAD if number == 1 else 0
            kind = page[start] if len(page) > start else 0
            for at in _cells_of(page, start) if kind in (LEAF, INDEX_LEAF, INDEX_INTERIOR) else ():
                with suppress(IndexError, ValueError, struct.error):
                    yield self._row(page, at, kind)

    def is_whole(self) -> bool:
        """Whether no page is missing to which another leads."""
        return all(map(self._is_known, range(2, self._count + 1))) and all(
            self._kind(child) in CHILDREN[kind]
            for number in range(2, self._count + 1)
            if (kind := self._kind(number)) in CHILDREN
            for child in self._children(number)
        )

    def _is_known(self, number: int) -> bool:
        """Whether a page is one of a b-tree, or something that goes on from another."""
        page = self._page(number)
        return page[0] in (INDEX_INTERIOR, INTERIOR, INDEX_LEAF, LEAF) or (not page[0] and bool(page.strip(b"\0")))

    def _page(self, number: int) -> bytes:
        return self._logged.get(number) or self._file[(number - 1) * self._size : number * self._size]

    def _kind(self, number: int) -> int:
        return next(iter(self._page(number)[:1]), 0) if 1 < number <= self._count else 0

    def _children(self, number: int) -> Iterator[int]:
        page = self._page(number)
        yield from (int.from_bytes(page[at : at + 4]) for at in _cells_of(page, 0))
        yield int.from_bytes(page[8:12])

    def _row(self, page: bytes, at: int, kind: int) -> tuple[int | None, Cells]:
        at += 4 if kind == INDEX_INTERIOR else 0
        length, at = _varint(page, at)
        rowid = None
        if kind == LEAF:
            rowid, at = _varint(page, at)
            rowid -= (1 << 64) if rowid >> 63 else 0
        return rowid, _record(self._payload(page, at, length, kind))

    def _payload(self, page: bytes, at: int, length: int, kind: int) -> bytes:
        """The bytes of a row, some of which may be on overflow pages (1.6)."""
        most = self._size - 35 if kind == LEAF else (self._size - 12) * 64 // 255 - 23
        if length <= most:
            return page[at : at + length]
        if length > len(self._file) + len(self._logged) * self._size:
            raise ValueError("no row is as long as that")
        least = (self._size - 12) * 32 // 255 - 23
        local = least + (length - least) % (self._size - 4)
        local = local if local <= most else least
        pieces, left, following = [page[at : at + local]], length - local, page[at + local : at + local + 4]
        while left > 0:
            overflow = self._page(int.from_bytes(following))
            piece = overflow[4 : 4 + left]
            if not piece:
                raise ValueError("the rest of it is missing")
            pieces.append(piece)
            left, following = left - len(piece), overflow[:4]
        return b"".join(pieces)


def recovered(pages: Pages, target: sqlite3.Connection, shapes: Sequence[Shape]) -> Mapping[str, int]:
    """Add the rows of some tables that are not in the target yet; returns how many per table."""
    counts: dict[str, int] = {}
    for rowid, cells in pages.rows():
        for shape in shapes:
            if (row := shape.row(rowid, cells)) is not None:
                into = f"INSERT OR IGNORE INTO {shape.table} ({', '.join(shape.columns)}) VALUES ({', '.join('?' * len(row))})"
                counts[shape.table] = counts.get(shape.table, 0) + target.execute(into, _texts(row)).rowcount
                break
    return counts


def _texts(row: Cells) -> Cells:
    return tuple(cell.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if isinstance(cell, str) else cell for cell in row)


def _page_size(file: mmap) -> int:
    size = int.from_bytes(file[16:18])
    size = 65536 if size == 1 else size
    return size if file[: len(MAGIC)] == MAGIC and size >= 512 and not size & (size - 1) else PAGE_SIZE


def _logged(log: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """The pages of all transactions in a log that were finished, in their order."""
    frames = log.read_bytes() if log.exists() else b""
    waiting: list[tuple[int, bytes]] = []
    for at in range(LOG_HEAD, len(frames) - FRAME_HEAD - size + 1, FRAME_HEAD + size):
        if frames[at + 8 : at + 16] != frames[16:24]:  # its salt: left over from an earlier round
            return
        waiting.append((int.from_bytes(frames[at : at + 4]), frames[at + FRAME_HEAD : at + FRAME_HEAD + size]))
        if any(frames[at + 4 : at + 8]):
            yield from waiting
            waiting.clear()


def _cells_of(page: bytes, start: int) -> Iterator[int]:
    """Where the cells of a page begin."""
    first = start + (12 if page[start] in CHILDREN else 8)
    count = min(int.from_bytes(page[start + 3 : start + 5]), len(page) // 6)
    return (int.from_bytes(page[at : at + 2]) for at in range(first, first + 2 * count, 2))


def _varint(page: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        value = value << 7 | page[at + step] & 0x7F
        if page[at + step] < 0x80:
            return value, at + step + 1
    return value << 8 | page[at + 8], at + 9


def _record(payload: bytes) -> Cells:
    """The cells of a row (2.1); ValueError for what is none."""
    end, at = _varint(payload, 0)
    cells, start = [], end
    while at < end:
        kind, at = _varint(payload, at)
        cell, start = _cell(payload, start, kind)
        cells.append(cell)
    if at != end or start != len(payload):
        raise ValueError("no row ends here")
    return tuple(cells)


def _cell(payload: bytes, at: int, kind: int) -> tuple[object, int]:
    if kind in INTEGERS:
        return int.from_bytes(payload[at : at + INTEGERS[kind]], signed=True), at + INTEGERS[kind]
    if kind >= BLOB:
        piece = payload[at : at + (kind - BLOB) // 2]
        return (piece.decode("utf-8", "surrogateescape") if kind % 2 else piece), at + (kind - BLOB) // 2
    if kind == FLOAT:
        return struct.unpack(">d", payload[at : at + 8])[0], at + 8
    if kind in (0, ZERO, ONE):
        return (kind - ZERO if kind else None), at
    raise ValueError("no such type")
