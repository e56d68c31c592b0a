"""One connection to the file: how it is opened, read and written, and what may go wrong with a file."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from host.errors import DamagedStore, NewerSchema, StoreUnavailable
from host.store.sqlite.schema import SCHEMA, migrate

BUSY_SECONDS = 30.0  # how long a statement waits for another process's transaction
SYNCHRONOUS = {"full": "FULL", "normal": "NORMAL"}
DAMAGE = ("malformed", "not a database", "corrupt")
Parameters = Sequence[Any] | Mapping[str, Any]


class Connection:
    """The file of one store. Threads may share it: each transaction has it alone, and none lasts long.

    The file itself is never opened by hand while it is in use: closing such a handle drops SQLite's locks.
    """

    def __init__(self, path: Path, *, durability: str = "full") -> None:
        self.path = path
        self._durability = durability
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._wal: int | None = None
        self._depth = 0
        self.database = self._opened()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one or more SELECTs; without a transaction each sees the newest state."""
        with self._lock, self._named_errors():
            self._look_after()
            yield self.database.conn

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """The connection, for SELECTs that all see the same state."""
        with self.reading() as connection:
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The connection, in one transaction that is the only one to write; all of it is kept, or nothing."""
        with self._lock, self._named_errors():
            self._look_after()
            if self.database.conn.in_transaction:
                with self.database.atomic():
                    yield self.database.conn
                return
            with self._immediate() as connection:
                yield connection

    @contextmanager
    def _immediate(self) -> Iterator[sqlite3.Connection]:
        connection = self.database.conn
        connection.execute("BEGIN IMMEDIATE")  # atomic() begins without the lock and may fail at its first write
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Any]:
        """All rows of a SELECT."""
        with self.reading() as connection:
            return connection.execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The first column of the first row, None where there is none."""
        with self.reading() as connection:
            found = connection.execute(sql, parameters).fetchone()
        return found[0] if found else None

    def close(self) -> None:
        """Close; a second time nothing happens."""
        with self._lock, suppress(sqlite3.Error):
            self.database.conn.close()

    def _opened(self) -> Database:
        with self._named_errors():
            prepare_folder(self.path.parent)
            with file_lock(self.path.with_name(self.path.name + ".lock")):
                if not self.path.exists():
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))  # SQLite gives -wal and -shm the same mode
                database = self._connected()
                version = database.conn.execute("PRAGMA user_version").fetchone()[0]
                if version > SCHEMA:
                    database.conn.close()
                    raise NewerSchema(self.path, version, SCHEMA)
                if version < SCHEMA:
                    database.conn.execute("PRAGMA journal_mode = WAL").fetchone()
                    migrate(database)
            database.conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
            self._wal = self._wal_inode()
            return database

    def _connected(self) -> Database:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, check_same_thread=False, cached_statements=256)
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[self._durability]}")
        return Database(connection, recursive_triggers=False, execute_plugins=False)

    def _look_after(self) -> None:
        """Open anew where the connection is a parent process's, or where somebody took the WAL away.

        Whoever opens and closes the database file in this process drops its locks; the next process that leaves then
        deletes the WAL although we have it open, and what we wrote into it would be lost.
        """
        if self.database.conn.in_transaction:
            return
        if self._process != os.getpid():
            self._inherited = self.database  # closing it would drop the parent's locks
            self._process = os.getpid()
            self.database = self._opened()
        elif (inode := self._wal_inode()) != self._wal:
            if self._wal is not None:
                self.database.conn.close()
                self.database = self._opened()
            self._wal = inode if self._wal is None else self._wal_inode()

    def _wal_inode(self) -> int | None:
        try:
            return os.stat(f"{self.path}-wal").st_ino  # noqa: PTH116  once per transaction, and a Path costs more than the call
        except OSError:
            return None

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            why = str(error)
            if any(sign in why for sign in DAMAGE):
                raise DamagedStore(self.path, why) from error
            if isinstance(error, sqlite3.OperationalError) or "closed" in why:
                raise StoreUnavailable(self.path, why) from error
            raise
        except OSError as error:
            raise StoreUnavailable(self.path, error.strerror or str(error)) from error


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
