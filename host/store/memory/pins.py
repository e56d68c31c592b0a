"""The pinned messages of one conversation, in memory."""

from __future__ import annotations

from host.store.kept import printable
from host.store.memory.tables import Tables
from host.store.pinnable import refuse_unpinnable
from host.store.times import from_microseconds, microseconds
from host.store.values import Pin


class MemoryPins:
    """The pins of one conversation in memory (protocol Pins)."""

    def __init__(self, tables: Tables, conversation: str) -> None:
        self._tables = tables
        self._of = tables.conversation(conversation)

    def all(self) -> list[Pin]:
        """All pins, oldest first."""
        with self._tables.lock:
            return [*self._of.pins.values()]

    def add(self, position: int, *, by: str) -> Pin:
        """Pin a message; UsageError where no such row exists or it was erased."""
        with self._tables.lock:
            self._of.require()
            place = self._place(position)
            is_erased = place is not None and self._of.rows[self._of.newest[place] - 1].body is None
            refuse_unpinnable(self._of.name, position, is_there=place is not None, is_erased=is_erased)
            return self._of.pins.setdefault(place or 0, Pin(place or 0, printable(by), from_microseconds(microseconds())))

    def remove(self, position: int) -> bool:
        """Unpin it; False where it was not pinned."""
        with self._tables.lock:
            return self._of.pins.pop(self._place(position) or 0, None) is not None

    def _place(self, position: int) -> int | None:
        """Where the first version of a message stands; None where there is no message."""
        return self._of.rows[position - 1].place if 1 <= position <= self._of.last else None
