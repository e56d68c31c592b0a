"""How the file of a store is opened: made where there is none, brought to this schema, refused where it cannot be used."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from host.errors import DamagedStore, ForeignFile, NewerSchema, StoreUnavailable
from host.store.sqlite.schema import APPLICATION_ID, MIGRATIONS_TABLE, SCHEMA, heal, migrate

SYNCHRONOUS = {"full": "FULL", "normal": "NORMAL"}
LOG_PAGES = 4_000  # 16 MB of log before it is written back: a page that many messages touch is written back once
DAMAGE = ("malformed", "not a database", "corrupt", "Could not decode", "no such table")


def opened(path: Path, durability: str, patience: float) -> Database:
    """The file, ready for use. ``patience`` is how many seconds a statement waits for another process's transaction."""
    try:
        return _opened(path, durability, patience)
    except Exception as error:
        raise_named(path, error)
        raise


def _opened(path: Path, durability: str, patience: float) -> Database:
    prepare_folder(path.parent)
    with file_lock(path.with_name(path.name + ".lock")):
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))  # SQLite gives -wal and -shm the same mode
        database = _connected(path, durability, patience)
        version = database.conn.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            database.conn.close()
            raise NewerSchema(path, version, SCHEMA)
        if version < SCHEMA:
            refuse_foreign(path, database)
            database.conn.execute("PRAGMA journal_mode = WAL").fetchone()
            migrate(database)
        else:
            heal(database)
    database.conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return database


def _connected(path: Path, durability: str, patience: float) -> Database:
    connection = sqlite3.connect(path, timeout=patience, check_same_thread=False, cached_statements=256)
    connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
    return Database(connection, recursive_triggers=False, execute_plugins=False)


def refuse_foreign(path: Path, database: Database) -> None:
    """ForeignFile for a database that another program made; nothing is written into it."""
    tables = set(database.table_names())
    ours = database.conn.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    if tables and not ours and MIGRATIONS_TABLE not in tables:
        database.conn.close()
        raise ForeignFile(path)


def raise_named(path: Path, error: BaseException) -> None:
    """Raise what a fault of SQLite or of the file system means for the store; nothing for any other error."""
    why = str(error)
    if isinstance(error, sqlite3.DatabaseError) and any(sign in why for sign in DAMAGE):
        raise DamagedStore(path, why) from error
    if isinstance(error, UnicodeDecodeError):  # the text of SQLite's own error: what it quotes is damaged
        raise DamagedStore(path, "its schema cannot be read") from error
    if isinstance(error, sqlite3.Error):
        raise StoreUnavailable(path, why) from error
    if isinstance(error, OSError):
        raise StoreUnavailable(path, error.strerror or why) from error


def prepare_folder(folder: Path) -> None:
    """Make the folder and those above it, for their owner alone; one that exists keeps its mode."""
    if not folder.exists():
        prepare_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """One process at a time; a process that dies gives the lock back."""
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
