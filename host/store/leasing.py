"""Leases as they are used: in whose name, taken over from the dead, waited for, prolonged (hermes.md 9)."""

from __future__ import annotations

import os
import platform
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic

from host.errors import StoreError
from host.store.protocols import Leases
from host.store.values import Lease

LONGEST_REFRESH = 20.0  # seconds between two prolongations
HOLDER = re.compile(r"pid=(?P<pid>[0-9]{1,9}):at=(?P<at>\w+):")

Pause = Callable[[float], None]
"""Lets a moment pass after so many seconds of waiting; what it raises ends the waiting."""


def holder_of_this_process(nonce: str) -> str:
    """The name under which a lease is held; a forked child has another."""
    return f"pid={os.getpid()}:at={place()}:nonce={nonce}"


def place() -> str:
    """Where the numbers of processes mean the same: this machine, or this container."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    return sha256(f"{platform.node()} {space}".encode()).hexdigest()[:8]


def is_dead(holder: str) -> bool:
    """Whether a holder was a process of this place and is gone; False where nobody can tell."""
    found = HOLDER.match(holder)
    if found is None or found["at"] != place() or not int(found["pid"]) or os.name != "posix":  # elsewhere to ask is to kill
        return False
    try:
        os.kill(int(found["pid"]), 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's
        return False
    return False


def acquired(leases: Leases, name: str, holder: str, seconds: float, *, patience: float, pause: Pause) -> Lease | None:
    """The lease for so many ``seconds``, taken over at once from the dead; None where another still has it after ``patience``."""
    began = monotonic()
    while (lease := _taken(leases, name, holder, seconds)) is None:
        if (waited := monotonic() - began) >= patience:
            return None
        pause(waited)
    return lease


@contextmanager
def refreshed(leases: Leases, lease: Lease, seconds: float) -> Iterator[None]:
    """Prolong a lease until the block is left, then give it back."""
    over = threading.Event()

    def prolong() -> None:
        while not over.wait(min(LONGEST_REFRESH, seconds / 3)):
            try:
                if leases.refresh(lease, seconds) is None:
                    return
            except StoreError:
                continue  # it runs out by itself if this goes on; publishing checks it

    thread = threading.Thread(target=prolong, name="ctxhost-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(StoreError):  # it runs out by itself
            leases.release(lease)


def _taken(leases: Leases, name: str, holder: str, seconds: float) -> Lease | None:
    if (lease := leases.acquire(name, holder, seconds)) is not None:
        return lease
    other = leases.holder(name)
    if other is None or not is_dead(other):
        return None
    if (left := leases.acquire(name, other, seconds)) is not None:  # in its name: who else has taken it keeps it
        leases.release(left)
    return leases.acquire(name, holder, seconds)
