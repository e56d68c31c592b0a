"""Search in a store without an index: every row is read, with the same answers as in the file (protocol Search)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from string import ascii_uppercase

from host.messages.searchable import searchable
from host.store.query import Page, Query
from host.store.searching.answering import Candidate, Shown, answer
from host.store.searching.needs import Need
from host.store.searching.ranking import Scored, Terms
from host.store.searching.scoring import best_of_texts
from host.store.times import to_microseconds
from host.store.values import DIRECTORY, Row, Session

Rows = Callable[[], Iterator[Row]]
SessionOf = Callable[[str], Session | None]


LOWER = {ord(letter): letter.lower() for letter in ascii_uppercase}


class MemorySearch:
    """Finding messages among ``rows``, which gives all of them, newest first. ``session_of`` knows their sessions."""

    def __init__(self, rows: Rows, session_of: SessionOf = lambda session: None) -> None:
        self._rows = rows
        self._session_of = session_of

    def find(self, query: Query) -> Page:
        """One page of hits; UsageError for a bad pattern or another query's cursor."""
        return answer(query, lambda asked: MemorySource(asked, self._rows, self._session_of))

    def catch_up(self, *, seconds: float | None = None) -> int:
        """Nothing is indexed, so nothing is left."""
        return 0


class MemorySource:
    """The rows that one query may look at (protocol Source)."""

    def __init__(self, query: Query, rows: Rows, session_of: SessionOf) -> None:
        self.notices: list[str] = []
        self.plan: list[str] = ["read every message, newest first"]
        self._query = query
        self._rows = rows
        self._session_of = session_of

    def candidates(self, need: Need | None, below: int) -> Iterator[Candidate]:
        """All rows with a lower id, newest first."""
        return ((row.id, searchable(row.message)) for row in self._looked_at() if row.id < below and row.message is not None)

    def scores(self, terms: Terms, upto: int) -> list[Scored]:
        """The best rows up to an id, by their own text."""
        rows = {row.id: row for row in self._looked_at() if row.id <= upto}
        texts = ((row.id, searchable(row.message)) for row in rows.values() if row.message is not None)
        return [Scored(number, rows[number].conversation, rows[number].position, score) for number, score in best_of_texts(texts, terms)]

    def newest(self) -> int:
        """The highest id."""
        return next((row.id for row in self._rows()), 0)

    def shown(self, ids: list[int]) -> list[Shown]:
        """The rows of these ids, in this order, without forgotten ones."""
        wanted = set(ids)
        found = {row.id: Shown(row, self._title_of(row)) for row in self._rows() if row.id in wanted and row.message is not None}
        return [found[number] for number in ids if number in found]

    def beside(self, row: Row, first: int, last: int) -> list[Row]:
        """The rows at these positions of the row's conversation."""
        found = [
            other
            for other in self._rows()
            if other.conversation == row.conversation and first <= other.position <= last and other.message is not None
        ]
        return sorted(found, key=lambda other: other.position)

    def total(self) -> int:
        """How many messages the conversations have that the query is about."""
        return self.passed(0)

    def passed(self, last: int) -> int:
        """How many of them have this id or a higher one."""
        there = (row for row in self._rows() if row.id >= last and row.message is not None)
        return sum(self._query.conversation in (None, row.conversation) and self._is_in_directory(row) for row in there)

    def _looked_at(self) -> Iterator[Row]:
        return (row for row in self._rows() if is_in_scope(row, self._query) and self._is_in_directory(row))

    def _is_in_directory(self, row: Row) -> bool:
        session = self._session_of(row.session) if self._query.directories else None
        return not self._query.directories or (session is not None and session.about.get(DIRECTORY) in self._query.directories)

    def _title_of(self, row: Row) -> str | None:
        session = self._session_of(row.session)
        return (session.title or session.about.get("title")) if session is not None else None


def is_in_scope(row: Row, query: Query) -> bool:
    """Whether a row meets the query's filters."""
    moment = to_microseconds(row.time)
    return (
        query.conversation in (None, row.conversation)
        and (not query.sessions or row.session in query.sessions)
        and (not query.role or lowered(query.role) == lowered(row.role))
        and (not query.tool or lowered(query.tool) in lowered(row.tool).split("\n"))
        and (query.since is None or moment >= to_microseconds(query.since))
        and (query.before is None or moment < to_microseconds(query.before))
    )


def lowered(name: str) -> str:
    """A name for comparing, as SQLite lowers it: the letters of ASCII alone."""
    return name.translate(LOWER)
