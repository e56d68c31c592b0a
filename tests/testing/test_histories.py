"""Random histories are legal, varied, and stop where a model is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from host.messages.reading import call_id, calls_of, has_image, is_system, text_of
from host.messages.types import Message
from host.messages.violations import violations
from host.testing.histories import LONGEST_TEXT, histories, texts

lenient = settings(suppress_health_check=[HealthCheck.too_slow])


@lenient
@given(histories(max_turns=8))
def test_a_history_is_legal(history: list[Message]) -> None:
    assert violations(history) == []


@lenient
@given(histories(strict=True))
def test_a_strict_history_is_legal_for_strict_providers(history: list[Message]) -> None:
    assert violations(history, strict=True) == []


@lenient
@given(histories())
def test_a_history_ends_where_a_model_is_asked(history: list[Message]) -> None:
    assert history[-1]["role"] in ("user", "tool")


@lenient
@given(histories(max_turns=2, max_groups=1, max_calls=1))
def test_sizes_are_kept(history: list[Message]) -> None:
    assert sum(bool(calls_of(message)) for message in history) <= 2
    assert all(len(calls_of(message)) <= 1 for message in history)


@given(texts())
def test_texts_stay_short_enough_to_shrink(text: str) -> None:
    assert len(text) <= LONGEST_TEXT


def _surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _reuses_ids(history: list[Message]) -> bool:
    ids = [call_id(call) for message in history for call in calls_of(message)]
    return len(ids) > len(set(ids))


def _results_out_of_order(history: list[Message]) -> bool:
    for index, message in enumerate(history):
        ids = [call_id(call) for call in calls_of(message)]
        if ids != [result["tool_call_id"] for result in history[index + 1 : index + 1 + len(ids)]]:
            return True
    return False


def _roles(history: list[Message]) -> list[str]:
    return [message["role"] for message in history]


KINDS: dict[str, Callable[[list[Message]], bool]] = {
    "begins with a system prompt": lambda h: is_system(h[0]),
    "begins with the user": lambda h: h[0]["role"] == "user",
    "begins with the assistant": lambda h: h[0]["role"] == "assistant",
    "two user turns in a row": lambda h: ("user", "user") in zip(_roles(h), _roles(h)[1:], strict=False),
    "a system message midway": lambda h: any(is_system(message) for message in h[2:]),
    "ends with a tool group": lambda h: h[-1]["role"] == "tool",
    "four parallel calls": lambda h: any(len(calls_of(message)) == 4 for message in h),
    "results out of order": _results_out_of_order,
    "a call id used again": _reuses_ids,
    "an id beside a call_id": lambda h: any("call_id" in call for message in h for call in calls_of(message)),
    "an image": lambda h: any(has_image(message) for message in h),
    "null content": lambda h: any(message.get("content") is None for message in h),
    "an empty string": lambda h: any(message.get("content") == "" for message in h),
    "a lone surrogate": lambda h: any(_surrogate(text_of(message)) for message in h),
    "NUL": lambda h: any("\x00" in text_of(message) for message in h),
    "CJK": lambda h: any("网关" in text_of(message) for message in h),
    "emoji": lambda h: any("🎉" in text_of(message) for message in h),
    "a long text": lambda h: any(len(text_of(message)) == LONGEST_TEXT for message in h),
    "reasoning": lambda h: any("reasoning" in message for message in h),
    "reasoning details": lambda h: any("reasoning_details" in message for message in h),
    "a private key": lambda h: any("_engine_note" in message for message in h),
    "a name": lambda h: any("name" in message for message in h),
}


searching = settings(max_examples=1_000, database=None, derandomize=True, phases=[Phase.generate])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_history_occurs(kind: str) -> None:
    assert KINDS[kind](find(histories(), KINDS[kind], settings=searching))


def test_an_assistant_end_is_a_choice() -> None:
    def ends_plainly(history: list[Message]) -> bool:
        return history[-1]["role"] == "assistant" and not calls_of(history[-1])

    assert find(histories(assistant_end=True), ends_plainly, settings=searching)


def test_more_parallel_calls_than_ids_are_refused() -> None:
    with pytest.raises(ValueError, match="max_calls is 7"):
        find(histories(max_calls=7), lambda history: bool(calls_of(history[-1])), settings=searching)


@lenient
@given(histories())
def test_an_engine_may_keep_parts_apart(history: list[Message]) -> None:
    owned = [id(part) for message in history for part in message.get("content") or () if isinstance(part, dict)]
    assert len(owned) == len(set(owned))
