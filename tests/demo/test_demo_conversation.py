"""The conversation that comes along: legal, long enough, and with everything in it that a newcomer is promised."""

from __future__ import annotations

import base64
import re
from collections import Counter as Tally
from itertools import groupby

import pytest

from host.cli.demo import PROBES, recording
from host.messages.reading import call_arguments, call_name, calls_of, has_image, parts_of, text_of
from host.messages.types import Message
from host.messages.violations import is_json, violations
from host.tokens import Counter

CJK = re.compile(r"[\u4e00-\u9fff]{4,}")


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return recording()


def said_by(messages: list[Message], role: str) -> list[str]:
    return [text_of(message) for message in messages if message["role"] == role]


def test_the_strictest_provider_would_accept_it(messages: list[Message]) -> None:
    assert violations(messages, strict=True) == []


def test_it_is_as_long_as_an_afternoon(messages: list[Message]) -> None:
    assert 320 <= len(messages) <= 400
    assert 60_000 <= Counter(sampled=False).messages(messages) <= 120_000
    assert len(said_by(messages, "user")) >= 25


def test_it_begins_with_the_user_and_ends_on_a_request(messages: list[Message]) -> None:
    assert [message["role"] for message in messages[:2]] == ["system", "user"]
    assert messages[-1]["role"] == "user"


def test_every_tool_is_used_and_some_calls_are_parallel(messages: list[Message]) -> None:
    used = Tally(call_name(call) for message in messages for call in calls_of(message))
    assert set(used) == {"terminal", "read_file", "write_file", "patch", "search_files"}
    assert min(used.values()) >= 10
    assert sum(len(calls_of(message)) > 1 for message in messages) >= 20


def test_calls_have_ids_of_their_own_and_arguments_in_json(messages: list[Message]) -> None:
    calls = [call for message in messages for call in calls_of(message)]
    assert len({call["id"] for call in calls}) == len(calls)
    assert all(is_json(call_arguments(call)) for call in calls)


def test_chinese_is_spoken_in_two_stretches(messages: list[Message]) -> None:
    spoken = [bool(CJK.search(text)) for text in said_by(messages, "user")]
    stretches = [len(list(run)) for chinese, run in groupby(spoken) if chinese]
    assert len(stretches) == 2 and min(stretches) >= 2
    assert any(CJK.search(text) for text in said_by(messages, "assistant"))


def test_there_is_one_small_picture(messages: list[Message]) -> None:
    (holder,) = filter(has_image, messages)
    (url,) = (part["image_url"]["url"] for part in parts_of(holder) if part["type"] == "image_url")
    head, _, data = url.partition(",")
    picture = base64.b64decode(data, validate=True)
    assert head == "data:image/png;base64" and picture.startswith(b"\x89PNG") and len(picture) < 1_000


def test_tests_fail_and_pass_and_one_turn_is_taken_back(messages: list[Message]) -> None:
    runs = [text for text in said_by(messages, "tool") if "test session starts" in text]
    assert sum('"exit_code": 1' in text and " failed, " in text for text in runs) >= 4
    assert sum('"exit_code": 0' in text and " passed in " in text for text in runs) >= 8
    assert any(text.startswith("Stop, undo that.") for text in said_by(messages, "user"))


def test_outputs_are_no_filler(messages: list[Message]) -> None:
    long = [text for text in said_by(messages, "tool") if len(text) > 400]
    assert len(set(long)) > 0.95 * len(long)  # a file is read again now and then
    for text in long:
        lines = [line for line in text.splitlines() if len(line.strip()) > 20]
        assert len(set(lines)) > 0.5 * len(lines), text[:200]  # tracebacks of one fault are alike


def test_what_is_looked_for_was_said_by_a_user_in_the_first_third(messages: list[Message]) -> None:
    early = said_by(messages[: len(messages) // 3], "user")
    assert 6 <= len(PROBES) <= 8
    assert all(any(text in said for said in early) for _, text in PROBES)
