"""The edges of a turn: its beginning, its end, and what it says about both."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from host.engine.services import ModelFacts
from host.errors import UsageError
from host.loop.agent import NOT_TAKEN, Agent
from host.loop.asking import WORDLESS
from host.loop.events import Ended, Ending, Event, Retrying, Returned, Switched
from host.loop.models import AgentModel, Models
from host.loop.toolbox import Toolbox
from host.messages.types import Message
from host.provider.errors import BadRequest, KeyRefused, Service
from host.testing.messages import assistant, user
from tests.agents_for_tests import Bench, Echo, Speaking, calling, plugin

SERVICE = Service("model 0", "")
TOO_LONG = "This model's maximum context length is {} tokens. However, your messages resulted in 9421 tokens."
CAP = "max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192."
SECRET = "sk-proj-0123456789abcdef0123456789abcdef"


def agent_of(bench: Bench, *models: AgentModel, **more: Any) -> Agent:
    more.setdefault("tell", bench.events.append)
    return Agent(bench.conversation, Models(*models), Toolbox(bench.conversation, [plugin(bench.echo)]), **more)


def test_an_interrupt_before_the_message_is_kept_says_so_and_shows_no_older_answer() -> None:
    bench = Bench()
    agent = bench.agent(["First."])
    agent.turn("one")

    def interrupted() -> Any:
        bench.conversation.catch_up = kept  # type: ignore[method-assign]
        raise KeyboardInterrupt

    kept = bench.conversation.catch_up
    bench.conversation.catch_up = interrupted  # type: ignore[method-assign]
    turn = agent.turn("two")
    assert (turn.message, turn.reason, turn.detail) == (None, Ending.INTERRUPTED, NOT_TAKEN)
    assert bench.archived() == [user("one"), assistant("First.")] and bench.events[-1] == Ended(Ending.INTERRUPTED, NOT_TAKEN)


def test_a_stop_at_the_very_end_of_a_turn_is_none_for_the_next() -> None:
    bench = Bench()
    agent = bench.agent(["One.", "Two."])
    forget, late = agent._stop.forget, []

    def forget_and_be_stopped() -> None:
        forget()
        late.append(threading.Thread(target=agent.stop))
        late[-1].start()
        late[-1].join(0.2)

    agent._stop.forget = forget_and_be_stopped  # type: ignore[method-assign]
    assert agent.turn("1").reason == Ending.ANSWERED
    late[-1].join(20)
    assert agent.turn("2").reason == Ending.ANSWERED


def deaf_at_the_end(event: Event) -> None:
    if isinstance(event, Ended):
        raise BrokenPipeError("nobody listens")


def test_a_listener_that_fails_at_the_end_costs_no_answer() -> None:
    bench = Bench()
    turn = bench.agent(["Fine."], tell=deaf_at_the_end).turn("Go")
    assert turn.message == assistant("Fine.") and turn.reason == Ending.ANSWERED and "nobody listens" in turn.detail


def test_a_listener_that_fails_at_the_end_hides_no_error() -> None:
    refusal = KeyRefused(SERVICE, "revoked", status=401)
    with pytest.raises(KeyRefused) as caught:
        Bench().agent([refusal], tell=deaf_at_the_end).turn("Go")
    assert "nobody listens" in caught.value.__notes__[0]


def test_an_error_that_ends_a_turn_tells_the_arithmetic_of_the_conversation() -> None:
    with pytest.raises(BadRequest) as caught:
        Bench().agent([BadRequest(SERVICE, TOO_LONG.format(2_000), status=400)] * 9).turn("word " * 4_000)
    assert "newest" in caught.value.advice and "of 2,000" in caught.value.advice and caught.value.exit_status == 3


def test_the_words_of_the_service_are_not_repeated_as_a_reason() -> None:
    with pytest.raises(KeyRefused) as caught:
        Bench().agent([KeyRefused(SERVICE, "revoked", status=401)]).turn("Go")
    assert str(caught.value).count("revoked") == 1


def test_a_cap_on_every_answer_is_learnt_once() -> None:
    bench = Bench()
    model = Speaking([BadRequest(SERVICE, CAP, status=400), calling("a"), "One.", "Two."])
    agent = agent_of(bench, AgentModel("model 0", model, ModelFacts("model 0", 40_000), max_tokens=8_192))
    bench.conversation.use_model(ModelFacts("model 0", 40_000))
    agent.turn("Go")
    agent.turn("Go on")
    first, second, *others = [asked.max_tokens for asked in model.requests]
    assert first == 8_192 and second is not None and second <= 4_096 and set(others) == {second}


def test_a_wordless_answer_is_asked_for_again_under_the_same_cap() -> None:
    bench = Bench()
    model = Speaking([BadRequest(SERVICE, CAP, status=400), "", "Now then."])
    agent_of(bench, AgentModel("model 0", model, ModelFacts("model 0", 8_000), max_tokens=8_192)).turn("Go")
    assert Retrying(WORDLESS) in bench.events
    assert model.requests[2].max_tokens == model.requests[1].max_tokens != 8_192


def test_a_stop_wins_over_an_answer_that_is_not_streamed_and_keeps_what_it_says() -> None:
    bench = Bench()

    class Slow(Speaking):
        def ask(self, messages: list[Message], **keywords: Any) -> Any:
            agent.stop()
            return super().ask(messages, **keywords)

    model = Slow([calling("a", text="Let me look"), "never asked"])
    agent = agent_of(bench, AgentModel("model 0", model, ModelFacts("model 0", 8_000)), stream=False)
    turn = agent.turn("Go")
    assert turn.reason == Ending.INTERRUPTED and bench.echo.calls == [] and len(model.requests) == 1
    assert bench.archived() == [user("Go"), assistant("Let me look")]


def test_a_window_that_a_fallback_stated_is_remembered_when_it_is_asked_again() -> None:
    bench = Bench()
    down = KeyRefused(SERVICE, "revoked", status=401)
    main = AgentModel("main", Speaking([down, down]), ModelFacts("main", 8_000))
    long = BadRequest(Service("spare", ""), TOO_LONG.format(6_000), status=400)
    spare = AgentModel("spare", Speaking([long, "One.", "Two."]), ModelFacts("spare", 8_000))
    agent = agent_of(bench, main, spare)
    for number in range(30):
        bench.conversation.add(user(f"question {number} " * 60))
        bench.conversation.add(assistant(f"answer {number} " * 60))
    agent.turn("Go")
    agent.turn("Go on")
    assert len(bench.told(Switched)) == 2 and agent.model.facts.window == bench.conversation.services.facts.window == 6_000


def test_another_model_is_not_put_in_its_place_while_a_turn_runs() -> None:
    bench = Bench()
    echo = Echo(behave=lambda arguments: agent.use(agent.model))
    agent = bench.agent([calling("a"), "Done."], tools=[plugin(echo)])
    agent.turn("Go")
    assert "UsageError" in bench.told(Returned)[0].result
    agent.use(agent.model)
    with pytest.raises(UsageError):
        agent._seize()
        agent.use(agent.model)


def test_what_a_tool_raises_is_kept_without_secrets() -> None:
    bench = Bench()

    def behave(arguments: Mapping[str, Any]) -> object:
        raise ValueError(f"401 for {SECRET}")

    bench.echo.behave = behave
    bench.agent([calling("a"), "Oh."]).turn("Go")
    assert SECRET not in str([bench.archived(), bench.events, bench.main.requests]) and "401 for" in bench.told(Returned)[0].result


@pytest.mark.parametrize(
    "message", ["", " \n", None, {"role": "user"}, {"role": "user", "content": []}, {"role": "assistant", "content": "x"}]
)
def test_a_turn_answers_what_a_user_says_and_nothing_else(message: Any) -> None:
    bench = Bench()
    with pytest.raises(UsageError):
        bench.agent(["never"]).turn(message)
    assert bench.archived() == []
