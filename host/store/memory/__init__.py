"""A store that lives as long as the process: for replays, tests and trials."""

from host.store.memory.archive import MemoryArchive
from host.store.memory.store import MemoryStore
from host.store.memory.views import MemoryState

__all__ = ["MemoryArchive", "MemoryState", "MemoryStore"]
