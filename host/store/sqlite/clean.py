"""Taking erased bytes out of the file itself: freed pages, old segments of the index, the write-ahead log."""

from __future__ import annotations

import sqlite3

from host.errors import DamagedStore, StoreUnavailable
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import SearchIndex, State

WAIT = 2_000  # milliseconds for another process to finish reading


def compact_file(connection: Connection) -> list[str]:
    """Write the file anew without what was deleted, and empty the log; returns why something is left in either."""
    try:
        with connection.reading() as reader:
            reader.execute("VACUUM")
    except StoreUnavailable as error:
        return [f"freed pages may hold it, for the file could not be written anew ({error.__cause__})", *truncate_log(connection)]
    return truncate_log(connection)


def truncate_log(connection: Connection) -> list[str]:
    """Empty the write-ahead log; returns why it could not be emptied."""
    try:
        is_busy = _truncated(connection)
    except StoreUnavailable as error:
        return [f"its log (-wal) may hold it, for it could not be emptied ({error.__cause__})"]
    return ["its log (-wal) holds it, for another process reads the archive; it goes when all have closed it"] if is_busy else []


def _truncated(connection: Connection) -> bool:
    """Whether somebody still reads the log."""
    with connection.reading() as reader:
        before = reader.execute("PRAGMA busy_timeout").fetchone()[0]
        reader.execute(f"PRAGMA busy_timeout = {WAIT}")
        try:
            is_busy, _, _ = reader.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            reader.execute(f"PRAGMA busy_timeout = {before}")
    return bool(is_busy)


def clean_index(index: SearchIndex) -> list[str]:
    """Merge the search index, so that no segment of it has words of erased rows; one that cannot be merged is made anew."""
    try:
        return _cleaned(index)
    except StoreUnavailable as error:
        return [f"its search index may hold words of it, for it could not be merged ({error.__cause__})"]


def _cleaned(index: SearchIndex) -> list[str]:
    try:
        if index.state() is State.READY:
            index.optimize()
            return []
    except DamagedStore:
        pass
    if index.state() is State.FOREIGN:
        return ["its search index was made by a later ctxhost, which has to make it anew"]
    return ["its search index could not be made anew"] if index.rebuild() else []


def overwrite_deleted(connection: sqlite3.Connection) -> None:
    """From now on deleted content is overwritten with zeros (SQLite leaves it otherwise)."""
    connection.execute("PRAGMA secure_delete = ON")
