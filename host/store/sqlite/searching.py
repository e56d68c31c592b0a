"""Search in the file: the index proposes, the messages themselves decide (protocol Search)."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from host.messages.searchable import searchable
from host.store.query import Page, Query
from host.store.searching.answering import Candidate, Shown, answer
from host.store.searching.indexed import DENSE
from host.store.searching.needs import Need
from host.store.searching.presuming import MayMatch, presumption
from host.store.searching.ranking import Scored, Terms
from host.store.searching.scoring import best_of_texts
from host.store.sqlite.bodies import Unreadable, message_in
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import BREATH, WAITING, WAITING_INDEX, Facts, SearchIndex, State, asking
from host.store.sqlite.index_errors import IndexBroken
from host.store.sqlite.planning import Sieve, is_short, sieves_of
from host.store.sqlite.rows import ROWS, row_of, title_in
from host.store.sqlite.scope import scope_of
from host.store.sqlite.scoring import best_of_index
from host.store.values import Row

MOST_WAITING = 200  # rows that a search reads itself rather than index them first
FIRST_PAGE, LARGEST_PAGE = 32, 512  # candidates read at a time
SPAN = 1 << 20  # ids of the first look; the next are as many as HOLD allows
HOLD = 0.05  # seconds that one look may keep others from the connection: after a longer one the next goes half as far
PROBE = 300  # rows that are read before the index is asked for one or two characters
SHARE = 0.2  # of a search's time that indexing may take first
BROKEN = "the search index is missing or damaged, so the messages were read one by one; `ctxhost archive repair` makes it anew"
BUILDING = "the search index is not ready yet, so the messages were read one by one"
UNRANKED = "{:,} messages are not indexed yet and were not ranked"
DAMAGED = "damaged messages were passed over; `ctxhost archive verify` names them"
CUT_SHORT = "after {:g} s only the newest {:,} messages were ranked"
Guard = Callable[[sqlite3.Connection], AbstractContextManager[object]]


@dataclass(frozen=True)
class Select:
    """Rows below an id, newest first, with values of its own."""

    sql: str
    values: dict[str, Any] = field(default_factory=dict)


class SqliteSearch:
    """Finding archived messages. ``facts`` fills the column of that name while a message is indexed."""

    def __init__(self, connection: Connection, facts: Facts | None = None) -> None:
        self._connection = connection
        self.index = SearchIndex(connection, facts)

    def find(self, query: Query) -> Page:
        """One page of hits; UsageError for a bad pattern or another query's cursor, StoreError where the file cannot be read."""
        return answer(query, self._source)

    def catch_up(self, *, seconds: float | None = None) -> int:
        """Index what is not indexed yet, until it is done or the time is over; returns how many rows are left."""
        return self.index.catch_up(seconds)

    def _source(self, query: Query) -> SqliteSource:
        if self.index.state() is not State.READY or self.index.waiting(MOST_WAITING) == MOST_WAITING:
            self.index.catch_up_quickly(query.seconds * SHARE if query.indexing is None else query.indexing)
        return SqliteSource(self._connection, self.index, query)


class SqliteSource:
    """The messages that one query may look at (protocol Source)."""

    def __init__(self, connection: Connection, index: SearchIndex, query: Query) -> None:
        self.notices: list[str] = []
        self.plan: list[str] = []
        self._connection = connection
        self._index = index
        self._seconds = query.seconds
        self._indexing = query.seconds if query.indexing is None else query.indexing
        self._scope = scope_of(connection, query)

    def candidates(self, need: Need | None, below: int) -> Iterator[Candidate]:
        """Rows that may match, newest first: by the index as far as it is sound, else all of them."""
        at, may_match = min(below, self._scope.high + 1), presumption(need)
        if is_short(need):  # most likely in the very next rows, and an index of what is everywhere is slow
            for candidate in islice(self._read(self._everything(), at, may_match), PROBE):
                at = candidate[0]
                yield candidate
        try:
            if sieves := self._sieves(need):
                for candidate in self._read(self._sifted(sieves), at, may_match, asking):
                    at = candidate[0]
                    yield candidate
                return
        except IndexBroken:
            self.notices.append(BROKEN)
        self.plan.append("read every message, newest first")
        yield from self._read(self._everything(), at, may_match)

    def scores(self, terms: Terms, upto: int) -> list[Scored]:
        """The best rows up to an id, by their own text."""
        if self._index.waiting(1):
            self._index.catch_up_quickly(self._indexing)
        if left := self._index.waiting():
            self.notices.append(UNRANKED.format(left))
        total = self.total()
        try:
            if self._is_sound():
                return best_of_index(self._connection, terms, self._scope, upto, total)
        except IndexBroken:
            self.notices.append(BROKEN)
        return self._scores_without_index(terms, upto)

    def newest(self) -> int:
        """The highest id."""
        return self._connection.value("SELECT max(id) FROM messages") or 0

    def shown(self, ids: list[int]) -> list[Shown]:
        """The rows of these ids, in this order, without forgotten and damaged ones."""
        found = {shown.row.id: shown for shown in self._shown("m.id IN (SELECT value FROM json_each(?))", (json.dumps(ids),))}
        return [found[number] for number in ids if number in found]

    def beside(self, row: Row, first: int, last: int) -> list[Row]:
        """The rows at these positions of the row's conversation."""
        asked = "c.name = ? AND m.position BETWEEN ? AND ? ORDER BY m.position"
        return [shown.row for shown in self._shown(asked, (row.conversation, first, last))]

    def total(self) -> int:
        """How many messages there are to look at; positions are dense, so nothing is counted one by one."""
        where = f" WHERE {self._scope.of_conversations.format('c.id')}" if self._scope.of_conversations else ""
        of_each = "(SELECT max(m.position) FROM messages m WHERE m.conversation = c.id)"
        erased = "(SELECT count(*) FROM tombstones t WHERE t.conversation = c.id)"
        return self._connection.value(f"SELECT sum({of_each} - {erased}) FROM conversations c{where}", self._scope.values) or 0

    def passed(self, last: int) -> int:
        """How many of them have this id or a higher one."""
        where = f" AND {self._scope.of_conversations.format('+m.conversation')}" if self._scope.of_conversations else ""
        asked = f"SELECT count(*) FROM messages m WHERE m.id >= :low AND m.id < :below AND m.body IS NOT NULL{where}"
        spans = (self._scope.values | {"low": low, "below": low + SPAN} for low in range(last, self.newest() + 1, SPAN))
        return sum(self._connection.value(asked, values) for values in spans)

    def _sieves(self, need: Need | None) -> tuple[Sieve, ...]:
        if not self._is_sound():
            return ()
        with self._connection.snapshot() as connection, asking(connection):
            sieves = sieves_of(connection, need)
        self.plan += [f"ask {sieve}" for sieve in sieves]
        return sieves

    def _is_sound(self) -> bool:
        """Whether the index may be asked."""
        if self._index.state() is not State.READY:
            self.notices += [BUILDING] if self.newest() else []
            return False
        self._index.trust()
        return True

    def _sifted(self, sieves: tuple[Sieve, ...]) -> tuple[Select, ...]:
        """What the sieves let through, and what is not indexed yet."""
        waiting = f"""
            SELECT m.id, m.body, m.cuts
            FROM messages m INDEXED BY {WAITING_INDEX}
            WHERE {WAITING} AND m.id >= :low AND m.id < :below{self._scope.clause}
            ORDER BY m.id DESC
            LIMIT :size
            """
        return (*map(self._through, sieves), Select(waiting))

    def _through(self, sieve: Sieve) -> Select:
        table = sieve.table
        dense = f"SELECT rowid FROM {DENSE} WHERE {DENSE} MATCH :narrow AND rowid >= :low AND rowid < :below"
        narrowed = f"AND +{table}.rowid IN ({dense})" if sieve.narrowed_by else ""
        sql = f"""
            SELECT m.id, m.body, m.cuts
            FROM {table}
            CROSS JOIN messages m ON m.id = {table}.rowid
            WHERE {table} MATCH :match AND {table}.rowid >= :low AND {table}.rowid < :below
              AND m.body IS NOT NULL{self._scope.clause} {narrowed}
            ORDER BY {table}.rowid DESC
            LIMIT :size
            """
        return Select(sql, {"match": sieve.match, "narrow": sieve.narrowed_by})

    def _everything(self) -> tuple[Select, ...]:
        sql = f"""
            SELECT m.id, m.body, m.cuts
            FROM messages m
            WHERE m.id >= :low AND m.id < :below AND m.body IS NOT NULL{self._scope.clause}
            ORDER BY m.id DESC
            LIMIT :size
            """
        return (Select(sql),)

    def _read(self, selects: tuple[Select, ...], below: int, may_match: MayMatch = bool, guard: Guard = nullcontext) -> Iterator[Candidate]:
        """The rows of all SELECTs, newest first, each once, from the newest that there is now.

        Some ids are looked through at a time, in all SELECTs at one state of the file: between two looks a row may be
        indexed and move from one SELECT to the other. Of full pages only the ids that all of them reach down to are taken.
        """
        size, span, below = FIRST_PAGE, SPAN, min(below, self.newest() + 1)
        while (ids := self._scope.next_span(below, span)) is not None:
            values = {**self._scope.values, "low": ids.low, "below": ids.high + 1, "size": size}
            with self._connection.snapshot() as connection, guard(connection):
                began = time.monotonic()
                pages = [connection.execute(select.sql, values | select.values).fetchall() for select in selects]
                held = time.monotonic() - began
                span = span * 2 if held < HOLD / 2 else max(1, span // 2)
            full = [page[-1][0] for page in pages if len(page) == size]
            below = max(full, default=ids.low)
            rows = {row[0]: row for page in pages for row in page if row[0] >= below}
            for number in sorted(rows, reverse=True):
                _, body, cuts = rows[number]
                is_worth_it = cuts or not isinstance(body, bytes) or may_match(body)
                yield number, self._text(body, cuts) if is_worth_it else None
            size = min(size * 4, LARGEST_PAGE) if full else size
            if not rows and held > HOLD / 2:
                time.sleep(BREATH)

    def _text(self, body: object, cuts: str | None) -> str | None:
        """The searchable text of a row; None, which matches nothing, for a damaged one."""
        try:
            with self._connection.reading() as connection:
                message = message_in(connection, body, cuts)
        except Unreadable:
            self._tell_of_damage()
            return None
        return searchable(message)

    def _tell_of_damage(self) -> None:
        self.notices += [] if DAMAGED in self.notices else [DAMAGED]

    def _scores_without_index(self, terms: Terms, upto: int) -> list[Scored]:
        until = time.monotonic() + self._seconds
        rows = takewhile(lambda _: time.monotonic() < until, self._read(self._everything(), upto + 1))
        texts = [(number, text) for number, text in rows if text is not None]
        if time.monotonic() >= until:
            self.notices.append(CUT_SHORT.format(self._seconds, len(texts)))
        places = dict(best_of_texts(texts, terms))
        asked = "SELECT id, conversation, position FROM messages WHERE id IN (SELECT value FROM json_each(?))"
        found = self._connection.rows(asked, (json.dumps(list(places)),))
        return [Scored(number, conversation, position, places[number]) for number, conversation, position in found]

    def _shown(self, condition: str, values: Sequence[Any]) -> list[Shown]:
        with self._connection.snapshot() as connection:
            found = connection.execute(f"{ROWS} WHERE m.body IS NOT NULL AND {condition}", values)
            rows = [Shown(row_of(connection, row), title_in(row)) for row in found]
        if any(shown.row.damaged for shown in rows):
            self._tell_of_damage()
        return [shown for shown in rows if not shown.row.damaged]
