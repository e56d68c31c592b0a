"""Agents of one conversation wait for each other's turns."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from host.errors import UsageError
from host.loop.agent import NOT_TAKEN, Agent
from host.loop.events import Ending, Event, Warned
from host.loop.leases import LEASE_SECONDS, PREFIX, WAITING, Busy
from host.loop.open_calls import DIED
from host.messages.violations import violations
from host.store.leasing import place
from host.store.memory import MemoryStore
from host.store.protocols import Leases
from host.testing.messages import assistant, result, system, user
from tests.agents_for_tests import Bench, calling


def beside(bench: Bench) -> Bench:
    """Another agent's bench, at the same conversation."""
    other = Bench()
    other.desk = bench.desk
    other.conversation = bench.desk.open()
    return other


def leases(bench: Bench) -> Leases:
    return bench.desk.store.leases


def name(bench: Bench) -> str:
    return PREFIX + bench.desk.kept.conversation


def held_by(bench: Bench, holder: str) -> None:
    assert leases(bench).acquire(name(bench), holder, LEASE_SECONDS) is not None


def in_thread(agent: Agent, message: str) -> tuple[threading.Thread, list[Any]]:
    turns: list[Any] = []
    thread = threading.Thread(target=lambda: turns.append(agent.turn(message)))
    thread.start()
    return thread, turns


def test_a_turn_begins_when_another_agents_is_over_and_finds_all_of_it() -> None:
    bench = Bench(MemoryStore())
    other = beside(bench)
    waits = threading.Event()

    def tell(event: Event) -> None:
        if event == Warned(WAITING):
            waits.set()

    second = other.agent(["I am second."], tell=tell)
    waiting: list[threading.Thread] = []

    def behave(arguments: Mapping[str, Any]) -> object:
        waiting.append(in_thread(second, "hello")[0])
        assert waits.wait(20), "it waits"
        return "REAL"

    bench.echo.behave = behave
    assert bench.agent([calling("a"), "I am first."]).turn("Go").message == assistant("I am first.")
    waiting[0].join(20)
    expected = [user("Go"), calling("a"), result("c-a", "REAL"), assistant("I am first."), user("hello"), assistant("I am second.")]
    assert bench.archived() == expected
    assert list(other.main.requests[0].messages) == expected[:-1] and violations(expected) == []


def test_two_agents_that_begin_a_conversation_write_one_system_prompt() -> None:
    bench = Bench(MemoryStore())
    other = beside(bench)
    first, second = (each.agent(["Hi."], opening=lambda: "Be kind.") for each in (bench, other))
    threads = [in_thread(first, "one")[0], in_thread(second, "two")[0]]
    for thread in threads:
        thread.join(20)
    assert bench.archived()[0] == system("Be kind.") and bench.roles().count("system") == 1
    assert sorted(bench.roles()) == ["assistant", "assistant", "system", "user", "user"]


def test_a_turn_that_is_not_over_in_time_leaves_the_message_with_its_user() -> None:
    bench = Bench(MemoryStore())
    for message in [user("Go"), calling("a")]:
        bench.conversation.add(message)
    held_by(bench, "somebody")
    agent = bench.agent(["never"], patience=0.0)
    with pytest.raises(Busy, match="was not taken") as busy:
        agent.turn("hello")
    assert isinstance(busy.value, UsageError) and bench.archived() == [user("Go"), calling("a")]
    with pytest.raises(Busy):
        agent.resume()
    assert bench.archived() == [user("Go"), calling("a")], "calls that another agent makes are not closed"


def test_who_waits_can_be_stopped() -> None:
    bench = Bench(MemoryStore())
    held_by(bench, "somebody")
    agent: Agent = bench.agent(["never"], tell=lambda event: agent.stop() if event == Warned(WAITING) else None)
    turn = agent.turn("hello")
    assert (turn.reason, turn.message, turn.detail) == (Ending.INTERRUPTED, None, NOT_TAKEN)
    assert bench.archived() == []


def test_the_right_is_given_back_however_a_turn_ends() -> None:
    bench = Bench(MemoryStore())
    with pytest.raises(UsageError):
        bench.agent([UsageError("no", "never")]).turn("Go")
    assert leases(bench).holder(name(bench)) is None
    bench.agent(["Fine."]).turn("Go on")
    assert leases(bench).holder(name(bench)) is None


def test_a_process_of_this_machine_that_died_is_not_waited_for() -> None:
    bench = Bench(MemoryStore())
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    held_by(bench, f"pid={dead.pid}:at={place()}:agent=00000000")
    for message in [user("Go"), calling("a")]:
        bench.conversation.add(message)
    turn = bench.agent(["I see."], patience=0.0).resume()
    assert turn is not None and turn.message == assistant("I see.") and bench.archived()[2] == result("c-a", DIED)


def test_a_process_elsewhere_is_waited_for_whatever_its_number() -> None:
    bench = Bench(MemoryStore())
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    held_by(bench, f"pid={dead.pid}:at=elsewhere:agent=00000000")
    with pytest.raises(Busy):
        bench.agent(["never"], patience=0.0).turn("hello")
