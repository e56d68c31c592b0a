"""Values that no store writes: of another type than their column, times that no calendar has, texts that are no UTF-8."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from host.store.care import Finding
from host.store.sqlite.care.look import Look
from host.store.sqlite.care.salvage import COPIED, is_garbled
from host.store.times import FIRST, LAST

MICROSECONDS = tuple(int(moment.total_seconds()) * 1_000_000 for moment in (FIRST, LAST))
TIMES = frozenset({"time", "created", "started", "ended"})
BODIES = frozenset({("messages", "body"), ("messages", "digest"), ("blobs", "body"), ("messages", "facts")})  # looked at row by row
TYPES = {"INTEGER": "integer", "TEXT": "text", "BLOB": "blob"}
INSTEAD = {"INTEGER": "0", "TEXT": "''", "BLOB": "x''"}  # where a column must have a value
NAMES = "'recovered_' || rowid"


@dataclass(frozen=True)
class Column:
    """A column of a table as it is declared."""

    table: str
    name: str
    kind: str
    is_filled: bool

    @property
    def is_wrong(self) -> str:
        """What is true, in SQL, of a row whose value here cannot be right."""
        types = f"typeof({self.name}) <> '{TYPES[self.kind]}'" + ("" if self.is_filled else f" AND {self.name} IS NOT NULL")
        first, last = MICROSECONDS
        return f"({types} OR {self.name} NOT BETWEEN {first} AND {last})" if self.name in TIMES else f"({types})"

    @property
    def instead(self) -> str:
        """What it is replaced by, in SQL."""
        return (NAMES if self.name == "name" else INSTEAD[self.kind]) if self.is_filled else "NULL"


def columns_of(connection: sqlite3.Connection) -> Iterator[Column]:
    """The columns that have a type, but for those that hold messages."""
    for table, _ in COPIED:
        for _, name, kind, is_filled, _, key in connection.execute(f"PRAGMA table_info({table})").fetchall():
            if kind and (table, name) not in BODIES:
                yield Column(table, name, kind, bool(is_filled or key))


def check_values(look: Look) -> Iterator[Finding]:
    """Each value is of its column's type, times are such, and texts are UTF-8."""
    for column in list(columns_of(look.connection)):
        wrong = look.connection.execute(f"SELECT count(*) FROM {column.table} WHERE {column.is_wrong}").fetchone()[0]
        if wrong:
            yield Finding(f"table {column.table}", f"{wrong:,} values in its column {column.name} cannot be right")
        if column.kind == "TEXT":
            texts = look.connection.execute(f"SELECT {column.name} FROM {column.table} WHERE typeof({column.name}) = 'text'")
            if garbled := sum(is_garbled(text) for (text,) in texts):
                yield Finding(f"table {column.table}", f"{garbled:,} texts in its column {column.name} are no UTF-8")


def mend_values(target: sqlite3.Connection) -> Iterator[str]:
    """Put something harmless in the place of each; a row that cannot be without goes. Yields what is not as it was."""
    target.execute("UPDATE messages SET body = CAST(body AS BLOB) WHERE typeof(body) = 'text'")
    target.execute("UPDATE messages SET digest = x'' WHERE typeof(digest) <> 'blob'")
    for column in list(columns_of(target)):
        wrong = target.execute(f"SELECT count(*) FROM {column.table} WHERE {column.is_wrong}").fetchone()[0]
        if wrong:
            target.execute(f"UPDATE OR IGNORE {column.table} SET {column.name} = {column.instead} WHERE {column.is_wrong}")
            target.execute(f"DELETE FROM {column.table} WHERE {column.is_wrong}")
            yield f"table {column.table}: {wrong:,} values in its column {column.name} could not be right and are gone"
