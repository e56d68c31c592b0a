"""Errors of the search index, told from those of the file that it is in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

USABLE_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL})
"""Errors that say nothing against the index."""


class IndexBroken(Exception):
    """The index tables are missing or damaged; the messages are not."""


@contextmanager
def index_errors() -> Iterator[None]:
    """Tell errors of the index from those of a file that cannot be read just now."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if (error.sqlite_errorcode & 0xFF) in USABLE_CODES:
            raise
        raise IndexBroken(str(error)) from error
