"""What comes into a conversation on its way to the archive, and what others put there meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from host.conversation.recognise import Told, recognise
from host.conversation.shelf import NotNow, Shelf, extended, place_in, restored, with_version
from host.conversation.view import View
from host.errors import StoreError, StoreUnavailable
from host.messages.canonical import identity
from host.messages.facts import Told as Fact
from host.messages.facts import facts_of, told
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.searchable import searchable
from host.messages.types import Message

FACT_ROWS = 20_000  # the newest: what was said longer ago is found by search, and no restart waits for it
RETRY_SECONDS = 1.0  # between two tries to write what could not be written


class Inbox:
    """The writing side of a conversation. Views are values: each verb takes the one there is and gives the next."""

    def __init__(self, shelf: Shelf, warn: Callable[[str], None]) -> None:
        self._shelf = shelf
        self._archive = shelf.archive
        self._warn = warn
        self._backlog: list[tuple[Message, datetime]] = []  # accepted, not written yet
        self._next_try = 0.0
        self._known: Ledger | None = None  # the newest version of every message; made when it is first needed
        self._known_upto = 0
        self._made: tuple[int, frozenset[bytes]] = (-1, frozenset())  # of which version of the view
        self._added = 0
        self._told: list[Fact] = []
        self._told_upto = 0

    def restored(self) -> View:
        """The newest view with all rows after it."""
        published = self._shelf.views.current() if self._shelf.views is not None else None
        last = self._archive.range()[1]
        ledger = restored(self._archive, published)
        return View(ledger=ledger, version=published.version if published else 0, rows=last)

    def keep(self, message: Message, said: datetime | None) -> Entry:
        """Archive a message. While the archive cannot be written its entry has no row, and it waits."""
        if self._backlog:
            return self._wait(message, said, None)
        try:
            row = self._archive.append(message, time=said)
        except StoreUnavailable as error:
            return self._wait(message, said, error)
        self._added += 1
        entry = Entry(message, row)
        if self._known is not None and row == self._known_upto + 1:
            self._known, self._known_upto = self._known.append(entry), row
        return entry

    def revise(self, view: View, message: Message, position: int) -> View:
        """Archive a new version, and show it where the old one is shown."""
        index = place_in(view.ledger, self._archive, self._place_of(position))
        row = self._archive.append(message, replaces=position)
        self._added += 1
        view = self.news(view, row) or view
        entry = Entry(message, row)
        if self._known is not None and row == self._known_upto + 1:
            at = next((i for i, known in enumerate(self._known) if known.row == position), None)
            self._known, self._known_upto = with_version(self._known, entry, at), row
        return replace(view, ledger=with_version(view.ledger, entry, index), rows=row)

    def recognised(self, messages: Sequence[Message]) -> list[Told]:
        """Per message what it is to the archive."""
        return recognise(self._all_known(), messages, lambda message: identity(message) in self._all_made())

    def told(self) -> list[Fact]:
        """The facts of the conversation as they were said; each row is read once."""
        last = self._archive.range()[1]
        for row in self._archive.rows(max(self._told_upto, last - FACT_ROWS) + 1, last):
            if row.message is not None:
                text = searchable(row.message)
                self._told += told(facts_of(row.message), text, row=row.position, role=row.role)
        self._told_upto = last
        return self._told

    def flushed(self, view: View) -> View:
        """Write what waits, if the archive can be written again."""
        if not self._backlog or time.monotonic() < self._next_try:
            return view
        try:
            rows = iter(self._archive.extend([message for message, _ in self._backlog], times=[said for _, said in self._backlog]))
        except StoreError:
            self._next_try = time.monotonic() + RETRY_SECONDS
            return view
        self._warn(f"the archive can be written again: {len(self._backlog)} messages that waited are kept")
        self._backlog.clear()
        entries = [replace(entry, row=next(rows)) if entry.row is None and entry.kind is Kind.ORIGINAL else entry for entry in view.ledger]
        return replace(view, ledger=Ledger(entries), rows=self._archive.range()[1])

    def news(self, view: View, until: int | None = None) -> View | None:
        """The view with the rows that others added (before ``until``) and the view that they published; None for no news."""
        try:
            newer = self.flushed(view)
            if until is None and self._shelf.views is not None and self._shelf.version() != newer.version:
                return self.restored()
            last = self._archive.range()[1] if until is None else until - 1
            if last > newer.rows:
                ledger = extended(newer.ledger, self._archive, self._archive.rows(newer.rows + 1, last))
                newer = replace(newer, ledger=ledger, rows=last)
        except StoreUnavailable as error:
            self._warn(f"what other processes added cannot be seen now: {error.what}")
            return None
        return None if newer is view else newer

    def refuse_backlog(self) -> None:
        """NotNow while messages wait: a view could not say which rows it stands for."""
        if self._backlog:
            raise NotNow("the archive cannot be written, and messages wait for it")

    def tidy(self) -> None:
        """Index what was added, if it is enough to be worth a transaction."""
        added, self._added = self._added, 0
        try:
            self._shelf.tidy(added)
        except StoreError as error:
            self._warn(f"new messages are not indexed yet and searches read them one by one: {error.what}")

    def _wait(self, message: Message, said: datetime | None, error: StoreUnavailable | None) -> Entry:
        if error is not None:
            self._warn(f"messages are not archived now and are kept as soon as it goes again: {error.what}")
            self._next_try = time.monotonic() + RETRY_SECONDS
        self._backlog.append((message, said or datetime.now(UTC)))
        return Entry(message)

    def _place_of(self, position: int) -> int:
        return next((row.place for row in self._archive.rows(position, position)), position)

    def _all_known(self) -> Ledger:
        last = self._archive.range()[1]
        if self._known is None or self._known_upto != last:
            rows = self._archive.current()
            self._known = Ledger(Entry(row.message, row.position) for row in rows if row.message is not None)
            self._known_upto = last
        return self._known

    def _all_made(self) -> frozenset[bytes]:
        version = self._shelf.version()
        if self._made[0] != version:
            views = self._shelf.views.history() if self._shelf.views is not None else []
            made = {id(entry): entry.message for view in views for entry in view.ledger if entry.kind is not Kind.ORIGINAL}
            self._made = (version, frozenset(map(identity, made.values())))
        return self._made[1]
