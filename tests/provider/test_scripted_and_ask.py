"""The scripted model, and questions as engines put them."""

from __future__ import annotations

from typing import cast

import pytest

from host.messages.types import Message, Reply, Usage
from host.provider.ask import asking
from host.provider.errors import EmptyReply, OutOfReplies
from host.provider.openai_client import OpenAIProvider
from host.provider.provider import Provider
from host.provider.scripted import Asked, ScriptedProvider
from host.testing import LoopbackServer, completion
from host.testing.messages import assistant, call, user


def test_replies_of_every_kind_come_in_order() -> None:
    ready = Reply({"role": "assistant", "content": "c"}, Usage(9, 1), "length")
    group = assistant(None, [call("c1", "run")])
    model: Provider = ScriptedProvider(["a", assistant("b"), ready, group])
    replies = [model.ask([user("q")]) for _ in range(4)]
    assert [reply.message for reply in replies] == [assistant("a"), assistant("b"), ready.message, group]
    assert [reply.finish_reason for reply in replies] == ["stop", "stop", "length", "tool_calls"]
    assert replies[2] is ready


@pytest.mark.parametrize("error", [TimeoutError("slow"), KeyboardInterrupt()])
def test_an_exception_among_the_replies_is_raised(error: BaseException) -> None:
    model = ScriptedProvider([error, "after"])
    with pytest.raises(type(error)):
        model.ask([user("q")])
    assert model.ask([user("q")]).message == assistant("after")


def test_requests_are_recorded_as_they_came() -> None:
    model = ScriptedProvider(["a"])
    messages = [user("q")]
    model.ask(messages, tools=[{"type": "function"}], max_tokens=5, timeout=2.0)
    messages.append(assistant("a"))
    assert model.requests == [Asked((user("q"),), ({"type": "function"},), 5, 2.0)]


def test_running_out_is_told_with_both_numbers() -> None:
    model = ScriptedProvider(["only"])
    model.ask([user("1")])
    with pytest.raises(OutOfReplies, match="no reply for request 2: 1 were scripted"):
        model.ask([user("2")])
    with pytest.raises(OutOfReplies, match="no reply for request 3: 1 were scripted"):
        model.ask([user("3")])


def test_a_question_is_one_user_message_without_tools() -> None:
    model = ScriptedProvider(["  the answer\n"])
    assert asking(model)("why?", max_tokens=7, timeout=3.0) == "  the answer\n"
    assert model.requests == [Asked((user("why?"),), (), 7, 3.0)]


def test_the_text_parts_of_a_list_answer_are_the_text() -> None:
    parts: Message = {"role": "assistant", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}
    assert asking(ScriptedProvider([parts]))("q") == "one\ntwo"


@pytest.mark.parametrize("content", ["", " \n", None, []])
def test_an_answer_without_text_is_an_error(content: str | None) -> None:
    with pytest.raises(EmptyReply) as caught:
        asking(ScriptedProvider([{"role": "assistant", "content": content}]))("q")
    assert caught.value.what == "the model answered without a word"


def test_an_empty_answer_quotes_the_refusal_or_the_reason() -> None:
    refusal = cast(Message, {"role": "assistant", "content": None, "refusal": "not this"})
    cut = Reply({"role": "assistant", "content": ""}, finish_reason="length")
    ask = asking(ScriptedProvider([refusal, cut]))
    with pytest.raises(EmptyReply, match="it refused: not this"):
        ask("q")
    with pytest.raises(EmptyReply, match="finish_reason length"):
        ask("q")


def test_an_interrupt_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        asking(ScriptedProvider([KeyboardInterrupt()]))("q")


def test_a_real_service_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with LoopbackServer([completion("")]) as server, pytest.raises(EmptyReply, match=r"m at http://127\.0\.0\.1:"):
        asking(OpenAIProvider("m", base_url=server.base_url))("q")
