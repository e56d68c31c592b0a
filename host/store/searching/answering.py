"""How a query becomes a page: the attempts in order, each candidate read, until the limit, the end or the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from host.messages.searchable import searchable
from host.store.query import Hit, Line, Mode, Page, Query
from host.store.searching.attempts import Attempt, attempts_of
from host.store.searching.cursors import Mark, cursor_of, mark_of
from host.store.searching.excerpts import excerpt, richest_excerpt, shortened
from host.store.searching.matching import Matcher
from host.store.searching.needs import Need
from host.store.searching.ranking import BEST, Scored, Terms, ranked
from host.store.values import Row

EMPTY = "the query is empty: nothing was looked for"
NO_WORD = "the query holds no word that could be ranked"
END_OF_IDS = 1 << 62


@dataclass(frozen=True)
class Shown:
    """A row with the title of its session."""

    row: Row
    title: str | None


Candidate = tuple[int, str | None]
"""Id and searchable text of a row; None in place of a text that is known not to match."""


class Source(Protocol):
    """Where the messages are, narrowed to a query's filters. ``notices`` and ``plan`` say how they were read."""

    notices: list[str]
    plan: list[str]

    def candidates(self, need: Need | None, below: int) -> Iterator[Candidate]:
        """Rows with a lower id that may match, newest first; none that matches is left out."""

    def scores(self, terms: Terms, upto: int) -> list[Scored]:
        """The best rows up to an id, by their own text."""

    def newest(self) -> int:
        """The highest id, 0 while there is none."""

    def shown(self, ids: list[int]) -> list[Shown]:
        """The rows of these ids, in this order, without forgotten and damaged ones."""

    def beside(self, row: Row, first: int, last: int) -> list[Row]:
        """The rows at these positions of the row's conversation."""

    def total(self) -> int:
        """How many messages the query's conversation, or the whole store, has."""

    def passed(self, last: int) -> int:
        """How many of them have this id or a higher one."""


class Stop(StrEnum):
    """Why a search ended."""

    END = "end"
    LIMIT = "limit"
    TIME = "time"


@dataclass(frozen=True)
class Stretch:
    """What was found on the way from one row down to another."""

    found: tuple[tuple[int, float | None], ...]  # id and score
    stop: Stop
    mark: Mark
    notices: tuple[str, ...] = field(default=())


def answer(query: Query, source_of: Callable[[Query], Source]) -> Page:
    """One page. UsageError for a bad pattern or a cursor of another query, and for nothing else that the query holds."""
    until = time.monotonic() + query.seconds
    mark, attempts = mark_of(query), attempts_of(query)
    if mark is not None:
        attempts = tuple(attempt for attempt in attempts if attempt.mode is mark.mode)
    if not attempts:
        return Page((), query.mode, "nothing was scanned", complete=True, notices=(NO_WORD if query.text.strip() else EMPTY,))
    source = source_of(query)
    tried: list[Mode] = []
    for attempt in attempts:
        tried.append(attempt.mode)
        stretch = stretch_of(query, attempt, source, mark, until)
        if stretch.found or stretch.stop is Stop.TIME:
            break
    return Page(
        hits=tuple(hits(query, attempt, stretch, source)),
        mode=attempt.mode,
        scanned=scanned(query, stretch, source),
        complete=stretch.stop is Stop.END,
        cursor=None if stretch.stop is Stop.END else cursor_of(query, stretch.mark),
        tried=tuple(tried),
        notices=tuple(dict.fromkeys((*stretch.notices, *source.notices))),
        plan=tuple(source.plan),
    )


def stretch_of(query: Query, attempt: Attempt, source: Source, mark: Mark | None, until: float) -> Stretch:
    """One attempt, from the mark on."""
    limit = max(1, query.limit)
    if isinstance(attempt.how, Terms):
        return best(attempt.how, source, mark or Mark(attempt.mode, source.newest()), limit)
    start = mark or Mark(attempt.mode, END_OF_IDS)
    return newest_first(attempt.how, source.candidates(attempt.how.need, start.below), start, limit, until)


def newest_first(matcher: Matcher, candidates: Iterable[Candidate], start: Mark, limit: int, until: float) -> Stretch:
    """The first hits among the candidates. At least one candidate is read, so that every page gets further."""
    found: list[tuple[int, float | None]] = []
    for row, text in candidates:
        mark = replace(start, below=row)
        try:
            if text is not None and matcher.finds(text, until - time.monotonic()):
                found.append((row, None))
        except TimeoutError:
            return Stretch(tuple(found), Stop.TIME, mark, ("the pattern takes too long on this message: it was left undecided",))
        if len(found) == limit:
            return Stretch(tuple(found), Stop.LIMIT, mark)
        if time.monotonic() > until:
            return Stretch(tuple(found), Stop.TIME, mark)
    return Stretch(tuple(found), Stop.END, start)


def best(terms: Terms, source: Source, mark: Mark, limit: int) -> Stretch:
    """The best hits that no page before has shown."""
    seen = set(mark.seen)
    left = [pair for pair in ranked(source.scores(terms, mark.below)) if pair[0] not in seen]
    page = tuple(left[:limit])
    notices = (f"only the {BEST:,} best messages are ranked",) if len(left) + len(seen) >= BEST else ()
    stop = Stop.LIMIT if len(left) > limit else Stop.END
    return Stretch(page, stop, replace(mark, seen=(*mark.seen, *(row for row, _ in page))), notices)


def hits(query: Query, attempt: Attempt, stretch: Stretch, source: Source) -> Iterator[Hit]:
    """The rows that were found, as they are shown."""
    scores, around = dict(stretch.found), richest_excerpt if isinstance(attempt.how, Terms) else excerpt
    for shown in source.shown([row for row, _ in stretch.found]):
        row = shown.row
        text = searchable(row.message) if row.message is not None else ""
        piece, spans = around(text, attempt.how.spans(text))
        beside = source.beside(row, row.position - query.context, row.position + query.context) if query.context > 0 else []
        yield Hit(
            conversation=row.conversation,
            session=row.session,
            title=shown.title,
            position=row.position,
            time=row.time,
            role=row.role,
            tool=row.tool,
            excerpt=piece,
            spans=spans,
            score=scores[row.id],
            superseded=row.superseded,
            before=tuple(line(other) for other in beside if other.position < row.position),
            after=tuple(line(other) for other in beside if other.position > row.position),
        )


def line(row: Row) -> Line:
    """A message beside a hit."""
    return Line(row.position, row.role, shortened(searchable(row.message)) if row.message is not None else "")


def scanned(query: Query, stretch: Stretch, source: Source) -> str:
    """In words, whether anything is left unread."""
    if stretch.stop is Stop.LIMIT:
        return f"stopped at the limit of {max(1, query.limit)}"
    if stretch.stop is Stop.END:
        total = source.total()
        return f"scanned all {total:,} messages" if total != 1 else "scanned the only message"
    at = next((f"{shown.row.conversation}:{shown.row.position}" for shown in source.shown([stretch.mark.below])), "a forgotten one")
    count = f"{source.passed(stretch.mark.below):,} of {source.total():,} scanned"
    return f"stopped after {query.seconds:g} s at message {at}: {count}"
