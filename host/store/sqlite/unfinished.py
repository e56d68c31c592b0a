"""An erasure is done when its bytes are out of the file too; until then the store remembers that they are not."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from host.errors import StoreUnavailable
from host.store.sqlite.clean import clean_index, compact_file
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import SearchIndex

UNFINISHED = "unfinished_erasure"  # in the table ``store``: the receipt of the newest erasure whose bytes may still be in the file


def begin(writer: sqlite3.Connection, receipt: int) -> None:
    """Note in the transaction that erases: what was erased is out of the tables with it, but not out of the file."""
    writer.execute("INSERT OR REPLACE INTO store (key, value) VALUES (?, ?)", (UNFINISHED, receipt))


def unfinished_in(connection: sqlite3.Connection) -> int | None:
    """The receipt of an erasure whose bytes may still be in the file."""
    found = connection.execute("SELECT value FROM store WHERE key = ?", (UNFINISHED,)).fetchone()
    return found[0] if found else None


def finish(connection: Connection, index: SearchIndex) -> list[str]:
    """Take the bytes of all erasures out of the file; returns why some may be left in it, which the store remembers then."""
    with connection.reading() as reader:
        receipt = unfinished_in(reader)
    left = [*clean_index(index), *compact_file(connection)]
    if not left:
        with suppress(StoreUnavailable), connection.writing() as writer:  # it is done once more then: no harm
            writer.execute("DELETE FROM store WHERE key = ? AND value IS ?", (UNFINISHED, receipt))  # a later one may have begun
    return left
