"""The rules of the window (design) over random legal histories."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.reading import is_system
from host.messages.types import Message
from host.messages.violations import STRICT_RULES, violations
from host.testing.histories import histories
from host.transforms.handoff import is_handoff, split_merged
from tests.engines_for_tests import CharCount, compressor

WINDOWS = st.sampled_from([2_000, 3_000, 8_000, 32_000])
COUNT = CharCount()


def compressed(history: list[Message], window: int) -> list[Message]:
    return compressor(window, count=COUNT).compress(history, force=True)


def newest_request(history: list[Message]) -> Message | None:
    return next((m for m in reversed(history) if m["role"] == "user"), None)


def newest_group(history: list[Message]) -> list[Message]:
    start = len(history) - 1
    while history[start]["role"] == "tool":
        start -= 1
    return history[start:]


def irreducible(history: list[Message]) -> int:
    system = [m for i, m in enumerate(history) if all(map(is_system, history[: i + 1]))]
    request = newest_request(history)
    kept = {id(m): m for m in [*system, *([request] if request else []), *newest_group(history)]}
    return COUNT.messages(kept.values())


@given(histories(), WINDOWS)
def test_whatever_goes_in_a_provider_would_accept_what_comes_out(history: list[Message], window: int) -> None:
    assert violations(compressed(history, window)) == []


@given(histories(), WINDOWS)
def test_strict_providers_find_nothing_that_was_not_there_before(history: list[Message], window: int) -> None:
    before = {v.rule for v in violations(history, strict=True)} & STRICT_RULES
    after = {v.rule for v in violations(compressed(history, window), strict=True)} & STRICT_RULES
    assert after <= before


@given(histories(), WINDOWS)
def test_a_compacted_window_begins_with_the_user(history: list[Message], window: int) -> None:
    result = compressed(history, window)
    if result is not history:
        assert next(m for m in result if not is_system(m))["role"] == "user"


@given(histories(), WINDOWS)
def test_the_input_is_not_touched_and_what_stays_are_the_same_objects(history: list[Message], window: int) -> None:
    before = deepcopy(history)
    result = compressed(history, window)
    assert history == before
    mine = {id(m) for m in history}
    for message in result:
        assert id(message) in mine or message not in history


@given(histories(), WINDOWS)
def test_the_newest_request_stays_whole_and_no_other_one_follows_it(history: list[Message], window: int) -> None:
    request, result = newest_request(history), compressed(history, window)
    if request is None:
        return
    places = [i for i, m in enumerate(result) if m is request or split_merged(m)[-1] == request]
    assert places
    assert all(m["role"] != "user" or is_handoff(m) for m in result[places[-1] + 1 :])


@given(histories(), WINDOWS)
def test_the_newest_group_stays(history: list[Message], window: int) -> None:
    result = [part for m in compressed(history, window) for part in split_merged(m)]
    assert all(any(m is kept or m == kept for kept in result) for m in newest_group(history)[:1])


@given(histories(), WINDOWS)
def test_the_result_is_under_the_threshold_where_it_can_be(history: list[Message], window: int) -> None:
    engine = compressor(window, count=COUNT)
    result = engine.compress(history, force=True)
    if COUNT.messages(history) >= engine.threshold_tokens >= irreducible(history):
        assert COUNT.messages(result) <= engine.threshold_tokens


@given(histories(), WINDOWS)
def test_again_with_nothing_new_never_adds_tokens_or_a_second_handoff_and_soon_rests(history: list[Message], window: int) -> None:
    engine = compressor(window, count=COUNT)
    result = engine.compress(history, force=True)
    for _ in range(6):
        again = engine.compress(result, force=True)
        assert sum(map(is_handoff, again)) <= 1
        if again is result:
            break
        assert COUNT.messages(again) <= COUNT.messages(result)
        result = again
    else:
        pytest.fail("it went on and on")
