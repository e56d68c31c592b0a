"""Turns of an agent: answers, calls, refusals, fallbacks, bounds."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from host.errors import ProviderError, UsageError
from host.loop.events import Answered, Called, Compacted, Ended, Ending, Event, Retrying, Returned, Said, Switched, as_json
from host.loop.open_calls import DIED, EXHAUSTED
from host.messages.types import Message, Reply, Usage
from host.messages.violations import violations
from host.provider.errors import BadRequest, EmptyReply, KeyRefused, ServerFailed, Service
from host.testing.messages import assistant, call, chat, result, system, user
from tests.agents_for_tests import Bench, Echo, calling, plugin

SERVICE = Service("model 0", "")
TOO_LONG = BadRequest(
    SERVICE, "This model's maximum context length is 6000 tokens. However, your messages resulted in 9421 tokens.", status=400
)
DOWN = KeyRefused(SERVICE, "this model was retired", status=401)


def test_an_answer_is_streamed_and_kept() -> None:
    bench = Bench()
    turn = bench.agent(["Six degrees, and rain."]).turn("How warm is it?")
    assert (turn.reason, turn.message, turn.calls) == (Ending.ANSWERED, assistant("Six degrees, and rain."), 1)
    assert bench.archived() == [user("How warm is it?"), assistant("Six degrees, and rain.")]
    assert "".join(said.text for said in bench.told(Said)) == "Six degrees, and rain. "
    assert [type(event) for event in bench.events[-2:]] == [Answered, Ended]


def test_calls_are_made_in_order_and_their_results_go_back() -> None:
    bench = Bench()
    turn = bench.agent([calling("a", "b", text="Let me see."), calling("c"), "Done."]).turn("Go")
    assert turn.calls == 3
    assert [arguments["words"] for arguments in bench.echo.calls] == ["a", "b", "c"]
    assert bench.roles() == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
    sent = list(bench.main.requests[2].messages)
    assert sent == bench.archived()[:-1] and violations(sent) == []
    assert [event.result for event in bench.told(Returned)] == ["a", "b", "c"]
    assert [schema["function"]["name"] for schema in bench.main.requests[0].tools] == ["echo"]


def test_who_does_not_listen_is_not_streamed_to() -> None:
    bench = Bench()
    assert bench.agent(["Yes."], tell=None).turn("?").message == assistant("Yes.")
    assert bench.agent(["No."], stream=False).turn("?").message == assistant("No.")
    assert not bench.told(Said) and len(bench.told(Answered)) == 1


def test_a_message_of_any_shape_is_taken_as_it_is() -> None:
    bench = Bench()
    parts = cast(Message, {"role": "user", "content": [{"type": "text", "text": "a\x00b \ud800"}], "name": "eve"})
    bench.agent(["Fine."]).turn(parts)
    assert bench.archived()[0] == parts


def test_a_refused_window_is_compacted_and_sent_again() -> None:
    bench = Bench()
    for message in [system("Be brief."), *chat(60, chars=300)]:
        bench.conversation.add(message)
    turn = bench.agent([TOO_LONG, "Still here."]).turn("And now?")
    first, second = (list(asked.messages) for asked in bench.main.requests)
    assert turn.reason == Ending.ANSWERED and len(second) < len(first)
    assert second[-1] == user("And now?") and violations(second) == []
    assert bench.told(Retrying) and bench.conversation.services.facts.window == 6_000


def test_the_next_model_takes_over_and_the_main_one_is_tried_again_at_the_next_turn() -> None:
    bench = Bench()
    agent = bench.agent([DOWN, "I am back."], ["I stand in."])
    assert agent.turn("Hello?").message == assistant("I stand in.")
    assert [event.model for event in bench.told(Switched)] == ["model 1"]
    assert agent.model.name == "model 1" and bench.conversation.services.facts.window == 7_999
    assert agent.turn("Again").message == assistant("I am back.")
    assert agent.model.name == "model 0" and bench.conversation.services.facts.window == 8_000


def test_what_was_learnt_of_a_window_stays_with_its_model() -> None:
    bench = Bench()
    for message in chat(60, chars=300):
        bench.conversation.add(message)
    agent = bench.agent([TOO_LONG, DOWN, "Back."], ["Stand-in."])
    agent.turn("one")
    assert bench.conversation.services.facts.window == 7_999
    agent.turn("two")
    assert bench.conversation.services.facts.window == 6_000


def test_where_all_fail_the_error_is_raised_and_the_request_stays_for_resume() -> None:
    bench = Bench()
    agent = bench.agent([DOWN, "Now I can."], [DOWN])
    with pytest.raises(KeyRefused, match="retired"):
        agent.turn("Please")
    assert bench.archived() == [user("Please")]
    assert bench.told(Ended)[-1].reason == Ending.FAILED and "retired" in bench.told(Ended)[-1].detail
    turn = agent.resume()
    assert turn is not None and turn.message == assistant("Now I can.")
    assert bench.archived() == [user("Please"), assistant("Now I can.")]
    assert agent.resume() is None


def test_an_empty_answer_is_asked_for_once_more_then_it_is_an_error() -> None:
    bench = Bench()
    assert bench.agent([assistant("  "), "Now then."]).turn("?").message == assistant("Now then.")
    agent = bench.agent([assistant(None), assistant("")])
    with pytest.raises(EmptyReply):
        agent.turn("And?")
    assert bench.roles() == ["user", "assistant", "user"]


def test_a_service_that_is_down_for_good_is_not_asked_for_ever() -> None:
    bench = Bench()
    agent = bench.agent([ServerFailed(SERVICE, "overloaded", status=503, retry_after=0.0)] * 50)
    with pytest.raises(ProviderError):
        agent.turn("?")
    assert len(bench.main.requests) < 20


def test_a_turn_is_bounded_and_its_open_calls_are_answered() -> None:
    bench = Bench()
    turn = bench.agent([calling("a"), calling("b"), "never asked"], max_calls=2).turn("Go")
    assert turn.reason == Ending.EXHAUSTED and turn.calls == 2 and "agent.max_calls" in turn.detail
    assert bench.archived()[-1] == result("c-b", EXHAUSTED.format(2))
    assert len(bench.echo.calls) == 1 and violations(bench.archived()) == []
    resumed = bench.agent(["Enough."]).resume()
    assert resumed is not None and resumed.message == assistant("Enough.")


@pytest.mark.parametrize("ids", [("", ""), ("same", "same"), ("a", "")])
def test_calls_without_an_id_of_their_own_get_one(ids: tuple[str, str]) -> None:
    bench = Bench()
    reply = assistant(None, [call(each, "echo", {"words": str(n)}) for n, each in enumerate(ids)])
    bench.agent([reply, "Done."]).turn("Go")
    assert [arguments["words"] for arguments in bench.echo.calls] == ["0", "1"]
    assert violations(bench.archived()) == []
    assert list(bench.main.requests[1].messages) == bench.archived()[:-1]


def test_a_new_conversation_begins_with_the_system_prompt_and_it_is_never_written_again() -> None:
    bench = Bench()
    made: list[str] = []
    opening = lambda: made.append("") or "Be kind."  # type: ignore[func-returns-value]  # noqa: E731
    agent = bench.agent(["Hi.", "Hi again."], opening=opening)
    agent.turn("Hello")
    agent.turn("Hello again")
    assert bench.archived()[0] == system("Be kind.") and bench.roles().count("system") == len(made) == 1
    first, second = (asked.messages for asked in bench.main.requests)
    assert json.dumps(second).startswith(json.dumps(first)[:-1])


def test_calls_that_a_dead_process_left_open_are_never_made_again() -> None:
    bench = Bench()
    for message in [user("Go"), calling("a", "b"), result("c-a", "a")]:
        bench.conversation.add(message)
    turn = bench.agent(["I see."]).resume()
    assert turn is not None and turn.reason == Ending.ANSWERED
    assert bench.echo.calls == [] and bench.archived()[3] == result("c-b", DIED)
    assert bench.archived()[-1] == assistant("I see.")


def test_a_message_that_comes_after_a_death_closes_the_calls_first() -> None:
    bench = Bench()
    for message in [user("Go"), calling("a")]:
        bench.conversation.add(message)
    bench.agent(["Yes."]).turn("Are you there?")
    assert bench.archived()[2:] == [result("c-a", DIED), user("Are you there?"), assistant("Yes.")]


def test_a_turn_within_a_turn_is_refused() -> None:
    bench = Bench()
    echo = Echo(behave=lambda arguments: agent.turn("inside"))
    agent = bench.agent([calling("a"), "Done."], tools=[plugin(echo)])
    agent.turn("Go")
    assert "UsageError" in bench.told(Returned)[0].result
    assert bench.archived()[-1] == assistant("Done.")


def test_a_listener_that_fails_ends_the_turn_and_leaves_it_legal() -> None:
    bench = Bench()

    def tell(event: Event) -> None:
        if isinstance(event, Called):
            raise UsageError("no", "never")

    with pytest.raises(UsageError):
        bench.agent([calling("a")], tell=tell).turn("Go")
    assert violations(bench.archived()) == []
    assert bench.agent(["Fine."]).turn("Next").reason == Ending.ANSWERED


def test_the_cache_is_counted_over_the_calls() -> None:
    bench = Bench()
    first = Reply(calling("a"), Usage(1_000), "tool_calls")
    second = Reply(
        assistant("Done."), Usage.from_provider({"prompt_tokens": 1_100, "prompt_tokens_details": {"cached_tokens": 1_000}}), "stop"
    )
    agent = bench.agent([first, second])
    agent.turn("Go")
    assert (agent.cache.hits, agent.cache.misses, agent.cache.read) == (1, 1, 1_000)


def test_every_event_is_json() -> None:
    bench = Bench()
    for message in chat(60, chars=300):
        bench.conversation.add(message)
    bench.conversation = bench.desk.open(watch=lambda outcome: bench.events.append(Compacted(outcome)))
    bench.agent([TOO_LONG, calling("a"), DOWN], ["Good\ud800."]).turn("Go")
    lines: list[Any] = [json.loads(json.dumps(as_json(event))) for event in bench.events]
    kinds = {line["type"] for line in lines}
    assert kinds >= {"said", "called", "returned", "compacted", "retrying", "switched", "answered", "ended"}
