"""An interrupt at any point leaves a conversation that is legal, complete and goes on."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from host.engine.services import ModelFacts
from host.loop.agent import Agent
from host.loop.events import Called, Ending, Event, Said, Switched
from host.loop.interrupting import Stop
from host.loop.models import AgentModel, Models
from host.loop.open_calls import CUT_SHORT, NOT_RUN
from host.loop.toolbox import Toolbox
from host.messages.types import Message
from host.messages.violations import violations
from host.provider.errors import BadRequest, KeyRefused, Service
from host.store.memory import MemoryStore
from host.testing.messages import assistant, chat, result, user
from tests.agents_for_tests import Bench, Echo, Speaking, calling, plugin

SERVICE = Service("model 0", "")
TOO_LONG = BadRequest(
    SERVICE, "This model's maximum context length is 6000 tokens. However, your messages resulted in 9421 tokens.", status=400
)
SCRIPT = (TOO_LONG, calling("a", "b", text="Let me look"), "All is well with it.")
MOST_STEPS = 40


class Tripwire:
    """Raises KeyboardInterrupt at the n-th step that anybody takes, and only there."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.steps = 0

    def step(self, *_: object) -> None:
        self.steps += 1
        if self.steps - 1 == self.at:
            raise KeyboardInterrupt


class Watched(Speaking):
    """A model whose calls are steps."""

    def __init__(self, replies: Any, wire: Tripwire) -> None:
        super().__init__(replies)
        self.wire = wire

    def ask(self, messages: list[Message], **keywords: Any) -> Any:
        self.wire.step()
        reply = super().ask(messages, **keywords)
        self.wire.step()
        return reply


class Wired(Bench):
    """A bench on which model calls, tools, events, compactions and writes are steps."""

    def __init__(self, wire: Tripwire) -> None:
        super().__init__(MemoryStore())
        for message in chat(60, chars=300):
            self.conversation.add(message)
        self.wire = wire
        self.conversation = self.desk.open(watch=wire.step)

    def wired(self, replies: Any) -> Agent:
        def tell(event: Event) -> None:
            self.wire.step()
            self.events.append(event)

        def behave(arguments: Mapping[str, Any]) -> object:
            self.wire.step()
            return arguments["words"]

        self.echo.behave = behave
        self.main = Watched(replies, self.wire)
        models = Models(AgentModel("model 0", self.main, ModelFacts("model 0", 8_000)))
        return Agent(self.conversation, models, Toolbox(self.conversation, [plugin(self.echo)]), tell)


@pytest.mark.parametrize("at", range(MOST_STEPS))
def test_wherever_it_comes_the_conversation_goes_on(at: int) -> None:
    bench = Wired(wire := Tripwire(at))
    before = len(bench.archived())
    agent = bench.wired(SCRIPT)
    try:
        turn = agent.turn("How is it?")
        assert turn.reason == (Ending.INTERRUPTED if wire.steps > at else Ending.ANSWERED)
    except KeyboardInterrupt:  # while the end of the turn was told
        assert bench.archived()[-1]["role"] == "assistant"
    wire.at = -1
    kept = bench.archived()
    assert violations(kept) == []
    assert kept.count(user("How is it?")) == 1 and len(bench.echo.calls) <= 2
    assert bench.wired(["Yes."]).turn("Go on").message == assistant("Yes.")
    sent = list(bench.main.requests[-1].messages)
    assert violations(sent) == [] and sent[-1] == user("Go on")
    assert bench.archived()[: len(kept)] == kept
    texts = [message["content"] for message in bench.archived()[before:] if message["role"] == "assistant"]
    assert len(texts) == len(set(map(str, texts))), "nothing is said twice"


def test_the_steps_above_reach_to_the_end_of_the_turn() -> None:
    bench = Wired(wire := Tripwire(-1))
    assert bench.wired(SCRIPT).turn("How is it?").reason == Ending.ANSWERED
    assert 15 < wire.steps < MOST_STEPS


def test_what_was_said_so_far_is_kept() -> None:
    bench = Bench()

    def tell(event: Event) -> None:
        if isinstance(event, Said) and event.text.startswith("three"):
            raise KeyboardInterrupt

    turn = bench.agent(["one two three four"], tell=tell).turn("Count")
    assert turn.reason == Ending.INTERRUPTED and turn.message == assistant("one two three ")
    assert bench.archived() == [user("Count"), assistant("one two three ")]


def test_a_tool_that_is_interrupted_and_those_behind_it_have_results_that_say_so() -> None:
    bench = Bench()

    def behave(arguments: Mapping[str, Any]) -> object:
        if arguments["words"] == "b":
            raise KeyboardInterrupt
        return "fine"

    bench.echo.behave = behave
    turn = bench.agent([calling("a", "b", "c")]).turn("Go")
    assert turn.reason == Ending.INTERRUPTED
    assert bench.archived()[2:] == [result("c-a", "fine"), result("c-b", CUT_SHORT), result("c-c", NOT_RUN)]


def stopped(agent: Agent, message: str) -> Any:
    """The turn, which another thread stops as soon as it can be seen to run."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(agent.turn(message)))
    thread.start()
    return thread, results


def test_stop_ends_a_tool_that_hangs() -> None:
    bench = Bench()
    begun, release = threading.Event(), threading.Event()

    def behave(arguments: Mapping[str, Any]) -> object:
        begun.set()
        return release.wait(60)

    echo = Echo(behave=behave)
    agent = bench.agent([calling("a")], tools=[plugin(echo, timeout=60)])
    thread, results = stopped(agent, "Go")
    assert begun.wait(20)
    agent.stop()
    thread.join(20)
    release.set()
    assert results[0].reason == Ending.INTERRUPTED
    assert bench.archived()[-1] == result("c-a", CUT_SHORT)


def test_stop_ends_a_wait() -> None:
    stop = Stop()
    threading.Timer(0.05, stop.wish).start()
    with pytest.raises(KeyboardInterrupt):
        stop.wait(60)
    with pytest.raises(KeyboardInterrupt):
        stop.check()
    stop.forget()
    stop.wait(0.0)


def test_stop_ends_an_answer_at_its_next_piece() -> None:
    bench = Bench()

    def tell(event: Event) -> None:
        if isinstance(event, Said) and event.text == "two ":
            agent.stop()

    agent = bench.agent(["one two three"], tell=tell)
    assert agent.turn("Count").message == assistant("one two ")
    assert bench.agent(["Fine."]).turn("Go on").reason == Ending.ANSWERED


def test_a_stop_that_comes_between_turns_is_forgotten() -> None:
    bench = Bench()
    agent = bench.agent(["Hello."])
    agent.stop()
    assert agent.turn("Hi").reason == Ending.ANSWERED


def test_calls_that_were_announced_and_not_begun_are_not_run() -> None:
    bench = Bench()

    def tell(event: Event) -> None:
        if isinstance(event, Called):
            raise KeyboardInterrupt

    bench.agent([calling("a", "b")], tell=tell).turn("Go")
    assert bench.echo.calls == []
    assert bench.archived()[2:] == [result("c-a", NOT_RUN), result("c-b", NOT_RUN)]


def test_half_an_answer_of_a_model_that_failed_is_never_kept() -> None:
    bench = Bench()

    class Breaking(Speaking):
        def ask(self, messages: list[Message], **keywords: Any) -> Any:
            super().ask(messages, **keywords)
            raise KeyRefused(SERVICE, "revoked while it spoke", status=401)

    def tell(event: Event) -> None:
        if isinstance(event, Switched):
            raise KeyboardInterrupt

    models = [AgentModel(name, Breaking(["half of it"]), ModelFacts(name, 8_000)) for name in ("a", "b")]
    agent = Agent(bench.conversation, Models(*models), Toolbox(bench.conversation), tell)
    assert agent.turn("Go").reason == Ending.INTERRUPTED
    assert bench.archived() == [user("Go")]


def test_stop_ends_a_compaction_where_the_engine_says_how_far_it_is() -> None:
    bench = Bench()
    agent = bench.agent(["never"])

    def stop_here(messages: list[Message], **_: Any) -> list[Message]:
        agent.stop()
        bench.conversation.services.progress(1, 2, "half of it")
        return messages

    for message in chat(60, chars=300):
        bench.conversation.add(message)
    bench.conversation.engine.should_compress = lambda prompt_tokens=None: True  # type: ignore[method-assign]
    bench.conversation.engine.compress = stop_here  # type: ignore[assignment, method-assign]
    assert agent.turn("Go").reason == Ending.INTERRUPTED
    assert bench.archived()[-1] == user("Go") and not bench.main.requests
