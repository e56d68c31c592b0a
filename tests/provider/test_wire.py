"""What leaves the house."""

from __future__ import annotations

import copy
import json
from typing import cast

from hypothesis import HealthCheck, given, settings

from host.messages.types import Message
from host.provider.wire import sendable, wire
from host.testing.histories import histories


def test_private_keys_stay_here() -> None:
    message = cast(Message, {"role": "user", "content": "q", "_db_id": 7, "x_vendor": {"_inner": 1}})
    assert wire([message]) == [{"role": "user", "content": "q", "x_vendor": {"_inner": 1}}]


def test_calls_that_say_nothing_stay_here() -> None:
    messages: list[Message] = [
        {"role": "assistant", "content": "a", "tool_calls": None},
        {"role": "assistant", "content": "b", "tool_calls": []},
    ]
    assert wire(messages) == [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]


def test_null_content_is_sent_as_null() -> None:
    assert wire([{"role": "assistant", "content": None}]) == [{"role": "assistant", "content": None}]


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
    assert [message.get("role") for message in sent] == [message["role"] for message in history]
    assert not any(key.startswith("_") for message in sent for key in message)
