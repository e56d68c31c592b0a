"""A compaction that is needed finds that another process compacts the conversation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from host.conversation.conversation import Conversation
from host.conversation.retrying import GiveUp, Retry
from host.conversation.shelf import Shelf
from host.store.leasing import holder_of_this_process, is_dead, place
from host.store.memory import MemoryStore
from host.store.values import Lease
from host.testing.messages import user
from tests.desk import Desk, fed, long_session
from tests.engines_for_tests import compressor

TOO_LONG = "prompt is too long"
WINDOW = 16_000


class Said(Exception):
    """A refusal as a client raises it."""

    status_code, body = 400, TOO_LONG


class Held:
    """A conversation that another process holds the lease of, and what is told while it is waited for."""

    def __init__(self, holder: str) -> None:
        self.desk = Desk(MemoryStore())
        self.shelf: Shelf = self.desk.shelf()
        self.progress: list[str] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self.talk = fed(self.open(self.shelf), long_session(40))
        self.talk.window()
        assert self.shelf.leases is not None
        lease = self.shelf.leases.acquire(self.shelf.conversation, holder, 600)
        assert lease is not None
        self.lease: Lease = lease

    def open(self, shelf: Shelf) -> Conversation:
        engine = compressor(WINDOW)
        engine.services.progress = self.hear
        return self.desk.open(engine, shelf)

    def hear(self, done: int, total: int, text: str) -> None:
        self.progress.append(text)
        if "another process" in text:
            self.meanwhile()

    def let_go(self) -> None:
        assert self.shelf.leases is not None
        self.shelf.leases.release(self.lease)

    def compact_elsewhere(self) -> None:
        """The other process is done: its window is the newer one."""
        self.let_go()
        self.meanwhile = lambda: None
        self.open(self.desk.shelf()).compact()

    @property
    def waited(self) -> int:
        return sum("another process" in text for text in self.progress)


def dead_holder() -> str:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return f"pid={process.pid}:at={place()}:nonce=0"


def test_the_lease_of_a_process_that_died_here_is_taken_over_at_once() -> None:
    held = Held(dead_holder())
    assert isinstance(held.talk.refused(Said()), Retry)
    assert held.waited == 0


def test_a_living_process_is_waited_for_and_that_is_told() -> None:
    held = Held(holder_of_this_process("another"))
    held.meanwhile = held.let_go
    assert isinstance(held.talk.refused(Said()), Retry)
    assert held.waited == 1


def test_a_window_that_the_other_process_made_shorter_is_sent() -> None:
    held = Held(holder_of_this_process("another"))
    before = held.talk.estimate()
    held.meanwhile = held.compact_elsewhere
    assert isinstance(held.talk.refused(Said()), Retry)
    assert held.talk.estimate() < before
    assert held.talk.view.version == 1


def test_a_window_that_is_too_large_to_be_sent_waits_as_well() -> None:
    held = Held(holder_of_this_process("another"))
    held.talk.add(user("word " * WINDOW))
    held.meanwhile = held.let_go
    held.talk.window()
    assert held.waited == 1
    assert held.talk.view.version == 1


def test_after_as_long_as_a_lease_lasts_the_caller_hears_why() -> None:
    held = Held(holder_of_this_process("another"))
    held.shelf.lease_seconds = 0.3
    answer = held.talk.refused(Said())
    assert isinstance(answer, GiveUp)
    assert "compacted by another process" in answer.why


def test_an_interrupt_ends_the_waiting_and_the_window_stays() -> None:
    held = Held(holder_of_this_process("another"))
    before = held.talk.view

    def interrupt() -> None:
        raise KeyboardInterrupt

    held.meanwhile = interrupt
    with pytest.raises(KeyboardInterrupt):
        held.talk.refused(Said())
    assert held.talk.view == before


def test_what_the_threshold_alone_asks_for_does_not_wait() -> None:
    held = Held(holder_of_this_process("another"))
    shown: list[Any] = held.talk.window()
    while held.talk.estimate() < held.talk.threshold:
        held.talk.add(user("word " * 200))
    assert len(held.talk.window()) >= len(shown)
    assert held.waited == 0


@pytest.mark.parametrize(
    ("holder", "dead"),
    [
        (holder_of_this_process("x"), False),
        (f"pid={os.getppid()}:at={place()}:nonce=x", False),
        ("pid=999999999:at=elsewhere:nonce=x", False),
        (f"pid=0:at={place()}:nonce=x", False),
        ("pid=12:nonce=x", False),
        ("somebody", False),
    ],
    ids=["this process", "its parent", "on another machine", "no process at all", "nobody knows where", "no pid"],
)
def test_who_may_be_alive_is_not_taken_for_dead(holder: str, dead: bool) -> None:
    assert is_dead(holder) is dead
