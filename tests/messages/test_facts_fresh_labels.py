"""How much of three sets of labels is found that were written before the code that finds it (tests/given/receipts).

The floors are what was reached: they fail when it gets worse.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from host.formats import read
from host.messages.facts import Fact, FactKind, Told, constraints_in, current, facts_of, told, values_in
from host.messages.facts.fact import RULES
from host.messages.searchable import searchable
from host.messages.types import Message

GIVEN = Path(__file__).parents[1] / "given" / "receipts"

Label = dict[str, Any]


@dataclass(frozen=True)
class Floors:
    """Shares that are reached, and how many supersessions are seen and look-alikes lost."""

    recall: float
    precision: float
    rules: float
    others: float  # of sentences that bind nothing, at most
    superseded: int
    lost: int  # at most


FLOORS = {
    "first": Floors(recall=0.98, precision=0.97, rules=0.96, others=0.06, superseded=48, lost=0),
    "second": Floors(recall=0.95, precision=0.95, rules=0.97, others=0.20, superseded=25, lost=0),
    "third": Floors(recall=0.95, precision=0.98, rules=0.97, others=0.50, superseded=77, lost=0),
}


@cache
def labels(name: str, which: str) -> tuple[Label, ...]:
    return tuple(json.loads(line) for line in (GIVEN / name / f"{which}.jsonl").read_text(encoding="utf-8").splitlines())


@cache
def messages_of(name: str, conversation: str) -> list[Message]:
    return read(GIVEN / name / "conversations" / conversation)[0].messages


def text_of(name: str, label: Label) -> str:
    return searchable(messages_of(name, label["conversation"])[label["index"]])


def places(text: str, part: str) -> Iterator[tuple[int, int]]:
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + 1)


def overlap(fact: Fact, span: tuple[int, int]) -> int:
    return max(0, min(fact.end, span[1]) - max(fact.start, span[0]))


def is_found(name: str, label: Label) -> bool:
    text = text_of(name, label)
    return any(2 * overlap(fact, span) >= len(label["text"]) for fact in values_in(text) for span in places(text, label["text"]))


def stands_in(name: str, which: str, label: Label, fact: Fact) -> bool:
    key = (label["conversation"], label["index"])
    alike = (each for each in labels(name, which) if (each["conversation"], each["index"]) == key)
    return any(overlap(fact, span) for each in alike for span in places(text_of(name, each), each["text"]))


def is_rule(name: str, label: Label) -> bool:
    return any(label["text"] in fact.text or fact.text in label["text"] for fact in constraints_in(text_of(name, label)))


@cache
def everything_told(name: str, conversation: str) -> tuple[Told, ...]:
    rows = enumerate(messages_of(name, conversation))
    return tuple(one for row, m in rows for one in told(facts_of(m), searchable(m), row=row, role=m["role"]))


@cache
def what_holds(name: str, conversation: str) -> tuple[Told, ...]:
    return tuple(current(everything_told(name, conversation)))


def is_dropped(name: str, label: Label) -> bool:
    """The old fact was told and nothing of that text, said up to the new one, holds."""
    old, conversation = label["old"], label["conversation"]
    last = max(old["index"], label["new"]["index"])
    ruled = {"conversation": conversation, **old} in labels(name, "constraints")

    def is_meant(one: Told) -> bool:
        return (one.fact.kind is FactKind.constraint) if ruled else one.fact.kind not in RULES

    def is_named(one: Told) -> bool:
        return one.row == old["index"] and (
            old["text"] in one.fact.text or (one.fact.text in old["text"] and 2 * len(one.fact.text) >= len(old["text"]))
        )

    known = any(is_named(one) for one in filter(is_meant, everything_told(name, conversation)))
    holding = filter(is_meant, what_holds(name, conversation))
    return known and not any(one.row <= last and (one.fact.text == old["text"] or is_named(one)) for one in holding)


def is_lost(name: str, conversation: str, side: Label) -> bool:
    said = [one for one in everything_told(name, conversation) if one.fact.kind not in RULES]
    holding = [one for one in what_holds(name, conversation) if one.fact.kind not in RULES]
    was_told = any(one.row == side["index"] and side["text"] in one.fact.text for one in said)
    return was_told and not any(side["text"] in one.fact.text for one in holding)


@pytest.mark.parametrize("name", FLOORS)
def test_values_are_found_and_little_else(name: str) -> None:
    values = labels(name, "values")
    assert sum(is_found(name, label) for label in values) / len(values) >= FLOORS[name].recall
    told_of = [(label, fact) for label in labels(name, "chosen") for fact in values_in(text_of(name, label))]
    right = sum(stands_in(name, "values", label, fact) for label, fact in told_of)
    open_ones = sum(stands_in(name, "optional", label, fact) and not stands_in(name, "values", label, fact) for label, fact in told_of)
    assert right / (len(told_of) - open_ones) >= FLOORS[name].precision


@pytest.mark.parametrize("name", FLOORS)
def test_rules_are_found_and_few_sentences_that_bind_nothing(name: str) -> None:
    rules, others = labels(name, "constraints"), labels(name, "unconstrained")
    assert sum(is_rule(name, label) for label in rules) / len(rules) >= FLOORS[name].rules
    assert sum(is_rule(name, label) for label in others) / len(others) <= FLOORS[name].others


@pytest.mark.parametrize("name", FLOORS)
def test_what_was_replaced_is_dropped_and_look_alikes_are_not(name: str) -> None:
    assert sum(is_dropped(name, label) for label in labels(name, "supersessions")) >= FLOORS[name].superseded
    pairs = labels(name, "look_alikes")
    lost = [label for label in pairs if any(is_lost(name, label["conversation"], label[side]) for side in ("first", "second"))]
    assert len(lost) <= FLOORS[name].lost
