"""The right to compact a conversation: who holds it, and how long another waits for it."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable

from host.store.protocols import Leases
from host.store.values import Lease

POLL_SECONDS = 0.1
TELL_SECONDS = 0.5
HOLDER = re.compile(r"pid=(\d{1,10}):host=([^:]*):")

Waiting = Callable[[float], None]
"""Hears every half second for how many seconds another process has been waited for; what it raises ends the waiting."""


def holder_of_this_process(nonce: str) -> str:
    """The name under which a lease is held; a forked child has another."""
    return f"pid={os.getpid()}:host={platform.node()}:nonce={nonce}"


def is_dead(holder: str) -> bool:
    """Whether a holder was a process of this machine and is gone; False where nobody can tell."""
    named = HOLDER.match(holder)
    if named is None or named[2] != platform.node() or os.name != "posix" or not int(named[1]):
        return False
    try:
        os.kill(int(named[1]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def acquired(leases: Leases, name: str, holder: str, seconds: float, waiting: Waiting | None) -> Lease | None:
    """The right, taken over at once from a process that died; None where another holds it, after ``seconds`` of waiting for it."""
    began = told = time.monotonic()
    while (lease := _taken(leases, name, holder, seconds)) is None:
        now = time.monotonic()
        if waiting is None or now - began > seconds:
            return None
        if told == began or now - told >= TELL_SECONDS:
            waiting(now - began)
            told = now
        time.sleep(POLL_SECONDS)
    return lease


def _taken(leases: Leases, name: str, holder: str, seconds: float) -> Lease | None:
    if (lease := leases.acquire(name, holder, seconds)) is not None:
        return lease
    other = leases.holder(name)
    if other is None or not is_dead(other):
        return None
    if (left := leases.acquire(name, other, seconds)) is not None:  # prolonged in its name, to be given back under its own fence
        leases.release(left)
    return leases.acquire(name, holder, seconds)
