"""What a driver saw, and how it is compared with what a case expects."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]
"""Names with what was seen. A value may be an ``Each``, or a function of the rest of a key that ends with ``*`` here."""


class Each(dict[str, Any]):
    """One fact, seen in several ways: what is expected has to hold for all of them."""


class NoCheck(Exception):
    """Nothing here can judge this; the case is skipped with these words."""


class NoDriver(Exception):
    """Nothing here can run this; the case is skipped with these words."""


@dataclass(frozen=True)
class Miss:
    """One expectation that was not met."""

    key: str
    expected: Any
    got: Any


def contains(got: Any, wanted: Any) -> bool:
    """Whether all that is wanted is in there; texts in any case of letters."""
    wanted = wanted if isinstance(wanted, list) else [wanted]
    return all(_folded(each) in _folded(got) for each in wanted)


def lacks(got: Any, wanted: Any) -> bool:
    """Whether none of what is wanted away is in there; where nothing is, nothing can be told."""
    wanted = wanted if isinstance(wanted, list) else [wanted]
    return bool(got) and not any(_folded(each) in _folded(got) for each in wanted)


def equals(got: Any, wanted: Any) -> bool:
    """JSON's equality: true is not 1."""
    return bool(got == wanted) and isinstance(got, bool) == isinstance(wanted, bool)


def is_in(got: Any, wanted: Any) -> bool:
    """Whether it is one of those that are wanted."""
    return got in wanted


MISSING = object()
"""What is got where no fact answers."""

COMPARISONS: tuple[tuple[str, Callable[[Any, Any], bool]], ...] = (
    ("", equals),
    ("_at_least", operator.ge),
    ("_at_most", operator.le),
    ("_less_than", operator.lt),
    ("_shorter_than", operator.lt),
    ("_more_than", operator.gt),
    ("_longer_than", operator.gt),
    ("_not_contains", lacks),
    ("_contains", contains),
    ("_in", is_in),
    ("<=", operator.le),
    (">=", operator.ge),
    ("<", operator.lt),
    (">", operator.gt),
)
"""What follows the name of a fact in a key, and how the two values are compared then."""


def compared(key: str, wanted: Any, facts: Facts) -> Miss | None:
    """Compare by the table; NoCheck where no fact answers to the key."""
    for suffix, holds in COMPARISONS:
        got = fact(key.removesuffix(suffix), facts) if key.endswith(suffix) else MISSING
        if got is not MISSING:
            if isinstance(wanted, str) and " " in wanted and not any(isinstance(value, str) for value in ways(got).values()):
                raise NoCheck(f"no check for {key} = {wanted!r}")
            missed = {way: value for way, value in ways(got).items() if not _holds(holds, value, wanted)}
            return Miss(key, wanted, missed if isinstance(got, Each) else got) if missed else None
    raise NoCheck(f"no check for {key}")


def fact(name: str, facts: Facts) -> Any:
    """The fact of this name, or what the function for its beginning or end makes of the rest; MISSING where there is none."""
    if name in facts:
        return facts[name]
    for pattern, about in facts.items():
        before, star, after = pattern.partition("*")
        if star and len(name) > len(before + after) and name.startswith(before) and name.endswith(after):
            return about(name[len(before) : len(name) - len(after)])
    return MISSING


def needed(name: str, facts: Facts) -> Any:
    """The fact of this name; NoCheck where the driver has none."""
    got = fact(name, facts)
    if got is MISSING:
        raise NoCheck(f"no check for {name}")
    return got


def ways(got: Any) -> dict[str, Any]:
    """The ways in which a fact was seen; one without a name where it was seen once."""
    return got if isinstance(got, Each) else {"": got}


def _holds(holds: Callable[[Any, Any], bool], got: Any, wanted: Any) -> bool:
    try:
        return holds(got, wanted)
    except TypeError:
        return False


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return value.casefold()
    return [_folded(each) for each in value] if isinstance(value, list | tuple) else value
