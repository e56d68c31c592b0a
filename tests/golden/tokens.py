"""Budgets and estimates: hermes.md 4."""

from __future__ import annotations

from typing import Any, cast

import pytest

from host.engine.services import ModelFacts, Thresholds
from host.tokens import Budgets, budgets, effective_percent, output_reserve, summary_budget, summary_ceiling, threshold_tokens
from tests.golden.engines import compressor
from tests.golden.reading import Driver, Golden
from tests.reference_cost import rough_messages, rough_request, rough_text, tail_cost

FLOOR = 0.75  # compression.small_window_floor, under which the `option` cases were computed
REFERENCE_SUMMARY = 10_000  # the reference's ceiling of a summary; the seed's is 12,000
SEED_SUMMARY = 12_000


def threshold(case: Golden) -> None:
    given = case.input
    assert threshold_tokens(given["context_length"], given["threshold_percent"], given["max_tokens"]) == case.output


def percent(case: Golden) -> None:
    window, configured = case.input["context_length"], case.input["percent"]
    assert effective_percent(window, configured, FLOOR) == case.output
    assert effective_percent(window, configured) == configured, "the floor is an option, off by default"


def reserve(case: Golden) -> None:
    assert output_reserve(case.input["value"]) == case.output


def all_budgets(case: Golden) -> None:
    given = case.input
    asked: dict[str, Any] = {
        "threshold": given["configured_percent"],
        "max_tokens": given["max_tokens"],
        "target_ratio": given["target_ratio"],
    }
    assert figures(budgets(given["context_length"], **asked, small_window_floor=FLOOR, summary_limit=REFERENCE_SUMMARY)) == case.output
    plain = budgets(given["context_length"], **asked)
    assert plain.threshold == threshold_tokens(given["context_length"], given["configured_percent"], given["max_tokens"])
    assert plain.tail == int(plain.threshold * case.output["target_ratio"])
    assert plain.summary == min(int(given["context_length"] * 0.05), SEED_SUMMARY)


def figures(found: Budgets) -> dict[str, float]:
    return {
        "threshold_percent": found.percent,
        "threshold_tokens": found.threshold,
        "tail_token_budget": found.tail,
        "max_summary_tokens": found.summary,
        "target_ratio": found.target_ratio,
    }


def model_switch(case: Golden) -> None:
    engine = compressor(facts=ModelFacts(window=case.input["start"]), thresholds=Thresholds(small_window_floor=FLOOR))
    for window, (_, effective, trigger, tail, summary, last_prompt) in zip(case.input["switches"], case.output, strict=True):
        engine.update_model("another", window)
        found = engine.budgets
        assert (found.window, found.percent, found.threshold, found.tail) == (window, effective, trigger, tail)
        assert (engine.context_length, engine.threshold_tokens, engine.last_prompt_tokens) == (window, trigger, last_prompt)
        assert min(found.summary, REFERENCE_SUMMARY) == summary


def estimate_of_text(case: Golden) -> None:
    assert list(map(rough_text, case.input["texts"])) == case.output


def estimate_of_messages(case: Golden) -> None:
    assert rough_messages(case.input["messages"]) == pytest.approx(case.output, rel=0.05)


def estimate_of_request(case: Golden) -> None:
    given = case.input
    assert rough_request(given["messages"], given["system_prompt"], given["tools"]) == pytest.approx(case.output, rel=0.05)


def tail_walk(case: Golden) -> None:
    assert list(map(tail_cost, case.input["messages"])) == case.output


def tail_walk_of_one(case: Golden) -> None:
    assert tail_cost(case.input["message"]) == case.output


def content_tokens(case: Golden) -> int:
    return rough_messages([{"role": "user", "content": "x" * case.input["chars"]}])


def summary(case: Golden) -> None:
    assert summary_budget(content_tokens(case), summary_ceiling(200_000)) == case.output


def summary_at_the_ceiling(case: Golden) -> None:
    assert summary_budget(content_tokens(case), summary_ceiling(200_000)) == 10_000, "5 % of the window is below either ceiling"
    assert summary_budget(content_tokens(case), summary_ceiling(1_000_000)) == SEED_SUMMARY


def summary_of_a_small_window(case: Golden) -> None:
    ceiling = summary_ceiling(8_000)
    assert summary_budget(content_tokens(case), ceiling) == ceiling == 400 < cast(int, case.output)


DRIVERS: dict[str, Driver] = {
    "threshold_*": threshold,
    "effective_percent_*": percent,
    "coerce_max_tokens_*": reserve,
    "budgets_*": all_budgets,
    "model_switch_rederives": model_switch,
    "estimate_text": estimate_of_text,
    "estimate_messages": estimate_of_messages,
    "estimate_request": estimate_of_request,
    "tail_walk_estimate": tail_walk,
    "tail_walk_estimate_replay": tail_walk_of_one,
    "summary_budget_[0-9]*": summary,
    "summary_budget_ceiling": summary_at_the_ceiling,
    "summary_budget_small_window": summary_of_a_small_window,
}
