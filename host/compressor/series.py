"""Statements that differ in a counter are a list, and none of them replaces another: "Rule 1: ...", "Rule 2: ..."."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

NUMBER = re.compile(r"\d+")
FEW = 3
"""Statements that are a list where one of their numbers counts them; of two another number has to differ as well."""

COUNTED = 1_000
"""What two statements are counted by is smaller: ports and amounts are not."""

BEGINNING = 200
"""Characters of a sentence that are compared."""

DIGITS = 9
"""Digits of a number that could count."""


class Series:
    """The lists among the sentences of a user."""

    def __init__(self, sentences: Iterable[str]) -> None:
        alike: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        for sentence in sentences:
            alike[_frame(sentence)].add(tuple(NUMBER.findall(sentence[:BEGINNING])))
        self._lists = frozenset(frame for frame, members in alike.items() if _are_counted(members))

    def has_both(self, one: str, other: str) -> bool:
        """Whether two sentences are of one list."""
        frame = _frame(one)
        return frame in self._lists and frame == _frame(other)


def _frame(sentence: str) -> str:
    return NUMBER.sub("0", sentence[:BEGINNING])


def _are_counted(members: set[tuple[str, ...]]) -> bool:
    places = [sorted({int(number) for number in place if len(number) <= DIGITS}) for place in zip(*members, strict=True)]
    differing = [place for place in places if len(place) > 1]
    if len(members) < FEW:
        return len(differing) > 1 and any(place[-1] < COUNTED and place[1] - place[0] == 1 for place in differing)
    return any(_rises_by_one(place) for place in differing)


def _rises_by_one(numbers: list[int]) -> bool:
    steps = [after - before for before, after in pairwise(numbers)]
    return len(numbers) >= FEW and steps.count(1) * 2 > len(steps)
