"""What the user reads where a refusal could not be mended, what can never pass, and what is no message."""

from __future__ import annotations

from typing import Any

import pytest

from host.conversation.retrying import GiveUp
from host.errors import UsageError
from host.messages.types import Message
from host.provider.errors import Service, of_status
from host.store.memory import MemoryStore
from host.testing.messages import chat, user
from tests.desk import Desk, fed
from tests.engines_for_tests import compressor

SERVICE = Service("a model", "")
USUAL = "usual causes"


def given_up(status: int, words: str) -> GiveUp:
    talk = fed(Desk(MemoryStore()).open(compressor(64_000)), [user("Hello.")])
    talk.window()
    error = of_status(status)(SERVICE, words, status=status, body={"error": {"message": words}})
    answer = talk.refused(error)
    answer = talk.refused(error) if not isinstance(answer, GiveUp) else answer
    assert isinstance(answer, GiveUp)
    return answer


@pytest.mark.parametrize(
    ("status", "words", "advice"),
    [
        (500, "CUDA out of memory", "larger machine"),
        (400, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum", "smaller picture"),
        (
            400,
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
            "another model",
        ),
        (401, "Incorrect API key provided", "check the key"),
        (400, "x does not support tools", "calls tools"),
        (404, "No endpoints found that support tool use", "calls tools"),
        (400, "prompt is too long", "fresh session"),
    ],
)
def test_the_advice_is_on_what_was_refused(status: int, words: str, advice: str) -> None:
    answer = given_up(status, words)
    assert advice in answer.advice
    assert USUAL not in answer.advice + answer.why


def test_where_nobody_knows_the_error_itself_gives_the_advice() -> None:
    assert given_up(400, "something is not as it should be in this request, says the service").advice == ""


def test_what_no_compaction_makes_short_enough_is_told_before_it_is_sent() -> None:
    talk = fed(Desk(MemoryStore()).open(compressor(16_000)), chat(10, chars=300))
    talk.add(user("Hello."))
    talk.window()
    assert talk.impossible() is None
    talk.add(user("word " * 60_000))
    talk.window()
    why = talk.impossible()
    assert why is not None
    assert "of 16,000 tokens" in why


def test_a_long_history_is_no_reason_not_to_ask() -> None:
    talk = fed(Desk(MemoryStore()).open(compressor(16_000), automatic=False), chat(400, chars=600))
    talk.add(user("And now?"))
    talk.window()
    assert talk.estimate() > 1.5 * 16_000
    assert talk.impossible() is None


NAN, INFINITE = float("nan"), float("inf")
NO_MESSAGES: list[Any] = [
    {"role": "critic", "content": "x"},
    {"role": "", "content": "x"},
    {"role": "user", "content": NAN},
    {"role": "user", "content": [{"type": "text", "text": "x", "score": INFINITE}]},
    {"role": "assistant", "content": "x", "more": {"deep": [[-INFINITE]]}},
]


@pytest.mark.parametrize("odd", NO_MESSAGES)
def test_what_no_service_takes_is_not_taken(odd: Message) -> None:
    talk = Desk(MemoryStore()).open(compressor(16_000))
    talk.add(user("Hello."))
    with pytest.raises(UsageError, match="message 1"):
        talk.add(odd)
    with pytest.raises(UsageError, match="entry 1 of the list"):
        talk.receive([user("Hello."), odd])
    assert len(talk.window()) == 1


@pytest.mark.parametrize("role", ["user", "assistant", "system", "developer", "tool"])
def test_every_role_that_there_is_may_come_in_with_whatever_else(role: Any) -> None:
    talk = Desk(MemoryStore()).open(compressor(16_000))
    assert talk.add({"role": role, "content": None, "score": 1.5, "odd": {"\ud800": [None, True, "\x00"]}}) == 1  # type: ignore[typeddict-unknown-key]
