"""Whatever a service refuses, the very same request is not sent again, and only a model's window is remembered."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from host.provider.refusals.classifier import Kind, Sent, classify
from tests.cases.refused_talk import played
from tests.cases.refusing import Refused

FILE = Path(__file__).parents[1] / "given" / "refusals" / "unseen.jsonl"
PER_KIND = 3


def _rows() -> list[dict[str, Any]]:
    rows = sorted(map(json.loads, FILE.read_text(encoding="utf-8").splitlines()), key=lambda row: row["kind"])
    return [row for _, alike in groupby(rows, key=lambda row: row["kind"]) for row in list(alike)[:PER_KIND]]


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row["kind"])
def test_a_refusal_that_comes_again_and_again(row: dict[str, Any]) -> None:
    error = Refused(row["status"], row["body"])
    refusal = classify(error, Sent())
    seen = played({"context_length": 200_000}, refusal, error)
    assert seen["max_identical_resends"] == 0
    assert seen["persisted"] is (refusal.kind is Kind.CONTEXT_OVERFLOW and bool(refusal.limit) and (refusal.limit or 0) < 200_000)
    if not refusal.kind.compresses:
        assert seen["session_unchanged"] and seen["summarizer_calls"] == 0
