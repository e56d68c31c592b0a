"""One turn of a conversation at a time, whoever runs it: threads of this process and other processes wait for each other."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex

from host.conversation.shelf import refreshed
from host.store.protocols import Leases

POLL_SECONDS = 0.05
LEASE_SECONDS = 15.0  # refreshed three times as often; so long the next process waits for one that died
PREFIX = "turn:"  # before the name: the right to compact a conversation has its bare id as name


class Busy(Exception):
    """Somebody else's turn did not end in time."""


class Turns:
    """The right to run a turn. ``patience`` is in seconds; a process that died is waited for until its lease runs out."""

    def __init__(self, leases: Leases, *, patience: float = 600.0, lease_seconds: float = LEASE_SECONDS) -> None:
        self._leases = leases
        self._patience = patience
        self._seconds = lease_seconds
        self._locks: dict[str, threading.Lock] = {}
        self._waiting: Counter[str] = Counter()
        self._guard = threading.Lock()

    @contextmanager
    def one(self, name: str) -> Iterator[None]:
        """Alone with the conversation, or with whatever the name stands for, until the block is left; raises Busy."""
        until = time.monotonic() + self._patience
        with self._among_threads(name, until):
            lease = self._leases.acquire(PREFIX + name, holder := _holder(), self._seconds)
            while lease is None:
                if time.monotonic() >= until:
                    raise Busy(name)
                time.sleep(POLL_SECONDS)
                lease = self._leases.acquire(PREFIX + name, holder, self._seconds)
            with refreshed(self._leases, lease, self._seconds):
                yield

    @contextmanager
    def _among_threads(self, name: str, until: float) -> Iterator[None]:
        """A lock that exists as long as somebody wants it."""
        with self._guard:
            lock = self._locks.setdefault(name, threading.Lock())
            self._waiting[name] += 1
        try:
            if not lock.acquire(timeout=max(0.0, until - time.monotonic())):
                raise Busy(name)
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._guard:
                self._waiting[name] -= 1
                if not self._waiting[name]:
                    del self._waiting[name], self._locks[name]


def _holder() -> str:
    return f"pid={os.getpid()}:turn={token_hex(4)}"
