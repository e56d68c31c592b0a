"""Regular expressions: compiled with a clear error, and read for the texts that every match must hold."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import regex

from host.errors import UsageError
from host.store.searching.folding import composed
from host.store.searching.needs import Holds, Need, all_of, any_of

FOREIGN = re.compile(r"\[\[|\[:|(?<!\\)(?:\\\\)*\{[^{}]*[a-z<=][^{}]*\}")  # sets in sets, fuzzy counts: ``re`` reads them in another way
SPELLINGS_OF_I = ("i", "i\u0307", "ı")  # what the letter matches without case, folded: the dotted and the dotless one too
ENDLESS = (MemoryError, RecursionError, OverflowError)  # from the search: a pattern that calls itself compiles
MOST_I = 2  # in one text that is looked for: each makes three of it


def compiled(pattern: str) -> regex.Pattern[str]:
    """The pattern, ready to search; UsageError naming the place where it is none."""
    text = composed(pattern)
    try:
        return regex.compile(text)
    except (regex.error, ValueError, *ENDLESS) as error:
        place = getattr(error, "pos", None)
        at = "" if place is None else f" at character {place + 1}" if place < len(text) else " at its end"
        said = getattr(error, "msg", None) or str(error) or type(error).__name__
        why = "it is nested too deeply" if isinstance(error, RecursionError) else said
        raise _refused(text, f"is no regular expression: {why}{at}") from error


def endless(pattern: regex.Pattern[str]) -> UsageError:
    """What to raise for one of ENDLESS."""
    return _refused(pattern.pattern, "cannot be searched for: it calls itself without end, or needs too much memory")


def _refused(text: str, why: str) -> UsageError:
    shown = text if len(text) <= 80 else text[:80] + "…"
    return UsageError(f"{shown!r} {why}", "mend the pattern, or search for the text as it stands with --mode literal")


def needed(pattern: str) -> Need | None:
    """What a text must hold where the pattern matches; None where nothing is certain."""
    text = composed(pattern)
    if FOREIGN.search(text):
        return None
    try:
        from re import _parser as parser  # type: ignore[attr-defined]  # private to Python: without it there is only a scan

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = parser.parse(text)
    except (ImportError, re.error, OverflowError, RecursionError, Warning):
        return None
    try:
        return all_of(_needs(tree, bool(tree.state.flags & re.IGNORECASE)))
    except RecursionError:
        return None


def _needs(tree: Iterable[tuple[Any, Any]], ignores_case: bool) -> Iterator[Need | None]:
    """What the steps of a sequence ask for; neighbouring characters are one text."""
    run = ""
    for step, given in tree:
        name = str(step)
        if name == "LITERAL" and _is_sure(chr(given), ignores_case):
            run += chr(given)
            continue
        yield from _texts(run, ignores_case)
        run = ""
        if name in STEPS:
            yield from STEPS[name](given, ignores_case)
    yield from _texts(run, ignores_case)


def _texts(run: str, ignores_case: bool) -> Iterator[Need | None]:
    """A run of characters as it may be spelt in a folded text."""
    folded = run.casefold()
    if not ignores_case or "i" not in folded:
        yield from [Holds(folded)] if folded else []
        return
    for piece in re.findall(f"[^i]*(?:i[^i]*){{1,{MOST_I}}}", folded):
        yield any_of(Holds("".join(spelt)) for spelt in product(*(SPELLINGS_OF_I if c == "i" else (c,) for c in piece)))


def _is_sure(character: str, ignores_case: bool) -> bool:
    """Whether it is known what all that matches the character folds to."""
    return not ignores_case or character.isascii()


def _branches(given: Any, ignores_case: bool) -> Iterator[Need | None]:
    yield any_of(all_of(_needs(branch, ignores_case)) for branch in given[1])


def _group(given: Any, ignores_case: bool) -> Iterator[Need | None]:
    _, added, removed, tree = given
    yield from _needs(tree, (ignores_case or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE)


def _atomic(given: Any, ignores_case: bool) -> Iterator[Need | None]:
    yield from _needs(given, ignores_case)


def _repeat(given: Any, ignores_case: bool) -> Iterator[Need | None]:
    least, _, tree = given
    if least:
        yield from _needs(tree, ignores_case)


STEPS = {
    "BRANCH": _branches,
    "SUBPATTERN": _group,
    "ATOMIC_GROUP": _atomic,
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "POSSESSIVE_REPEAT": _repeat,
}
"""Steps of a pattern that ask for something; all others match anything, or nothing that has to be there."""
