"""The gauge: real usage where there is one, and what a turn may cost."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.types import Message, ToolSchema, Usage
from host.tokens import Estimator, Gauge, budgets

CASES = {
    case["id"]: case
    for line in (Path(__file__).parents[1] / "given" / "cases.jsonl").read_text().splitlines()
    if (case := json.loads(line))["kind"] == "tokens"
}


class Tally:
    """A counter that costs what a message says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Message] = []

    def message(self, message: Message) -> int:
        self.asked.append(message)
        return len(str(message["content"]))

    def tools(self, tools: Sequence[ToolSchema]) -> int:
        return 100 * len(tools)


def said(*lengths: int) -> list[Message]:
    return [{"role": "user", "content": "x" * length} for length in lengths]


def tokens(messages: Iterable[Message]) -> int:
    return sum(len(str(message["content"])) for message in messages)


def test_without_usage_it_is_the_estimate() -> None:
    assert Gauge(Tally()).measure(said(1_000, 500), [{}, {}]) == 1_700


@pytest.mark.parametrize("usage", [None, Usage(0), Usage.from_provider({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})])
def test_no_usage_keeps_the_estimate_C161_C162(usage: Usage | None) -> None:
    gauge, messages = Gauge(Tally()), said(60_000)
    gauge.record(usage, messages)
    assert gauge.measure(messages) == 60_000 >= 32_000
    assert gauge.real_tokens is None


def test_unknown_usage_is_not_taken_for_a_full_window_C163() -> None:
    case = CASES["C163"]
    gauge, messages = Gauge(Tally()), said(case["input"]["estimated"])
    gauge.record(case["input"]["usage"], messages)
    assert gauge.measure(messages) == case["expected"]["used_value"] < budgets(case["input"]["context_length"]).threshold


@pytest.mark.parametrize("case", ["C157", "C158", "C159", "C169"])
def test_context_of_a_provider_usage(case: str) -> None:
    gauge, messages = Gauge(Tally()), said(10_000)
    gauge.record(Usage.from_provider(CASES[case]["input"]["usage"]), messages)
    assert gauge.real_tokens == gauge.measure(messages) == CASES[case]["expected"]["context_tokens"]


def test_completion_tokens_are_no_context_C167() -> None:
    gauge, messages = Gauge(Tally()), said(40_000)
    gauge.record(Usage(prompt=40_000, completion=45_000), messages)
    assert gauge.measure(messages) == 40_000


def test_new_messages_are_added_to_the_real_count_at_its_scale() -> None:
    gauge, messages = Gauge(Tally()), said(1_000)
    gauge.record(Usage(1_500), messages)
    assert gauge.scale == 1.5
    assert gauge.measure([*messages, *said(100)]) == 1_650


def test_another_list_is_the_scaled_estimate() -> None:
    gauge = Gauge(Tally())
    gauge.record(Usage(1_500), said(1_000))
    assert gauge.measure(said(600)) == 900


def test_more_tools_than_were_measured_are_added() -> None:
    gauge, messages = Gauge(Tally()), said(1_000)
    gauge.record(Usage(1_100), messages, [{}])
    assert gauge.measure(messages, [{}, {}, {}]) == 1_300
    assert gauge.measure(messages, [{}]) == 1_100


@pytest.mark.parametrize(("real", "scale"), [(10, 0.5), (1_000_000, 2.0)])
def test_the_scale_has_limits(real: int, scale: float) -> None:
    gauge = Gauge(Tally())
    gauge.record(Usage(real), said(1_000))
    assert gauge.scale == scale


def test_the_scale_follows_slowly() -> None:
    gauge = Gauge(Tally())
    gauge.record(Usage(1_000), said(1_000))
    gauge.record(Usage(2_000), said(1_000))
    assert 1.0 < gauge.scale < 1.5


def test_a_tiny_request_does_not_calibrate() -> None:
    gauge = Gauge(Tally())
    gauge.record(Usage(30), said(20))
    assert (gauge.scale, gauge.real_tokens) == (1.0, 30)


def test_after_a_compaction_the_real_size_is_unknown_until_the_next_reply_C165() -> None:
    gauge, messages = Gauge(Tally()), said(1_000)
    gauge.record(Usage(1_500), messages)
    gauge.compacted()
    assert (gauge.pending, gauge.real_tokens, gauge.scale) == (True, None, 1.5)
    gauge.record(Usage(700), said(500))
    assert (gauge.pending, gauge.real_tokens) == (False, 700)


def test_a_reply_without_usage_ends_the_waiting() -> None:
    gauge = Gauge(Tally())
    gauge.compacted()
    gauge.record(None, said(1))
    assert not gauge.pending


def test_a_turn_counts_only_its_new_message() -> None:
    tally = Tally()
    gauge, messages = Gauge(tally), said(*range(1, 50))
    gauge.measure(messages)
    tally.asked.clear()
    messages += said(7)
    gauge.measure(messages)
    assert tally.asked == messages[-1:]


def test_a_rebuilt_list_is_not_counted_again() -> None:
    tally = Tally()
    gauge, messages = Gauge(tally), said(*range(1, 50))
    gauge.record(Usage(5_000), messages)
    tally.asked.clear()
    assert gauge.measure(copy.deepcopy(messages)) == 5_000
    assert tally.asked == []


EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 99)),
        st.tuples(st.just("drop"), st.integers(0, 99)),
        st.tuples(st.just("edit"), st.integers(0, 99)),
        st.tuples(st.just("copy"), st.integers(0, 99)),
        st.tuples(st.just("record"), st.integers(0, 99)),
    ),
    max_size=30,
)


@given(EDITS)
def test_whatever_becomes_of_a_list_the_estimate_is_its_sum(edits: list[tuple[str, int]]) -> None:
    gauge, messages = Gauge(Tally()), said(3, 1, 4)
    for act, number in edits:
        place = number % (len(messages) or 1)
        if act == "add":
            messages = [*messages, *said(number)]
        elif act == "drop":
            messages = messages[:place] + messages[place + 1 :]
        elif act == "edit":
            messages = messages[:place] + said(number) + messages[place + 1 :]
        elif act == "copy":
            messages = copy.deepcopy(messages)
        else:
            gauge.record(Usage(number), messages)
        assert gauge.estimate(messages) == tokens(messages)
        assert gauge.measure(messages) >= 0


def test_ids_are_not_taken_over_by_later_messages() -> None:
    gauge = Gauge(Tally())
    for length in range(5_000):
        assert gauge.cost({"role": "user", "content": "x" * (length % 77)}) == length % 77


def test_messages_that_left_are_forgotten() -> None:
    gauge = Gauge(Tally())
    for _ in range(100):
        gauge.measure(said(*range(100)))
    assert len(gauge._known) < 2_500


def test_a_turn_in_a_long_conversation_takes_under_three_milliseconds() -> None:
    messages: list[Message] = [{"role": "user", "content": f"message {number}"} for number in range(10_000)]
    gauge = Gauge(Estimator())
    gauge.record(Usage(80_000), messages)
    times = []
    for _ in range(7):
        messages = [*messages, {"role": "user", "content": "and one more"}]
        started = time.perf_counter()
        gauge.measure(messages)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.003


def test_inputs_are_not_changed() -> None:
    messages: list[Any] = said(10, 20)
    before = copy.deepcopy(messages)
    gauge = Gauge(Estimator())
    gauge.record(Usage(99), messages)
    gauge.measure(messages)
    assert messages == before
