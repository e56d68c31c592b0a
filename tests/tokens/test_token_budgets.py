"""The formulas of seed 3.4 against worked numbers."""

from __future__ import annotations

import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.tokens import Budgets, budgets, effective_percent, output_reserve, summary_budget, summary_ceiling, threshold_tokens
from tests.reference_cost import rough_messages

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "given" / "golden.json").read_text())["cases"]


def golden(prefix: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in GOLDEN if case["name"].startswith(prefix) and case["issue"] == 1]


@pytest.mark.parametrize("case", golden("threshold_"))
def test_threshold(case: dict[str, Any]) -> None:
    given = case["input"]
    assert threshold_tokens(given["context_length"], given["threshold_percent"], given["max_tokens"]) == case["output"]


@pytest.mark.parametrize("case", golden("effective_percent_"))
def test_percent_with_the_small_window_option(case: dict[str, Any]) -> None:
    assert effective_percent(case["input"]["context_length"], case["input"]["percent"], 0.75) == case["output"]


def test_percent_has_no_floor_unless_configured() -> None:
    assert effective_percent(128_000, 0.5) == 0.5


@pytest.mark.parametrize("case", golden("coerce_"))
def test_output_reserve(case: dict[str, Any]) -> None:
    assert output_reserve(case["input"]["value"]) == case["output"]


@pytest.mark.parametrize("value", [float("inf"), float("nan"), [], {}, b"8192", "", "9" * 5000])
def test_output_reserve_of_nonsense_is_none(value: object) -> None:
    assert output_reserve(value) is None


@pytest.mark.parametrize("case", golden("budgets_"))
def test_budgets_of_the_reference(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["output"]
    found = budgets(
        given["context_length"],
        threshold=given["configured_percent"],
        target_ratio=given["target_ratio"],
        max_tokens=given["max_tokens"],
        small_window_floor=0.75,
        summary_limit=10_000,
    )
    assert found.percent == expected["threshold_percent"]
    assert found.threshold == expected["threshold_tokens"]
    assert found.tail == expected["tail_token_budget"]
    assert found.summary == expected["max_summary_tokens"]
    assert found.target_ratio == expected["target_ratio"]


def test_budgets_of_a_model_switch() -> None:
    case = next(case for case in GOLDEN if case["name"] == "model_switch_rederives")
    for window, percent, threshold, tail, summary, _last_prompt in case["output"]:
        found = budgets(window, small_window_floor=0.75, summary_limit=10_000)
        assert (found.percent, found.threshold, found.tail, found.summary) == (percent, threshold, tail, summary)


def test_budgets_of_the_seed() -> None:
    assert budgets(200_000) == Budgets(200_000, 100_000, 20_000, 30_000, 10_000, 0.5, 0.2)
    assert budgets(1_000_000).summary == 12_000


@pytest.mark.parametrize(
    ("window", "max_tokens", "threshold"),
    [(100_000, 65_536, 29_294), (64_000, None, 54_400), (128_000, 65_536, 53_094), (8_000, 65_536, 6_800)],
)
def test_threshold_leaves_room_for_the_answer(window: int, max_tokens: int | None, threshold: int) -> None:
    assert threshold_tokens(window, 0.5, max_tokens) == threshold


@given(st.integers(2_000, 2_000_000), st.floats(0.01, 1.0), st.floats(0.0, 1.0), st.integers(0, 200_000))
def test_every_window_has_usable_budgets(window: int, percent: float, ratio: float, max_tokens: int) -> None:
    found = budgets(window, threshold=percent, target_ratio=ratio, max_tokens=max_tokens)
    assert all(value > 0 for value in astuple(found))
    assert found.tail < found.threshold < window
    assert found.summary <= window // 8


def test_the_smallest_window_still_gets_a_summary_and_a_tail() -> None:
    found = budgets(2_000)
    assert (found.threshold, found.tail, found.summary) == (1_700, 340, 250)


@pytest.mark.parametrize("case", golden("summary_budget_"))
def test_summary_budget(case: dict[str, Any]) -> None:
    content = rough_messages([{"role": "user", "content": "x" * case["input"]["chars"]}])
    window, expected = {
        "summary_budget_ceiling": (200_000, 10_000),  # 5 % of this window is below both limits
        "summary_budget_small_window": (8_000, 400),  # the reference exceeds its own ceiling here
    }.get(case["name"], (200_000, case["output"]))
    assert summary_budget(content, summary_ceiling(window)) == expected


@given(st.integers(0, 10_000_000), st.integers(1, 12_000))
def test_summary_budget_never_exceeds_its_ceiling(content: int, ceiling: int) -> None:
    assert 0 < summary_budget(content, ceiling) <= ceiling
