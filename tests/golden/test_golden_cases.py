"""What the product says to the worked cases of the reference, each by its ``use`` (hermes.md 21)."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from host.tokens import budgets
from tests.golden.drivers import DRIVERS, drivers_of
from tests.golden.reading import Golden, golden_cases

CASES = golden_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_golden(case: Golden) -> None:
    for driver in drivers_of(case.name):
        driver(case)


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_every_name_has_exactly_one_driver(name: str) -> None:
    assert len(drivers_of(name)) == 1


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in DRIVERS])
def test_no_driver_is_left_without_a_case(pattern: str) -> None:
    assert any(fnmatchcase(case.name, pattern) for case in CASES)


def test_the_seeds_own_example() -> None:
    found = budgets(200_000)
    assert (found.threshold, found.tail, found.summary) == (100_000, 20_000, 10_000)
