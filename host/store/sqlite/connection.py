"""One connection to the file, shared by the threads of a process: how it is read and written."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from weakref import WeakSet

from sqlite_utils import Database

from host.errors import StoreUnavailable
from host.store.sqlite.opening import opened, raise_named

BUSY_SECONDS = 10.0  # how long a statement waits for another process's transaction; only an erasure takes longer
LOOK_SECONDS = 0.2  # between two looks whether the file is still there
Parameters = Sequence[Any] | Mapping[str, Any]


class Connection:
    """The file of one store. Threads may share it: each transaction has it alone, and none lasts long.

    The file itself is never opened by hand while it is in use: closing such a handle drops SQLite's locks.
    """

    def __init__(self, path: Path, *, durability: str = "full") -> None:
        self.path = path
        self._durability = durability
        self.lock = threading.RLock()
        self.depth = 0  # of blocks that read or write
        self._file, self._log = str(path), f"{path}-wal"
        self._wal: int | None = None
        self._next_look = 0.0
        self._open()
        _ALL.add(self)

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

    def writing(self, *, patience: float | None = None) -> AbstractContextManager[sqlite3.Connection]:
        """The connection, in one transaction that is the only one to write; all of it is kept, or nothing.

        Another process's transaction is waited for, ``patience`` seconds where that is given; StoreUnavailable then.
        """
        return _Writing(self, patience)

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
        """Close; a second time nothing happens. A parent process's connection stays open: its locks would go with it."""
        with self.lock, suppress(sqlite3.Error):
            if self._process == os.getpid():
                self.database.conn.close()

    def look_after(self) -> None:
        """Open anew where the connection is a parent process's, or where somebody took the WAL away.

        Whoever opens and closes the database file in this process drops its locks; the next process that leaves then
        deletes the WAL although we have it open, and what we wrote into it would be lost.
        """
        if self._process != os.getpid():
            self._inherited = self.database  # closing it would drop the parent's locks
            self._open()
            return
        if self.depth == 1 and self.database.conn.in_transaction:
            self.database.conn.execute("ROLLBACK")  # an interrupt came between its beginning and its block
        if self.database.conn.in_transaction:
            return
        if self._next_look < (now := time.monotonic()):
            self._next_look = now + LOOK_SECONDS
            if inode_of(self._file) != self._inode:
                self._next_look = 0.0
                raise StoreUnavailable(self.path, "the file was removed or replaced while it was in use")
        if (inode := inode_of(self._log)) != self._wal:
            if self._wal is not None:
                self.database.conn.close()
                self._open()
            self._wal = inode if self._wal is None else inode_of(self._log)

    def begin_in_child(self) -> None:
        """Make the lock anew: another thread may have held it when the process was forked, and is not there to release it."""
        self.lock, self.depth = threading.RLock(), 0

    def _open(self) -> None:
        self.database: Database = opened(self.path, self._durability, BUSY_SECONDS)
        self._process = os.getpid()
        self._inode, self._wal = inode_of(self._file), inode_of(self._log)


def inode_of(path: str) -> int | None:
    """Which file a path names now; None where there is none."""
    try:
        return os.stat(path).st_ino  # noqa: PTH116  twice per transaction, and a Path costs more than the call
    except OSError:
        return None


class _Reading:
    """The lock around some SELECTs. A class, as a generator would cost a message a tenth of its time."""

    def __init__(self, of: Connection) -> None:
        self._of = of

    def __enter__(self) -> sqlite3.Connection:
        self._of.lock.acquire()
        self._of.depth += 1
        try:
            self._of.look_after()
            return self._begun(self._of.database.conn)
        except BaseException as error:
            self._left()
            raise_named(self._of.path, error)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._ended(self._of.database.conn, kind, error, trace)
        except BaseException as fault:
            raise_named(self._of.path, fault)
            raise
        finally:
            self._left()
        if error is not None:
            raise_named(self._of.path, error)

    def _left(self) -> None:
        """The block is over; nothing that it began outlives it."""
        self._of.depth -= 1
        try:
            if not self._of.depth and self._of.database.conn.in_transaction:
                self._of.database.conn.execute("ROLLBACK")
        finally:
            self._of.lock.release()

    def _begun(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        return connection

    def _ended(
        self, connection: sqlite3.Connection, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing was begun."""


class _Writing(_Reading):
    """A transaction, or a savepoint where one is open already."""

    _nested: AbstractContextManager[Database] | None = None

    def __init__(self, of: Connection, patience: float | None) -> None:
        super().__init__(of)
        self._patience = patience

    def _begun(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        if connection.in_transaction:
            self._nested = self._of.database.atomic()
            self._nested.__enter__()
        elif self._patience is None:
            connection.execute("BEGIN IMMEDIATE")  # atomic() begins without the lock and may fail at its first write
        else:
            with _waiting(connection, self._patience):
                connection.execute("BEGIN IMMEDIATE")
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


@contextmanager
def _waiting(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Wait for another process's transaction no longer than this."""
    usual = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {usual}")


_ALL: WeakSet[Connection] = WeakSet()


def _begin_all_in_child() -> None:
    for connection in list(_ALL):
        connection.begin_in_child()


os.register_at_fork(after_in_child=_begin_all_in_child)
