"""What a fact is, what was told of it, and how the facts of a row are kept in the archive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

KEPT = 200
"""Facts that one row keeps at most: a log of ten megabytes must not fill the table."""


class FactKind(StrEnum):
    """What a fact is, coarsely; the text of a fact matters more than its kind."""

    path = "path"
    url = "url"
    version = "version"
    quantity = "quantity"
    id = "id"
    hash = "hash"
    quoted = "quoted"
    env = "env"
    error = "error"
    email = "email"
    address = "address"
    date = "date"
    constraint = "constraint"
    release = "release"


RULES = frozenset({FactKind.constraint, FactKind.release})
"""Kinds that are whole sentences of the user; all others are values."""

LAST_KEPT = (FactKind.quantity, FactKind.date, FactKind.quoted)
"""Kinds that a log is full of: they give way first where a row has too many."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A value or a rule, and where it stands in the text that it was read from (in characters)."""

    kind: FactKind
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as it was said: by whom, in which archived row, and in what words.

    ``around`` is the sentence or line that holds the fact, ``at`` the fact's place in it, ``lead`` the sentence before.
    """

    fact: Fact
    row: int
    role: str
    around: str = ""
    at: int = 0
    lead: str = ""


def kept(facts: Sequence[Fact]) -> list[Fact]:
    """The facts that a row keeps: rules first, then each value once, those a log repeats least before the others."""
    once = list({(fact.kind, fact.text): fact for fact in reversed(facts)}.values())[::-1]
    if len(once) > KEPT:
        once = sorted(once, key=_worth)[:KEPT]
    return sorted(once, key=lambda fact: (fact.start, fact.end))


def _worth(fact: Fact) -> int:
    if fact.kind in RULES:
        return 0
    return 2 if fact.kind in LAST_KEPT else 1


def encoded(facts: Sequence[Fact]) -> str | None:
    """The facts as the archive stores them: JSON of kinds with their spans; None where there are none.

    At most ``KEPT`` facts, chosen by ``kept``; the texts stay in the row and are cut from it again by ``decoded``.
    """
    spans: dict[str, list[list[int]]] = {}
    for fact in kept(facts):
        spans.setdefault(fact.kind.value, []).append([fact.start, fact.end])
    return json.dumps(spans, separators=(",", ":")) if spans else None


def decoded(text: str | None, searchable_text: str) -> list[Fact]:
    """The facts of a stored column, rising; spans that the text does not have and kinds that nobody knows are left out."""
    found = [
        Fact(FactKind(kind), start, end, searchable_text[start:end])
        for kind, spans in _stored(text).items()
        if kind in FactKind.__members__ and isinstance(spans, list)
        for start, end in filter(_is_span, spans)
        if 0 <= start < end <= len(searchable_text)
    ]
    return sorted(found, key=lambda fact: (fact.start, fact.end, fact.kind))


def _stored(text: str | None) -> dict[str, object]:
    try:
        spans = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return spans if isinstance(spans, dict) else {}


def _is_span(span: object) -> bool:
    return isinstance(span, list) and len(span) == 2 and all(type(edge) is int for edge in span)
