"""The pinned messages of one conversation."""

from __future__ import annotations

import sqlite3

from host.store.kept import printable
from host.store.pinnable import refuse_unpinnable
from host.store.sqlite.archive import LAST, number_of, still_there
from host.store.sqlite.connection import Connection
from host.store.times import from_microseconds, microseconds
from host.store.values import Pin

PINS = "SELECT position, by, time FROM pins WHERE conversation = ?"
PLACE = """
SELECT f.position, f.body IS NULL AND NOT EXISTS (
  SELECT 1
  FROM messages v
  WHERE v.conversation = f.conversation AND v.place = f.position AND v.body IS NOT NULL
)
FROM messages m
JOIN messages f ON f.conversation = m.conversation AND f.position = coalesce(m.place, m.position)
WHERE m.conversation = ? AND m.position = ?
"""
"""The first version of a message, and whether no version has its content any more."""


class SqlitePins:
    """The pins of one conversation (protocol Pins)."""

    def __init__(self, connection: Connection, conversation: str) -> None:
        self._connection = connection
        self._name = conversation
        self._number = number_of(connection, conversation)

    def all(self) -> list[Pin]:
        """All pins, oldest first."""
        return [_pin(*found) for found in self._connection.rows(f"{PINS} ORDER BY id", (self._number,))]

    def add(self, position: int, *, by: str) -> Pin:
        """Pin a message; UsageError where no such row exists or it was erased."""
        with self._connection.writing() as connection:
            still_there(connection, self._number, self._name)
            found = self._place(connection, position)
            place, is_erased = found or (0, 0)
            refuse_unpinnable(self._name, position, is_there=found is not None, is_erased=bool(is_erased))
            connection.execute(
                "INSERT OR IGNORE INTO pins (conversation, position, by, time) VALUES (?, ?, ?, ?)",
                (self._number, place, printable(by), microseconds()),
            )
            return _pin(*connection.execute(f"{PINS} AND position = ?", (self._number, place)).fetchone())

    def remove(self, position: int) -> bool:
        """Unpin it; False where it was not pinned."""
        with self._connection.writing() as connection:
            place, _ = self._place(connection, position) or (0, 0)
            gone = connection.execute("DELETE FROM pins WHERE conversation = ? AND position = ?", (self._number, place))
            return gone.rowcount > 0

    def _place(self, connection: sqlite3.Connection, position: int) -> tuple[int, int] | None:
        found: tuple[int, int] | None = connection.execute(PLACE, (self._number, max(0, min(position, LAST)))).fetchone()
        return found


def _pin(position: int, by: str, time: int) -> Pin:
    return Pin(position, by, from_microseconds(time))
