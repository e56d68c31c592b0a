"""Whether the index can be trusted: an index that lost pages is no error to FTS5, it only finds less."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from host.messages.searchable import searchable
from host.store.searching.indexed import DENSE, END, INDEXES, TRIGRAMS, WORDS, entries, quoted
from host.store.sqlite.bodies import Unreadable, message_in
from host.store.sqlite.connection import Connection
from host.store.sqlite.index_errors import IndexBroken, index_errors

FEW, MANY = 3, 40  # rows that are looked up in the index before it is asked: after own writes, and after other processes'
SAMPLE = 2_000  # rows that a check looks up
INDEXED = "facts IS NOT NULL AND body IS NOT NULL"


class Soundness:
    """What is known about the index, so that not every search has to find out."""

    def __init__(self) -> None:
        self._known: tuple[int, int, int] | None = None  # connection, others' commits, own changes

    def test(self, connection: sqlite3.Connection) -> None:
        """Look rows up by their own text; raises IndexBroken where one of them is not found."""
        commits: int = connection.execute("PRAGMA data_version").fetchone()[0]
        now = (id(connection), commits, connection.total_changes)
        if now == self._known:
            return
        count = FEW if self._known is not None and now[:2] == self._known[:2] else MANY
        self._known = None
        with index_errors():
            if not all(is_indexed(connection, witness) for witness in witnesses(connection, count)):
                raise IndexBroken("rows are not found by their own text")
        self._known = now


def witnesses(connection: sqlite3.Connection, count: int) -> set[int]:
    """Rows that the index must know: the oldest, the newest, and others between them."""
    first, last = connection.execute(f"SELECT (SELECT min(id) FROM {WORDS}_docsize), (SELECT max(id) FROM {WORDS}_docsize)").fetchone()
    if first is None:
        known = connection.execute(f"SELECT id FROM messages WHERE {INDEXED} LIMIT 1").fetchone()
        return {known[0]} if known else set()
    places = [first + (last - first) * step // (count - 1) for step in range(count)]
    near = f"SELECT id FROM {WORDS}_docsize WHERE id >= ? LIMIT 1"
    return {connection.execute(near, (place,)).fetchone()[0] for place in places}


def is_indexed(connection: sqlite3.Connection, rowid: int) -> bool:
    """Whether a row is found by the end of its own text, in each table that can be asked for it; a damaged one cannot be looked up."""
    found = connection.execute(f"SELECT body, cuts FROM messages WHERE id = ? AND {INDEXED}", (rowid,)).fetchone()
    if found is None:
        return True
    try:
        entry = dict(entries(searchable(message_in(connection, *found))))
    except Unreadable:
        return True
    asked = [(TRIGRAMS, entry[TRIGRAMS][-3:])] if len(entry[TRIGRAMS]) > len(END) else []
    if DENSE in entry:
        asked.append((DENSE, entry[DENSE].split(" ")[0]))
    if word := next((word for word in entry[WORDS].split(" ")[:-1] if word.isascii() and word.isalnum()), ""):
        asked.append((WORDS, word))
    return all(
        connection.execute(f"SELECT 1 FROM {table} WHERE {table} MATCH ? AND rowid = ?", (quoted(term), rowid)).fetchone()
        for table, term in asked
    )


def faults(connection: Connection) -> list[str]:
    """What is wrong with the index tables, in words."""
    damaged = [fault for table in INDEXES if (fault := _integrity(connection, table))]
    try:
        return damaged or [*_strays(connection), *_missing(connection)]
    except IndexBroken as error:
        return [f"the search index cannot be read: {error}"]


def _integrity(connection: Connection, table: str) -> str | None:
    try:
        with connection.writing() as writer, index_errors():
            writer.execute(f"INSERT INTO {table}({table}) VALUES ('integrity-check')")
    except IndexBroken as error:
        return f"index table {table} is damaged: {error}"
    return None


def _strays(connection: Connection) -> Iterator[str]:
    """Rows in the index that are no messages, and the other way round, by the word table's own list."""
    indexed, known = f"SELECT id FROM {WORDS}_docsize", f"SELECT id FROM messages WHERE {INDEXED}"
    with connection.snapshot() as reader, index_errors():
        stray = reader.execute(f"SELECT count(*) FROM ({indexed} EXCEPT {known})").fetchone()[0]
        absent = reader.execute(f"SELECT count(*) FROM ({known} EXCEPT {indexed})").fetchone()[0]
    if stray:
        yield f"the index still holds {stray:,} rows that are no messages any more"
    if absent:
        yield f"{absent:,} messages count as indexed and are not"


def _missing(connection: Connection) -> Iterator[str]:
    """A sample of the rows, spread evenly, looked up by what they hold."""
    with connection.snapshot() as reader, index_errors():
        sample = witnesses(reader, SAMPLE)
        lost = sum(not is_indexed(reader, rowid) for rowid in sample)
    if lost:
        yield f"{lost:,} of {len(sample):,} messages looked up are not found by their own text"
