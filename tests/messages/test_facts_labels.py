"""How much of the hand labels (tests/given/facts) is found. The floors are what was reached: they fail when it gets worse."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from host.formats import read
from host.messages.facts import Fact, FactKind, Told, constraints_in, current, facts_of, told, values_in
from host.messages.searchable import searchable
from host.messages.types import Message

ROOT = Path(__file__).parents[2]
LABELS = ROOT / "tests" / "given" / "facts"
RULES = (FactKind.constraint, FactKind.release)

Span = tuple[int, int]


def labelled(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LABELS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def messages_of(conversation: str) -> list[Message]:
    return read(ROOT / conversation)[0].messages


def text_of(label: dict[str, Any]) -> str:
    return searchable(messages_of(label["conversation"])[label["index"]])


def places(text: str, part: str) -> list[Span]:
    found, start = [], text.find(part)
    while start >= 0:
        found.append((start, start + len(part)))
        start = text.find(part, start + 1)
    return found


def overlap(fact: Fact, span: Span) -> int:
    return max(0, min(fact.end, span[1]) - max(fact.start, span[0]))


def spans_of(name: str) -> dict[tuple[str, int], list[Span]]:
    spans: dict[tuple[str, int], list[Span]] = {}
    for label in labelled(name):
        spans.setdefault((label["conversation"], label["index"]), []).extend(places(text_of(label), label["text"]))
    return spans


def is_found(label: dict[str, Any]) -> bool:
    """A label is found where a value covers half of it at least."""
    spans = places(text_of(label), label["text"])
    return any(2 * overlap(fact, span) >= len(label["text"]) for fact in values_in(text_of(label)) for span in spans)


def test_values_that_a_person_labelled_are_found() -> None:
    labels = labelled("values")
    assert sum(map(is_found, labels)) / len(labels) >= 0.95


def test_what_is_found_is_a_value_that_a_person_labelled() -> None:
    values, optional = spans_of("values"), spans_of("optional")
    right = wrong = 0
    for label in labelled("chosen"):
        key = label["conversation"], label["index"]
        for fact in values_in(text_of(label)):
            if any(overlap(fact, span) for span in values.get(key, [])):
                right += 1
            elif not any(overlap(fact, span) for span in optional.get(key, [])):
                wrong += 1
    assert right / (right + wrong) >= 0.96


def is_taken(label: dict[str, Any]) -> bool:
    return any(label["text"] in fact.text or fact.text in label["text"] for fact in constraints_in(text_of(label)))


def test_rules_are_found_and_what_binds_nothing_is_not() -> None:
    rules, others = labelled("constraints"), labelled("unconstrained")
    assert sum(map(is_taken, rules)) / len(rules) >= 0.97
    assert sum(map(is_taken, others)) / len(others) <= 0.06


@cache
def everything_told(conversation: str) -> list[Told]:
    return [
        one
        for row, message in enumerate(messages_of(conversation))
        for one in told(facts_of(message), searchable(message), row=row, role=message["role"])
    ]


@cache
def what_holds(conversation: str) -> list[Told]:
    return current(everything_told(conversation))


def of_kind(is_rule: bool) -> Callable[[Told], bool]:
    return lambda one: one.fact.kind is FactKind.constraint if is_rule else one.fact.kind not in RULES


def names(one: Told, text: str) -> bool:
    """Whether a fact is a labelled text, or most of it, or holds it."""
    return text in one.fact.text or (one.fact.text in text and 2 * len(one.fact.text) >= len(text))


def is_dropped(label: dict[str, Any]) -> bool:
    """An old fact is dropped where it was told, holds no longer, and nothing of that text that was said up to the new one does."""
    old, last = label["old"], max(label["old"]["index"], label["new"]["index"])
    is_rule = {"conversation": label["conversation"], **old} in labelled("constraints")
    is_meant = of_kind(is_rule)

    def holds(one: Told) -> bool:
        return one.row <= last and (one.fact.text == old["text"] or (one.row == old["index"] and names(one, old["text"])))

    known = any(one.row == old["index"] and names(one, old["text"]) for one in filter(is_meant, everything_told(label["conversation"])))
    return known and not any(map(holds, filter(is_meant, what_holds(label["conversation"]))))


def test_what_was_replaced_is_dropped() -> None:
    labels = labelled("supersessions")
    assert sum(map(is_dropped, labels)) / len(labels) >= 0.80


def is_lost(conversation: str, side: dict[str, Any]) -> bool:
    told_there = filter(of_kind(is_rule=False), everything_told(conversation))
    holding = filter(of_kind(is_rule=False), what_holds(conversation))
    return any(one.row == side["index"] and side["text"] in one.fact.text for one in told_there) and not any(
        side["text"] in one.fact.text for one in holding
    )


def test_look_alikes_are_kept_apart() -> None:
    lost = [label for label in labelled("look_alikes") if any(is_lost(label["conversation"], label[side]) for side in ("first", "second"))]
    assert len(lost) <= 1
