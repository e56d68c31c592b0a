"""What a text must hold so that it can match: the sieve that an index is asked, before the text itself is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Holds:
    """This text, folded."""

    text: str


@dataclass(frozen=True)
class AllOf:
    """Each of these."""

    parts: tuple[Need, ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one of these."""

    parts: tuple[Need, ...]


Need = Holds | AllOf | AnyOf


def all_of(parts: Iterable[Need | None]) -> Need | None:
    """Each of the parts; None (nothing is known) among them asks for nothing."""
    known = tuple(dict.fromkeys(part for part in parts if part is not None))
    return known[0] if len(known) == 1 else AllOf(known) if known else None


def any_of(parts: Iterable[Need | None]) -> Need | None:
    """One of the parts; where nothing is known of one of them, nothing is known of all."""
    known = tuple(dict.fromkeys(parts))
    if not known or None in known:
        return None
    return known[0] if len(known) == 1 else AnyOf(tuple(part for part in known if part is not None))
