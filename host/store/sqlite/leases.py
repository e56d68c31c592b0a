"""Leases with fences: who may compact now (hermes.md 9)."""

from __future__ import annotations

import sqlite3

from host.store.rights import FREE, Right
from host.store.sqlite.connection import Connection
from host.store.times import microseconds
from host.store.values import Lease


class SqliteLeases:
    """The leases of a store (protocol Leases)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take or prolong the right; None where another holds it, or the name is empty."""
        if not name:
            return None
        with self._connection.writing() as connection:
            return written(connection, name, right_of(connection, name).taken(holder, seconds, microseconds()))

    def refresh(self, lease: Lease, seconds: float) -> Lease | None:
        """Prolong it; None where it ran out or passed to another."""
        with self._connection.writing() as connection:
            return written(connection, lease.name, right_of(connection, lease.name).prolonged(lease, seconds, microseconds()))

    def release(self, lease: Lease) -> None:
        """Give it back; nothing happens where it is not held any more."""
        with self._connection.writing() as connection:
            written(connection, lease.name, right_of(connection, lease.name).released(lease))

    def holder(self, name: str) -> str | None:
        """Who holds it now."""
        with self._connection.reading() as connection:
            return right_of(connection, name).held_by(microseconds())


def still_held(connection: sqlite3.Connection, lease: Lease) -> bool:
    """Whether it has neither run out nor passed to another."""
    return right_of(connection, lease.name).is_of(lease, microseconds())


def right_of(connection: sqlite3.Connection, name: str) -> Right:
    """A right as the table holds it."""
    found = connection.execute("SELECT holder, fence, expires FROM leases WHERE name = ?", (name,)).fetchone()
    return Right(*found) if found else FREE


def written(connection: sqlite3.Connection, name: str, right: Right | None) -> Lease | None:
    """The lease of a right that is written; None for none."""
    if right is None:
        return None
    connection.execute("INSERT OR REPLACE INTO leases (name, holder, fence, expires) VALUES (?, ?, ?, ?)", (name, *right))
    return right.lease(name)
