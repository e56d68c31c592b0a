"""The search index: derived from the messages and made anew at any time.

A row is in the index when its ``facts`` are filled, in the same transaction. Rows that are not, whatever their id,
are read directly by every search, so nothing is ever missing while indexing lags behind.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import NamedTuple

from host.engine.services import Progress
from host.errors import StoreError
from host.messages.searchable import searchable
from host.messages.types import Message
from host.store.protocols import quiet
from host.store.searching.indexed import INDEXES, TABLES, TRIGRAM_TERMS, entries
from host.store.sqlite.bodies import Unreadable, message_in
from host.store.sqlite.connection import Connection
from host.store.sqlite.index_errors import IndexBroken, index_errors
from host.store.sqlite.soundness import Soundness, faults

VERSION = 1  # of the index: a file with an older one is indexed anew
KEY = "search_index"  # in the table ``store``: the version, or how far the flags of an older index are taken back
BREATH = 0.001  # seconds between two transactions: a lock that is taken again at once leaves nobody else a turn
RESET = 20_000  # rows whose flag is taken back in one transaction
HASH_BYTES = 32 << 20  # what FTS5 gathers before it writes: a whole batch, so that it writes once
PATIENCE = 0.2  # seconds that a search waits for its turn to index
WAITING = "facts IS NULL AND body IS NOT NULL"
WAITING_INDEX = "messages_unindexed"
Facts = Callable[[Message], str | None]


class Batch(NamedTuple):
    """How much is indexed in one transaction: no more rows than this, and no more characters."""

    rows: int
    characters: int


SMALL = Batch(500, 150_000)  # about 50 ms
LARGE = Batch(2_000, 4_000_000)  # where nobody waits for it: an import, a repair; a fifth quicker


class State(StrEnum):
    """What the file's index is good for."""

    READY = "ready"
    ABSENT = "absent"  # not made yet, or an older version
    RESETTING = "resetting"  # an older one is being taken back
    FOREIGN = "foreign"  # a later ctxhost made it


class SearchIndex:
    """The index of one file. ``facts`` makes what the column of that name holds."""

    def __init__(self, connection: Connection, facts: Facts | None = None) -> None:
        self._connection = connection
        self._facts = facts
        self._soundness = Soundness()

    def state(self) -> State:
        """What the index is good for."""
        with self._connection.reading() as connection:
            return _state_in(connection)

    def catch_up(self, seconds: float | None = None, *, progress: Progress = quiet) -> int:
        """Index rows until none is left or the time is over; returns how many are left. Two processes may do it at once.

        A damaged index is left alone: searches say so, and ``rebuild`` makes it anew.
        """
        if seconds is not None:
            self.catch_up_quickly(seconds)
            return self.waiting()
        with suppress(IndexBroken):
            self._index(LARGE, None, progress=progress)
        return self.waiting()

    def catch_up_quickly(self, seconds: float) -> None:
        """Index for a moment before a search; where another process is writing, that has to do without."""
        with suppress(IndexBroken, StoreError):  # the search reads what is not indexed, and meets the trouble itself if there is one
            self._index(SMALL, time.monotonic() + seconds, patience=min(PATIENCE, seconds))

    def waiting(self, most: int | None = None) -> int:
        """How many rows are not indexed; counted no further than ``most``."""
        bound = -1 if most is None else most
        count: int = self._connection.value(f"SELECT count(*) FROM (SELECT 1 FROM messages WHERE {WAITING} LIMIT ?)", (bound,))
        return count

    def unindex(self, connection: sqlite3.Connection, rowid: int, text: str) -> None:
        """Take a row out, inside the caller's transaction and before its body goes. ``text`` is its searchable text.

        The postings themselves go when the tables are merged: ``optimize`` does it. Where the index is damaged it is
        given up instead, to be made anew.
        """
        indexed = connection.execute("SELECT 1 FROM messages WHERE id = ? AND facts IS NOT NULL", (rowid,)).fetchone()
        if indexed is None or _state_in(connection) is not State.READY:
            return
        try:
            with index_errors():
                for table, entry in entries(text):
                    connection.execute(f"INSERT INTO {table}({table}, rowid, text) VALUES ('delete', ?, ?)", (rowid, entry))
            connection.execute("UPDATE messages SET facts = NULL WHERE id = ?", (rowid,))
        except IndexBroken:
            self.give_up(connection)

    def give_up(self, connection: sqlite3.Connection) -> None:
        """Say within the caller's transaction that it is good for nothing; catching up makes it anew."""
        connection.execute("DELETE FROM store WHERE key = ?", (KEY,))

    def rebuild(self, progress: Progress = quiet) -> int:
        """Throw the index away and make it anew from the messages; returns how many rows are left, 0 when all went well."""
        with self._connection.writing() as connection:
            self.give_up(connection)
        total = self._connection.value("SELECT count(*) FROM messages WHERE body IS NOT NULL")
        return self.catch_up(progress=lambda done, _, text: progress(min(done, total), total, text))

    def optimize(self) -> None:
        """Merge each table into one piece: smaller, quicker, and without what was taken out."""
        for table in INDEXES if self.state() is State.READY else ():
            with self._connection.writing() as connection:
                connection.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")

    def check(self) -> list[str]:
        """What is wrong with the index, in words; rows that wait to be indexed are not wrong."""
        if self.state() is not State.READY:
            return []
        return faults(self._connection)

    def trust(self) -> None:
        """Look whether the index may be asked; raises IndexBroken where it has lost something."""
        with self._connection.snapshot() as connection:
            self._soundness.test(connection)

    def _index(self, batch: Batch, until: float | None, *, patience: float | None = None, progress: Progress = quiet) -> None:
        """Batch by batch, each in a transaction of its own, so that other threads and processes get in between."""
        done = 0
        while self._has_work() and (until is None or time.monotonic() < until) and (count := self._step(batch, patience)):
            done += count
            progress(done, 0, "indexing")
            time.sleep(BREATH)

    def _has_work(self) -> bool:
        """Whether there is anything to do, asked without a lock."""
        state = self.state()
        if state is State.READY:
            return bool(self.waiting(1))
        return state is not State.FOREIGN and self._connection.value("SELECT 1 FROM messages LIMIT 1") == 1

    def _step(self, batch: Batch, patience: float | None) -> int:
        """One batch of whatever is to be done; returns how many rows it was."""
        with self._connection.writing(patience=patience) as connection, index_errors():
            found = connection.execute("SELECT value FROM store WHERE key = ?", (KEY,)).fetchone()
            state = _state(found and found[0])
            if state is State.READY:
                return self._index_batch(connection, batch)
            if state is State.ABSENT:
                _create(connection)
                _set(connection, f"{State.RESETTING}:0")
                return 1
            return _reset(connection, int(str(found[0]).partition(":")[2])) if state is State.RESETTING else 0

    def _index_batch(self, connection: sqlite3.Connection, batch: Batch) -> int:
        rows = connection.execute(
            f"SELECT id, body, cuts FROM messages INDEXED BY {WAITING_INDEX} WHERE {WAITING} ORDER BY id LIMIT ?", (batch.rows,)
        )
        inserts: dict[str, list[tuple[int, str]]] = {table: [] for table in INDEXES}
        facts: list[tuple[str, int]] = []
        characters = 0
        for rowid, body, cuts in rows:
            message = _readable(connection, body, cuts)
            text = searchable(message)
            for table, entry in entries(text):
                inserts[table].append((rowid, entry))
            facts.append(((self._facts(message) if self._facts else None) or "", rowid))
            characters += len(text)
            if characters > batch.characters:
                break
        for table, values in inserts.items():
            connection.executemany(f"INSERT INTO {table}(rowid, text) VALUES (?, ?)", values)
        connection.executemany("UPDATE messages SET facts = ? WHERE id = ?", facts)
        return len(facts)


def _readable(connection: sqlite3.Connection, body: bytes, cuts: str | None) -> Message:
    """The message; an empty one for a damaged row, which ``verify`` names and which holds no other row back."""
    try:
        return message_in(connection, body, cuts)
    except Unreadable:
        return {"role": ""}


@contextmanager
def asking(connection: sqlite3.Connection) -> Iterator[None]:
    """Ask the index within the caller's snapshot; raises IndexBroken where it is damaged, or just being made anew."""
    with index_errors():
        if _state_in(connection) is not State.READY:
            raise IndexBroken("it is being made anew")
        yield


def _state_in(connection: sqlite3.Connection) -> State:
    found = connection.execute("SELECT value FROM store WHERE key = ?", (KEY,)).fetchone()
    return _state(found and found[0])


def _state(value: object) -> State:
    text = str(value or "")
    if text.startswith(State.RESETTING):
        return State.RESETTING
    if not text.isdigit() or int(text) < VERSION:
        return State.ABSENT
    return State.READY if int(text) == VERSION else State.FOREIGN


def _set(connection: sqlite3.Connection, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO store (key, value) VALUES (?, ?)", (KEY, value))


def _create(connection: sqlite3.Connection) -> None:
    """The tables, empty; what was there before goes, damaged or not."""
    for table in (TRIGRAM_TERMS, *INDEXES):
        _drop(connection, table)
    for table, definition in TABLES.items():
        connection.execute(f"CREATE VIRTUAL TABLE {table} USING {definition}")
    for table in INDEXES:
        connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('hashsize', {HASH_BYTES})")
    connection.execute(f"CREATE INDEX IF NOT EXISTS {WAITING_INDEX} ON messages(id) WHERE {WAITING}")


def _drop(connection: sqlite3.Connection, table: str) -> None:
    try:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    except sqlite3.DatabaseError:  # its own tables are damaged or gone, and FTS5 cannot even be asked
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_schema WHERE name = ?", (table,))
        connection.execute("PRAGMA writable_schema = RESET")
    for part in ("data", "idx", "docsize", "config", "content"):
        connection.execute(f"DROP TABLE IF EXISTS {table}_{part}")


def _reset(connection: sqlite3.Connection, after: int) -> int:
    """Take the flags of the next rows back; when none is left the index is ready to be filled."""
    ids = connection.execute("SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?", (after, RESET)).fetchone()
    last = ids[0] if ids else 1 << 62
    connection.execute("UPDATE messages SET facts = NULL WHERE id > ? AND id <= ? AND facts IS NOT NULL", (after, last))
    _set(connection, f"{State.RESETTING}:{last}" if ids else str(VERSION))
    return 1
