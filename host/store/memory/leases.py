"""Leases with fences, in memory (hermes.md 9)."""

from __future__ import annotations

from host.store.memory.tables import Tables
from host.store.rights import FREE, Right
from host.store.times import microseconds
from host.store.values import Lease


class MemoryLeases:
    """The leases of a store in memory (protocol Leases)."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take or prolong the right; None where another holds it, or the name is empty."""
        if not name:
            return None
        with self._tables.lock:
            return self._written(name, self._right(name).taken(holder, seconds, microseconds()))

    def refresh(self, lease: Lease, seconds: float) -> Lease | None:
        """Prolong it; None where it ran out or passed to another."""
        with self._tables.lock:
            return self._written(lease.name, self._right(lease.name).prolonged(lease, seconds, microseconds()))

    def release(self, lease: Lease) -> None:
        """Give it back; nothing happens where it is not held any more."""
        with self._tables.lock:
            self._written(lease.name, self._right(lease.name).released(lease))

    def holder(self, name: str) -> str | None:
        """Who holds it now."""
        return self._right(name).held_by(microseconds())

    def _right(self, name: str) -> Right:
        return self._tables.rights.get(name, FREE)

    def _written(self, name: str, right: Right | None) -> Lease | None:
        if right is None:
            return None
        self._tables.rights[name] = right
        return right.lease(name)
