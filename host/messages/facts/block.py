"""The text of exact values that a window carries for what left it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from host.messages.facts.fact import FactKind, Told

RULES_HEADING = "Rules of the user:"
VALUES_HEADING = "Exact values, newest first (row in brackets):"

MISSES = 24
"""Facts in a row that do not fit before the rest is not tried: what is left is older, and each try counts a line."""


def block(
    told: Sequence[Told], budget: int, count: Callable[[str], int], *, is_shown: Callable[[str], bool] = lambda text: False
) -> str | None:
    """Rules and values as text of at most ``budget`` tokens; None where nothing fits.

    The user's rules come first, whole and in the order in which they were said, then the values by kind, newest first. Where
    room is short the newest rules are kept, then the newest values of the user, then those of the assistant and the tools; no
    sentence and no value is ever cut. What ``is_shown`` elsewhere is left out; only of a text that fits it is asked.
    """
    chosen: list[Told] = []
    opened: set[FactKind] = set()
    spent = missed = 0
    is_measured = True  # lines that are counted one by one come to a little more than the whole
    for one in _by_worth(told):
        cost = count(_added(one, opened))
        if spent + cost > budget and not is_measured:
            spent, is_measured = count(_written(chosen)), True
        if spent + cost > budget:
            missed += 1
            if missed == MISSES:
                break
        elif not is_shown(one.fact.text):
            chosen.append(one)
            opened.add(one.fact.kind)
            spent, missed, is_measured = spent + cost, 0, False
    while chosen and count(_written(chosen)) > budget:
        chosen.pop()
    return _written(chosen) if chosen else None


def _by_worth(told: Sequence[Told]) -> Iterator[Told]:
    """Each text once, by its newest mention: rules, values of the user, values of others."""
    rules: dict[str, Told] = {}
    values: dict[str, Told] = {}
    texts: defaultdict[int, list[str]] = defaultdict(list)
    for one in reversed(told):
        if one.fact.kind is FactKind.constraint:
            rules.setdefault(one.fact.text, one)
        elif one.fact.kind is not FactKind.release:
            values.setdefault(one.fact.text, one)
            texts[one.row].append(one.fact.text)
    yield from rules.values()
    for of_user in (True, False):
        for text, one in values.items():
            # a time within a date or a host within an address is told by the longer one
            if (one.role == "user") is of_user and not any(text in longer and text != longer for longer in texts[one.row]):
                yield one


def _added(one: Told, opened: Collection[FactKind]) -> str:
    """What a fact adds to a text that has facts of the ``opened`` kinds."""
    said = f"{one.fact.text} [{one.row}]"
    if one.fact.kind is FactKind.constraint:
        return f"\n- {said}" if one.fact.kind in opened else f"{RULES_HEADING}\n- {said}\n"
    if one.fact.kind in opened:
        return f", {said}"
    heading = "" if any(kind is not FactKind.constraint for kind in opened) else VALUES_HEADING
    return f"{heading}\n- {one.fact.kind}: {said}"


def _written(chosen: Sequence[Told]) -> str:
    rules = [f"- {one.fact.text} [{one.row}]" for one in reversed(chosen) if one.fact.kind is FactKind.constraint]
    kinds: dict[FactKind, list[str]] = {}
    for one in chosen:
        if one.fact.kind is not FactKind.constraint:
            kinds.setdefault(one.fact.kind, []).append(f"{one.fact.text} [{one.row}]")
    values = [f"- {kind}: {', '.join(kinds[kind])}" for kind in FactKind if kind in kinds]
    return "\n".join([*([RULES_HEADING, *rules] if rules else []), *([VALUES_HEADING, *values] if values else [])])
