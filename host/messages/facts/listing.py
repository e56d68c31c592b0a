"""Which statements are entries of one list: they are alike but for a counter, or for more than one value."""

from __future__ import annotations

import re
from functools import lru_cache

from host.messages.facts.said_words import ITEM, PERIOD
from host.messages.facts.topic_words import CHANGE, IDLE
from host.messages.facts.topics import stem

PIECE = re.compile(r"\d[\w.,:/-]*|[^\W\d_\u3400-\u9fff][^\W_\u3400-\u9fff]*(?:[-./_]\w+)*|[\u3400-\u9fff]+")
COUNTER = re.compile(
    r"(?i)(?:\b(?:questions?|steps?|rules?|parts?|chapters?|sections?|items?|tasks?|articles?|points?|options?|cases?|examples?|phases?"
    r"|rounds?|lines?|rows?|notes?|figures?|exercises?|problems?|lessons?|modules?|samples?|attempts?|experiments?|tests?|issues?"
    r"|tickets?|services?|workers?|nodes?|servers?|entry|bullet|no\.?|number|nr\.?)\s?[#-]?"
    r"|第|(?:规则|问题|步骤|任务|章节|条目|选项|例子|ルール|質問|手順|項目|例)\s?)$"
)
"""What a number counts on from one entry to the next."""

LOOKED_BACK = 16
SHORTEST = 3
"""Letters of a word that can say what a sentence is of."""


def counts(text: str, at: int) -> bool:
    """Whether the number at a place of a sentence only says which entry of a list it is ("question 2")."""
    return COUNTER.search(text[max(0, at - LOOKED_BACK) : at]) is not None


def are_of_a_list(mine: str, theirs: str) -> bool:
    """Whether two sentences, each without its value, are built alike, piece by piece, and still differ in what they say."""
    one, other = _pieces(mine), _pieces(theirs)
    if len(one) != len(other) or one == other:
        return False
    apart = [(left, right) for left, right in zip(one, other, strict=True) if left != right]
    return 2 * len(apart) <= len(one) and any(_tell_apart(left, right) for left, right in apart)


def differ_in_numbers(mine: str, theirs: str) -> bool:
    """Whether two sentences are built alike and more than one number of theirs is another."""
    one, other = _pieces(mine), _pieces(theirs)
    if len(one) != len(other):
        return False
    numbers = [left != right for left, right in zip(one, other, strict=True) if left[0].isdigit() and right[0].isdigit()]
    return sum(numbers) > 1 and 2 * len(one) >= 3 * len(numbers)


def _tell_apart(left: str, right: str) -> bool:
    if not (left[0].isdigit() or right[0].isdigit()) and max(len(left), len(right)) < SHORTEST:
        return False
    return not (left in IDLE and right in IDLE) and not any(map(CHANGE.search, (left, right)))


@lru_cache(maxsize=1024)
def items_in(clause: str) -> dict[str, str]:
    """By what a clause tells one of a kind from another: a number, by the word before it ("mic 1"), and a time ("in May")."""
    numbered = {stem(match[1]): match[2] for match in ITEM.finditer(clause) if match[1].lower() not in IDLE}
    period = PERIOD.search(clause)
    return numbered | {"": period[1].lower()} if period else numbered


@lru_cache(maxsize=1024)
def _pieces(text: str) -> tuple[str, ...]:
    return tuple(piece.rstrip(".,:").lower() for piece in PIECE.findall(text))
