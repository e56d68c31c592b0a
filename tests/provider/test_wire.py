"""What leaves the house."""

from __future__ import annotations

import copy
import json
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings

from host.messages.types import Message, ToolCall
from host.provider.wire import sendable, wire
from host.testing.histories import histories
from host.testing.messages import user


def test_private_keys_stay_here() -> None:
    message = cast(Message, {"role": "user", "content": "q", "_db_id": 7, "x_vendor": {"_inner": 1}})
    assert wire([message]) == [{"role": "user", "content": "q", "x_vendor": {"_inner": 1}}]


def test_calls_that_say_nothing_stay_here() -> None:
    messages: list[Message] = [
        {"role": "assistant", "content": "a", "tool_calls": None},
        {"role": "assistant", "content": "b", "tool_calls": []},
    ]
    assert wire(messages) == [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]


CALLS: list[ToolCall] = [{"id": "call_abc", "type": "function", "function": {"name": "run", "arguments": "{}"}}]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.mark.parametrize("content", [None, "", " ", "text", [{"type": "text", "text": "t"}]])
def test_calls_are_sent_with_the_content_that_they_came_with(content: Any) -> None:
    message: Message = {"role": "assistant", "content": content, "tool_calls": CALLS}
    assert wire([message])[0] is message


def test_calls_without_content_are_sent_with_null() -> None:
    bare: list[Message] = [
        {"role": "assistant", "tool_calls": CALLS},
        {"role": "assistant", "content": [{"type": "text", "text": ""}], "tool_calls": CALLS},
    ]
    assert wire(bare) == [{"role": "assistant", "content": None, "tool_calls": CALLS}] * 2


@pytest.mark.parametrize("content", [None, "", " \n", [], [{"type": "text", "text": ""}], [{"type": "text", "text": None}]])
@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_a_message_that_says_nothing_says_so(role: str, content: Any) -> None:
    assert wire([{"role": role, "content": content}])[0] == {"role": role, "content": "(no output)" if role == "tool" else "(no text)"}


def test_empty_texts_beside_a_picture_are_left_out() -> None:
    assert wire([{"role": "user", "content": [{"type": "text", "text": ""}, PICTURE]}]) == [{"role": "user", "content": [PICTURE]}]


def test_a_refusal_is_what_the_assistant_said() -> None:
    message = cast(Message, {"role": "assistant", "content": None, "refusal": "I cannot"})
    assert wire([message]) == [{"role": "assistant", "content": "I cannot"}]


@pytest.mark.parametrize(
    ("name", "sent"), [("anna", "anna"), ("Anna B.", "Anna_B"), ("安娜", None), ("", None), (7, None), ("x" * 70, "x" * 64)]
)
def test_names_are_worded_as_services_take_them(name: Any, sent: str | None) -> None:
    assert wire([{"role": "user", "content": "q", "name": name}])[0].get("name") == sent


def test_messages_that_may_go_as_they_are_are_the_same_objects() -> None:
    messages: list[Message] = [
        user("q"),
        {"role": "assistant", "content": "网关", "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "call_abc", "content": "r"},
    ]
    assert all(sent is message for sent, message in zip(wire(messages), messages, strict=True))


def test_lone_surrogates_are_replaced_and_split_pairs_joined() -> None:
    assert sendable("cut \ud83d") == "cut \ufffd"
    assert sendable("\udc81x\udc82") == "\ufffdx\ufffd"
    assert sendable("\ud83d\ude00") == "😀"
    assert sendable({"\ud800": ["网", ("\udfff", 1, None, True)]}) == {"\ufffd": ["网", ["\ufffd", 1, None, True]]}


def test_other_text_is_the_same_object() -> None:
    text = "网关 \x00 👩‍💻"
    assert sendable(text) is text


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(histories())
def test_any_history_becomes_utf8_and_stays_untouched(history: list[Message]) -> None:
    before = copy.deepcopy(history)
    sent = wire(history)
    json.dumps(sent, ensure_ascii=False, allow_nan=False).encode()
    assert history == before
    assert [message["role"] for message in sent] == [message["role"].replace("developer", "system") for message in history]
    assert all(message.get("content") or message.get("tool_calls") for message in sent)
    assert not any(key.startswith("_") for message in sent for key in message)


@pytest.mark.parametrize(
    ("name", "arguments", "sent"),
    [
        ("run", '{"a": 1}', ("run", '{"a": 1}')),
        ("", "{}", ("unnamed", "{}")),
        ("a b/..", "{}", ("a_b_", "{}")),
        ("x" * 70, "{}", ("x" * 64, "{}")),
        ("run", "[]", ("run", '{"_raw": "[]"}')),
        ("run", "null", ("run", '{"_raw": "null"}')),
        ("run", '"s"', ("run", '{"_raw": "\\"s\\""}')),
        ("run", '{"q": 1e999}', ("run", '{"_raw": "{\\"q\\": 1e999}"}')),
        ("run", '{"q": NaN}', ("run", '{"_raw": "{\\"q\\": NaN}"}')),
        ("run", "", ("run", "{}")),
    ],
)
def test_calls_that_a_model_got_wrong_go_back_as_services_take_them(name: str, arguments: str, sent: tuple[str, str]) -> None:
    asked: Message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}],
    }
    (message,) = wire([asked])
    function = message["tool_calls"][0]["function"]
    assert (function["name"], function["arguments"]) == sent
    assert (function is asked["tool_calls"][0]["function"]) == (sent == (name, arguments))  # type: ignore[index]
