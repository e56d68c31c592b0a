"""One turn of a conversation at a time, whoever runs it: agents of this process and of others wait for each other."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from time import monotonic

from host.conversation.shelf import refreshed
from host.errors import StoreUnavailable, UsageError
from host.loop.interrupting import Stop
from host.store.protocols import Leases
from host.store.values import Lease

POLL_SECONDS = 0.05
LEASE_SECONDS = 15.0  # refreshed three times as often; so long the next agent waits for one that died on another machine
PATIENCE = 600.0  # seconds
HOLDER = re.compile(r"pid=(?P<pid>[0-9]{1,9}):at=(?P<at>\w+):")
PREFIX = "turn:"  # before the name: the right to compact a conversation has its bare id as name
WAITING = "another agent answers in this conversation just now; its turn is waited for"


class Busy(UsageError):
    """Another agent's turn in this conversation did not end in time; the message was not taken."""

    def __init__(self, patience: float) -> None:
        super().__init__(
            f"another agent has been answering in this conversation for {patience:,.0f} seconds",
            "the message was not taken: send it again when that turn is over, or end it",
        )


@contextmanager
def turn_of(leases: Leases, conversation: str, stop: Stop, told: Callable[[], None], *, patience: float = PATIENCE) -> Iterator[None]:
    """The right to run a turn of a conversation, held until the block is left.

    ``told`` hears that another agent has it and is waited for. Raises Busy after ``patience`` seconds; an interrupt ends the waiting.
    """
    try:
        lease = _acquired(leases, PREFIX + conversation, stop, told, patience)
    except StoreUnavailable:  # the conversation goes on while its archive is out of reach, and so does its turn
        yield
        return
    with refreshed(leases, lease, LEASE_SECONDS):
        yield


def _acquired(leases: Leases, name: str, stop: Stop, told: Callable[[], None], patience: float) -> Lease:
    holder, until, is_told = _holder(), monotonic() + patience, False
    while (lease := leases.acquire(name, holder, LEASE_SECONDS)) is None:
        if _bury(leases, name):
            continue
        if not is_told:
            told()
            is_told = True
        if monotonic() >= until:
            raise Busy(patience)
        stop.wait(POLL_SECONDS)
    return lease


def _holder() -> str:
    return f"pid={os.getpid()}:at={_place()}:agent={token_hex(4)}"


def _place() -> str:
    """Where the numbers of processes mean the same: this machine, or this container."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    return sha256(f"{platform.node()} {space}".encode()).hexdigest()[:8]


def _bury(leases: Leases, name: str) -> bool:
    """Give back the lease of a process of this place that is dead; false where nobody knows that it is."""
    holder = leases.holder(name) or ""
    found = HOLDER.match(holder)
    if found is None or found["at"] != _place() or _lives(int(found["pid"])):
        return False
    if (lease := leases.acquire(name, holder, LEASE_SECONDS)) is not None:  # in its name: who else has taken it keeps it
        leases.release(lease)
    return True


def _lives(pid: int) -> bool:
    if os.name != "posix":  # to ask there is to kill
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True
