"""One message of an origin at a time: of two first ones, which may come in together, only one begins a conversation."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from host.loop.interrupting import Stop
from host.loop.leases import PATIENCE, Busy, turn_of
from host.store.protocols import Leases


class Turns:
    """The right to look for the conversation of an origin, and to answer there. ``patience`` is in seconds.

    Threads of this process wait for a lock, in which the first that came is served first; other processes for the lease of the one
    that has it. The turn itself needs the right that every agent of a conversation needs, which is taken after this one.
    """

    def __init__(self, leases: Leases, *, patience: float = PATIENCE) -> None:
        self._leases = leases
        self._patience = patience
        self._locks: dict[str, threading.Lock] = {}
        self._waiting: Counter[str] = Counter()
        self._guard = threading.Lock()

    @contextmanager
    def one(self, name: str) -> Iterator[None]:
        """Alone with whatever the name stands for until the block is left; raises Busy."""
        until = time.monotonic() + self._patience
        with self._among_threads(name, until), turn_of(self._leases, name, Stop(), lambda: None, patience=until - time.monotonic()):
            yield

    @contextmanager
    def _among_threads(self, name: str, until: float) -> Iterator[None]:
        """A lock that exists as long as somebody wants it."""
        with self._guard:
            lock = self._locks.setdefault(name, threading.Lock())
            self._waiting[name] += 1
        try:
            if not lock.acquire(timeout=max(0.0, until - time.monotonic())):
                raise Busy(self._patience)
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._guard:
                self._waiting[name] -= 1
                if not self._waiting[name]:
                    del self._waiting[name], self._locks[name]
