"""The reference's estimators, which only tests use, against its own figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reference_cost import rough_messages, rough_request, rough_text, tail_cost

GOLDEN: dict[str, Any] = {
    case["name"]: case for case in json.loads((Path(__file__).parents[1] / "given" / "golden.json").read_text())["cases"]
}


def test_rough_text() -> None:
    case = GOLDEN["estimate_text"]
    assert list(map(rough_text, case["input"]["texts"])) == case["output"]


def test_rough_messages() -> None:
    case = GOLDEN["estimate_messages"]
    assert rough_messages(case["input"]["messages"]) == pytest.approx(case["output"], rel=0.05)


def test_rough_request() -> None:
    case = GOLDEN["estimate_request"]
    given = case["input"]
    assert rough_request(given["messages"], given["system_prompt"], given["tools"]) == pytest.approx(case["output"], rel=0.05)


def test_tail_cost() -> None:
    case = GOLDEN["tail_walk_estimate"]
    assert list(map(tail_cost, case["input"]["messages"])) == case["output"]


def test_tail_cost_counts_replayed_reasoning() -> None:
    case = GOLDEN["tail_walk_estimate_replay"]
    assert tail_cost(case["input"]["message"]) == case["output"]
