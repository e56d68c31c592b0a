"""A look at an archive that changes nothing and makes no file: what ``ctxhost doctor`` tells of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from host.errors import DamagedStore, NewerSchema, StoreUnavailable
from host.store.sqlite.bodies import Unreadable, message_in
from host.store.sqlite.opening import DAMAGE
from host.store.sqlite.schema import SCHEMA
from host.store.times import from_microseconds, microseconds

JOURNAL_AT = 18  # byte of the file's head that says how it is journalled
WAL = 2
SAMPLE = 50  # rows of each table that are read for a look at their soundness
NEWEST = 5  # entries of the quarantine that are told


@dataclass(frozen=True)
class Quarantined:
    """A message that could not be kept."""

    time: datetime
    error: str
    shown: str


@dataclass(frozen=True)
class Held:
    """A right that somebody holds now."""

    name: str
    holder: str
    until: datetime


@dataclass(frozen=True)
class Glance:
    """An archive as it is. ``unread`` are the bytes of a log that its next user takes in, and that were not read here."""

    schema: int
    journal: str
    unread: int = 0
    messages: int = 0
    conversations: int = 0
    unindexed: int = 0
    quarantined: int = 0
    newest: tuple[Quarantined, ...] = ()
    leases: tuple[Held, ...] = ()
    unfinished: int | None = None  # the receipt of an erasure whose bytes may still be in the file


@dataclass(frozen=True)
class Abilities:
    """What the SQLite that Python brings along can do. ``trouble`` is None where full-text search works."""

    version: str
    trouble: str | None


def abilities() -> Abilities:
    """Try FTS5 and its trigram tokenizer in memory."""
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='trigram', detail=none)")
        except sqlite3.Error as error:
            return Abilities(sqlite3.sqlite_version, str(error))
    return Abilities(sqlite3.sqlite_version, None)


def glance(path: Path) -> Glance:
    """Look at the file. Raises DamagedStore, NewerSchema or StoreUnavailable."""
    logged, in_use = _log_of(path)
    with _named_errors(path), _opened(path, in_use) as connection:
        schema = connection.execute("PRAGMA user_version").fetchone()[0]
        if schema > SCHEMA:
            raise NewerSchema(path, schema, SCHEMA)
        journal = connection.execute("PRAGMA journal_mode").fetchone()[0] if in_use else _journal_of(path)
        unread = 0 if in_use else logged
        return Glance(schema, journal, unread) if schema < SCHEMA else _counted(connection, journal, unread)


def damage(path: Path) -> list[str]:
    """What cannot be read among the newest rows of each table, in words: a cheap look, `archive verify` reads everything."""
    with _named_errors(path), _opened(path, _log_of(path)[1]) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'").fetchall()
        found = [f"table {name}: {fault}" for (name,) in tables if (fault := _fault_of(connection, name))]
        return found or _unreadable_messages(connection)


def _fault_of(connection: sqlite3.Connection, table: str) -> str | None:
    by_number = "WITHOUT ROWID" not in connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    try:
        for _ in connection.execute(f'SELECT * FROM "{table}" {"ORDER BY rowid DESC" if by_number else ""} LIMIT {SAMPLE}'):
            pass
    except sqlite3.DatabaseError as error:
        return str(error)
    return None


def _unreadable_messages(connection: sqlite3.Connection) -> list[str]:
    newest = connection.execute(f"SELECT body, cuts FROM messages WHERE body IS NOT NULL ORDER BY id DESC LIMIT {SAMPLE}").fetchall()
    lost = 0
    for body, cuts in newest:
        try:
            message_in(connection, body, cuts)
        except Unreadable:
            lost += 1
    return [f"{lost} of the newest {len(newest)} messages cannot be read"] if lost else []


def _log_of(path: Path) -> tuple[int, bool]:
    """How large the log is, and whether somebody has the file open with it."""
    log, shared = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    logged = log.stat().st_size if log.exists() else 0
    return logged, logged > 0 and shared.exists()


@contextmanager
def _opened(path: Path, in_use: bool) -> Iterator[sqlite3.Connection]:
    """A connection that reads; ``immutable`` where nobody has the file open, since it would make a log else."""
    access = "mode=ro" if in_use else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{access}", uri=True, timeout=2)) as connection:
        yield connection


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if any(sign in str(error) for sign in (*DAMAGE, "no such table")):
            raise DamagedStore(path, str(error)) from error
        raise StoreUnavailable(path, str(error)) from error
    except UnicodeDecodeError as error:  # the text of SQLite's own error: what it quotes is damaged
        raise DamagedStore(path, "its schema cannot be read") from error
    except OSError as error:
        raise StoreUnavailable(path, error.strerror or str(error)) from error


def _counted(connection: sqlite3.Connection, journal: str, unread: int) -> Glance:
    def number(sql: str) -> int:
        return int(connection.execute(sql).fetchone()[0])

    newest = connection.execute("SELECT time, error, shown FROM quarantine ORDER BY id DESC LIMIT ?", (NEWEST,))
    held = "SELECT name, holder, expires FROM leases WHERE holder IS NOT NULL AND expires >= ?"
    return Glance(
        schema=SCHEMA,
        journal=journal,
        unread=unread,
        messages=number("SELECT count(*) FROM messages"),
        conversations=number("SELECT count(*) FROM conversations"),
        unindexed=number("SELECT count(*) FROM messages WHERE facts IS NULL AND body IS NOT NULL"),
        quarantined=number("SELECT count(*) FROM quarantine"),
        unfinished=next((row[0] for row in connection.execute("SELECT value FROM store WHERE key = 'unfinished_erasure'")), None),
        newest=tuple(Quarantined(from_microseconds(time), error, shown) for time, error, shown in newest.fetchall()),
        leases=tuple(
            Held(name, holder, from_microseconds(until)) for name, holder, until in connection.execute(held, (microseconds(),)).fetchall()
        ),
    )


def _journal_of(path: Path) -> str:
    """How a file that nobody has open is journalled; an immutable connection does not tell."""
    with path.open("rb") as file:
        head = file.read(JOURNAL_AT + 1)
    return "wal" if head[JOURNAL_AT:] == bytes([WAL]) else "delete"
