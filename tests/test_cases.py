"""Cases from public reports, and others of the same kinds: those of issues that are done pass, and never skip."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.case import Case, read_cases
from tests.cases.run import run_case
from tests.issues import DONE

HERE = Path(__file__).parent
FILES = (HERE / "given" / "cases.jsonl", HERE / "cases" / "own.jsonl")
CASES = [case for file in FILES for case in read_cases(file) if case.issue in DONE]


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_case(case: Case) -> None:
    verdict = run_case(case)
    assert verdict.missed == ()
    assert verdict.outcome == "passed", verdict.skipped
