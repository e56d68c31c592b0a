"""Search in memory: a plain scan of the rows, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge

from host.store.memory.tables import Tables
from host.store.protocols import Search
from host.store.values import Row


def search_of(tables: Tables) -> Search:
    """The search over everything that a store holds."""
    from host.store.memory_search import MemorySearch

    return MemorySearch(lambda: newest_first(tables), tables.sessions.get)


def newest_first(tables: Tables) -> Iterator[Row]:
    """All rows of all conversations, in descending order of their ids."""
    with tables.lock:
        runs = [[(kept, of) for kept in reversed(of.rows)] for of in tables.conversations.values()]
    return (of.row(kept) for kept, of in merge(*runs, key=lambda pair: -pair[0].id))
