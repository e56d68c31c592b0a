"""What makes a message a hit: three ways to look at its text. Each knows its sieve and where it matches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

import regex

from host.store.searching.folding import Origins, composed, fold
from host.store.searching.needs import Holds, Need, all_of, any_of
from host.store.searching.patterns import ENDLESS, compiled, endless, needed

SHOWN_WORDS = 64  # of a query, whose places are looked for in a hit
SHOWING_SECONDS = 0.5  # for the places of a pattern that was found already
Span = tuple[int, int]


class Matcher(Protocol):
    """A question to one text."""

    @property
    def need(self) -> Need | None:
        """What every text that matches must hold, None where nothing is certain."""

    def finds(self, text: str, seconds: float) -> bool:
        """Whether the text matches; TimeoutError where that took longer."""

    def spans(self, text: str) -> Iterator[Span]:
        """Where it matches, first to last, as offsets into the text as written."""


@dataclass(frozen=True)
class Words:
    """At least one of the groups with all its words, each somewhere in the text; a literal is one group of one."""

    groups: tuple[tuple[str, ...], ...]  # folded
    _longest_first: tuple[tuple[str, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ordered = tuple(tuple(sorted(dict.fromkeys(group), key=len, reverse=True)) for group in self.groups)
        object.__setattr__(self, "_longest_first", ordered)

    @property
    def need(self) -> Need | None:
        """The words themselves."""
        return any_of(all_of(map(Holds, group)) for group in self._longest_first)

    def finds(self, text: str, seconds: float) -> bool:
        """Whether a group is in the text whole."""
        folded = fold(text)
        return any(all(word in folded for word in group) for group in self._longest_first)

    def spans(self, text: str) -> Iterator[Span]:
        """Where the words are."""
        folded = fold(text)
        words = sorted({word for group in self.groups for word in group[:SHOWN_WORDS]}, key=len, reverse=True)[:SHOWN_WORDS]
        origins = Origins(text, fold)
        for found in re.finditer("|".join(map(re.escape, words)), folded):
            yield origins.span(*found.span())


class Pattern:
    """A regular expression, case as written."""

    def __init__(self, pattern: str) -> None:
        self._compiled: regex.Pattern[str] = compiled(pattern)
        self.need = needed(pattern)

    def finds(self, text: str, seconds: float) -> bool:
        """Whether the pattern matches somewhere."""
        try:
            return self._compiled.search(composed(text), timeout=max(seconds, 0.001)) is not None
        except ENDLESS as error:
            raise endless(self._compiled) from error

    def spans(self, text: str) -> Iterator[Span]:
        """Where it matches at least one character; as far as it gets in its time."""
        origins = Origins(text, composed)
        with suppress(TimeoutError, *ENDLESS):
            for found in self._compiled.finditer(composed(text), timeout=SHOWING_SECONDS):
                if found.end() > found.start():
                    yield origins.span(*found.span())


def literal(text: str) -> Words:
    """The text as it stands."""
    return Words(((fold(text),),))
