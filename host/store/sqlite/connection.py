"""One connection to the file: how it is opened, read and written, and what may go wrong with a file."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlite_utils import Database

from host.errors import DamagedStore, NewerSchema, StoreUnavailable
from host.store.sqlite.schema import SCHEMA, heal, migrate

BUSY_SECONDS = 30.0  # how long a statement waits for another process's transaction
SYNCHRONOUS = {"full": "FULL", "normal": "NORMAL"}
LOG_PAGES = 4_000  # 16 MB of log before it is written back: a page that many messages touch is written back once
DAMAGE = ("malformed", "not a database", "corrupt")
Parameters = Sequence[Any] | Mapping[str, Any]


class Connection:
    """The file of one store. Threads may share it: each transaction has it alone, and none lasts long.

    The file itself is never opened by hand while it is in use: closing such a handle drops SQLite's locks.
    """

    def __init__(self, path: Path, *, durability: str = "full") -> None:
        self.path = path
        self._durability = durability
        self.lock = threading.RLock()
        self._process = os.getpid()
        self._log = f"{path}-wal"
        self._wal: int | None = None
        self.database = self._opened()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """The connection, for one or more SELECTs; without a transaction each sees the newest state."""
        return _Reading(self)

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

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """The connection, in one transaction that is the only one to write; all of it is kept, or nothing."""
        return _Writing(self)

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
        with self.lock, suppress(sqlite3.Error):
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
                else:
                    heal(database)
            database.conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
            self._wal = self._wal_inode()
            return database

    def _connected(self) -> Database:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, check_same_thread=False, cached_statements=256)
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[self._durability]}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        return Database(connection, recursive_triggers=False, execute_plugins=False)

    def look_after(self) -> None:
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
            return os.stat(self._log).st_ino  # noqa: PTH116  once per transaction, and a Path costs more than the call
        except OSError:
            return None

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            raise self.named(error) from error

    def named(self, error: BaseException) -> BaseException:
        """What a fault of SQLite or of the file system means for the store; any other error as it is."""
        why = str(error)
        if isinstance(error, sqlite3.DatabaseError) and any(sign in why for sign in DAMAGE):
            return DamagedStore(self.path, why)
        if isinstance(error, sqlite3.Error):
            return StoreUnavailable(self.path, why)
        if isinstance(error, OSError):
            return StoreUnavailable(self.path, error.strerror or why)
        return error


class _Reading:
    """The lock around some SELECTs. A class, as a generator would cost a message a tenth of its time."""

    def __init__(self, of: Connection) -> None:
        self._of = of

    def __enter__(self) -> sqlite3.Connection:
        self._of.lock.acquire()
        try:
            self._of.look_after()
            return self._begun(self._of.database.conn)
        except BaseException as error:
            self._of.lock.release()
            raise self._of.named(error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._ended(self._of.database.conn, kind, error, trace)
        except BaseException as fault:
            raise self._of.named(fault) from fault
        finally:
            self._of.lock.release()
        if error is not None and (named := self._of.named(error)) is not error:
            raise named from error

    def _begun(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        return connection

    def _ended(
        self, connection: sqlite3.Connection, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was begun."""


class _Writing(_Reading):
    """A transaction, or a savepoint where one is open already."""

    _nested: AbstractContextManager[Database] | None = None

    def _begun(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        if connection.in_transaction:
            self._nested = self._of.database.atomic()
            self._nested.__enter__()
        else:
            connection.execute("BEGIN IMMEDIATE")  # atomic() begins without the lock and may fail at its first write
        return connection

    def _ended(
        self, connection: sqlite3.Connection, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._nested is not None:
            self._nested.__exit__(kind, error, trace)
        elif error is None:
            self._commit(connection)
        elif connection.in_transaction:
            connection.execute("ROLLBACK")

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


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
