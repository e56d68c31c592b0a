"""The store in memory (protocol Store)."""

from __future__ import annotations

from host.store.memory.archive import MemoryArchive
from host.store.memory.leases import MemoryLeases
from host.store.memory.pins import MemoryPins
from host.store.memory.sessions import MemorySessions
from host.store.memory.tables import Tables
from host.store.memory.views import MemoryState, MemoryViews
from host.store.protocols import Search


class MemoryStore:
    """A store that is gone with the process; threads may share it."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.leases = MemoryLeases(self.tables)
        self.sessions = MemorySessions(self.tables)

    @property
    def search(self) -> Search:
        """Finding archived messages."""
        from host.store.memory.searching import search_of

        return search_of(self.tables)

    def archive(self, conversation: str) -> MemoryArchive:
        """The archive of a conversation."""
        return MemoryArchive(self.tables, conversation)

    def views(self, conversation: str) -> MemoryViews:
        """The views of a conversation."""
        return MemoryViews(self.tables, conversation)

    def pins(self, conversation: str) -> MemoryPins:
        """The pins of a conversation."""
        return MemoryPins(self.tables, conversation)

    def state(self, conversation: str, engine: str) -> MemoryState:
        """The engine's document for a conversation."""
        return MemoryState(self.tables.conversation(conversation), engine)

    def close(self) -> None:
        """Nothing to give back."""
