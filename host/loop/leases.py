"""One turn of a conversation at a time, whoever runs it: agents of this process and of others wait for each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from secrets import token_hex

from host.errors import StoreUnavailable, UsageError
from host.loop.interrupting import Stop
from host.store.leasing import acquired, holder_of_this_process, refreshed
from host.store.protocols import Leases

POLL_SECONDS = 0.05
LEASE_SECONDS = 15.0  # refreshed three times as often; so long the next agent waits for one that died on another machine
PATIENCE = 600.0  # seconds
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
    is_told = False

    def pause(waited: float) -> None:
        nonlocal is_told
        if not is_told:
            told()
            is_told = True
        stop.wait(POLL_SECONDS)

    holder = holder_of_this_process(token_hex(4))
    try:
        lease = acquired(leases, PREFIX + conversation, holder, LEASE_SECONDS, patience=patience, pause=pause)
    except StoreUnavailable:  # the conversation goes on while its archive is out of reach, and so does its turn
        yield
        return
    if lease is None:
        raise Busy(patience)
    with refreshed(leases, lease, LEASE_SECONDS):
        yield
