"""Which values stand among so many of their kind that they are a listing: a log, a table, a row of names."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from enum import Enum

from host.messages.facts.fact import RULES, FactKind, Told

MOST_IN_SENTENCE = 12
"""Values of a kind that a sentence sets; one with more lists them."""

MOST_IN_ROW = 48
"""Values of a kind that a message sets; one with more pastes a log or a table."""


class Crowd(Enum):
    """Among how many of its kind a value stands."""

    none = 0
    message = 1
    sentence = 2


def crowds_of(told: Sequence[Told]) -> list[Crowd]:
    """The crowd of each of the facts told; rules are never in one."""
    places: defaultdict[tuple[int, FactKind], list[int]] = defaultdict(list)
    for one in told:
        places[one.row, one.fact.kind].append(one.fact.start)
    for starts in places.values():
        starts.sort()
    return [_crowd(one, places[one.row, one.fact.kind]) for one in told]


def _crowd(one: Told, starts: Sequence[int]) -> Crowd:
    if one.fact.kind in RULES or len(starts) <= MOST_IN_SENTENCE:
        return Crowd.none
    first = one.fact.start - one.at
    if bisect_right(starts, first + len(one.around)) - bisect_left(starts, first) > MOST_IN_SENTENCE:
        return Crowd.sentence
    return Crowd.message if len(starts) > MOST_IN_ROW else Crowd.none
