"""A copy of the store as it is at one moment, while others go on writing."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from host.engine.services import Progress
from host.errors import DamagedStore, StoreUnavailable, UsageError
from host.store.sqlite.connection import Connection
from host.store.sqlite.opening import prepare_folder

PAGES = 2_000  # copied at a time: 8 MB


def backup(connection: Connection, target: Path, progress: Progress) -> Path:
    """Copy the store to a new file for its owner alone, and check the copy. A copy that failed is taken away again."""
    _reserve(target)
    try:
        with connection.snapshot() as source:  # held from the first page to the last: a writer would make SQLite begin again
            count = source.execute("SELECT count(*) FROM messages").fetchone()[0]
            with closing(sqlite3.connect(target)) as copy:
                source.backup(copy, pages=PAGES, progress=lambda _, left, total: progress(total - left, total, "pages"))
        _check(connection.path, target, count)
    except BaseException:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                target.with_name(target.name + suffix).unlink()
        raise
    return target


def _reserve(target: Path) -> None:
    if target.exists():
        raise UsageError(f"{target} is there already", "name another file; a backup never overwrites one")
    try:
        prepare_folder(target.parent)
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreUnavailable(target, error.strerror or str(error)) from error


def _check(path: Path, target: Path, count: int) -> None:
    """A copy that is not sound was made of a store that is not."""
    try:
        with closing(sqlite3.connect(target)) as copy:
            problem = copy.execute("PRAGMA quick_check").fetchone()[0]
            copied = copy.execute("SELECT count(*) FROM messages").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise StoreUnavailable(target, str(error)) from error
    except sqlite3.DatabaseError as error:
        raise DamagedStore(path, str(error)) from error
    if problem != "ok":
        raise DamagedStore(path, problem)
    if copied != count:
        raise DamagedStore(path, f"a copy of it has {copied} messages of {count}")
