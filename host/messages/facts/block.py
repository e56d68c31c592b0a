"""The text of exact values that a window carries for what left it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from host.messages.facts.fact import RULES, FactKind, Told

RULES_HEADING = "Rules of the user:"
VALUES_HEADING = "Exact values, newest first (row in brackets):"

MISSES = 24
"""Facts in a row that do not fit before the rest is not tried: what is left is older, and each try counts the whole text."""


def block(told: Sequence[Told], budget: int, count: Callable[[str], int]) -> str | None:
    """Rules and values as text of at most ``budget`` tokens; None where nothing fits.

    The user's rules come first, whole and in the order in which they were said, then the values by kind, newest first. Where
    room is short the newest rules are kept, then the newest values of the user, then those of the assistant and the tools; no
    sentence and no value is ever cut.
    """
    chosen: list[Told] = []
    missed = 0
    for one in _by_worth(told):
        if count(_written([*chosen, one])) <= budget:
            chosen, missed = [*chosen, one], 0
        elif (missed := missed + 1) == MISSES:
            break
    return _written(chosen) if chosen else None


def _by_worth(told: Sequence[Told]) -> Iterator[Told]:
    newest = list({(one.fact.kind is FactKind.constraint, one.fact.text): one for one in told}.values())[::-1]
    yield from (one for one in newest if one.fact.kind is FactKind.constraint)
    values = [one for one in newest if one.fact.kind not in RULES]
    texts: dict[int, list[str]] = {}
    for one in filter(lambda one: one.fact.kind not in RULES, told):
        texts.setdefault(one.row, []).append(one.fact.text)
    # a time within a date or a host within an address is told by the longer one
    told_once = [one for one in values if not any(one.fact.text in text and one.fact.text != text for text in texts[one.row])]
    yield from sorted(told_once, key=lambda one: one.role != "user")


def _written(chosen: Sequence[Told]) -> str:
    rules = [f"- {one.fact.text} [{one.row}]" for one in reversed(chosen) if one.fact.kind is FactKind.constraint]
    kinds: dict[FactKind, list[str]] = {}
    for one in chosen:
        if one.fact.kind is not FactKind.constraint:
            kinds.setdefault(one.fact.kind, []).append(f"{one.fact.text} [{one.row}]")
    values = [f"- {kind}: {', '.join(kinds[kind])}" for kind in FactKind if kind in kinds]
    return "\n".join([*([RULES_HEADING, *rules] if rules else []), *([VALUES_HEADING, *values] if values else [])])
