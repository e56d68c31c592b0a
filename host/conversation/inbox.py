"""What comes into a conversation on its way to the archive, and what others put there meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from host.conversation.backlog import Backlog
from host.conversation.recognise import Recognised, recognise
from host.conversation.restoring import extended, restored, with_version, without_rows
from host.conversation.shelf import INDEX_ROWS, NotNow, Shelf
from host.conversation.view import View, receipt_of
from host.errors import StoreError, StoreUnavailable
from host.messages.canonical import identity
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.kept import erased
from host.store.values import REWIND, Publication, Row


class Inbox:
    """The writing side of a conversation. Views are values: each verb takes the one there is and gives the next."""

    def __init__(self, shelf: Shelf, warn: Callable[[str], None]) -> None:
        self._shelf = shelf
        self._archive = shelf.archive
        self._warn = warn
        self.backlog = Backlog(shelf.archive, warn)
        self._erasures = 0
        self._known: Ledger | None = None  # the newest version of every message; made when it is first needed
        self._known_upto = 0
        self._made: tuple[int, frozenset[bytes]] = (-1, frozenset())  # of which version of the view
        self._added = 0

    def restored(self) -> View:
        """The newest view with all rows after it, and what waits to be written."""
        pulse = self._archive.pulse()
        published = self._shelf.views.current() if self._shelf.views is not None else None
        ledger = restored(self._archive, published)
        last = max((entry.row or 0 for entry in ledger if entry.kind is Kind.ORIGINAL), default=0)
        for message in self.backlog.messages():
            ledger = ledger.append(Entry(message))
        self._known, self._erasures = None, pulse.erasures
        receipt, version = (receipt_of(published.receipt), published.version) if published is not None else (None, 0)
        return View(ledger=ledger, version=version, receipt=receipt, rows=max(pulse.last, last))

    def news(self, view: View, until: int | None = None) -> View | None:
        """The view with the rows that others added (before ``until``) and the view that they published; None for no news."""
        try:
            if self.backlog.written():
                return self.restored()
            pulse = self._archive.pulse()
            published = self._shelf.views is not None and pulse.version != view.version
            if until is None and (published or pulse.erasures != self._erasures):
                return self.restored()
            last = pulse.last if until is None else until - 1
            if last <= view.rows:
                return None
            ledger = extended(view.ledger, self._archive.rows(view.rows + 1, last), self._archive.places())
            return replace(view, ledger=ledger, rows=last)
        except StoreUnavailable as error:
            self._warn(f"what other processes added cannot be seen now: {error.what}")
            return None

    def keep(self, message: Message, said: datetime | None, *, after: int | None = None) -> Entry:
        """Archive a message. While the archive cannot be written its entry has no row, and it waits.

        Outrun where another message came in after the position ``after``.
        """
        if self.backlog:
            self.backlog.wait(message, said)
            return Entry(message)
        try:
            row = self._archive.append(message, time=said, after=after)
        except StoreUnavailable as error:
            self.backlog.wait(message, said, error)
            return Entry(message)
        self._added += 1
        entry = Entry(message, row)
        if self._known is not None and row == self._known_upto + 1:
            self._known, self._known_upto = self._known.append(entry), row
        return entry

    def revise(self, view: View, message: Message, position: int, *, after: int) -> View:
        """Archive a new version of a message, and show it where the old one is shown."""
        row = self._archive.append(message, replaces=position, after=after)
        self._added += 1
        self._known = None
        return replace(view, ledger=with_version(view.ledger, Entry(message, row), self._archive.places()), rows=row)

    def told_anew(self, view: View, message: Message, old: Entry, *, after: int) -> View:
        """A new version of a message that is archived, or still waits to be written, shown where the old one was shown."""
        if old.row is not None:
            return self.revise(view, message, old.row, after=after)
        self.backlog.replace(old.message, message)
        return replace(view, ledger=Ledger(Entry(message) if entry.message is old.message else entry for entry in view.ledger))

    def rewound(self, view: View, rows: tuple[int, ...]) -> View:
        """The view without messages that the caller took back; they stay in the archive."""
        view = replace(view, ledger=without_rows(view.ledger, rows))
        if self._shelf.views is None:
            return view
        publication = Publication(view.ledger, view.rows, self._shelf.state.engine, REWIND, {"rewound": list(rows)})
        return replace(view, version=self._shelf.views.publish(publication, expected=view.version).version)

    def recognised(self, messages: Sequence[Message]) -> Recognised:
        """Per message what it is to the archive, and to what still waits to be written."""
        known = self._all_known()
        for waiting in self.backlog.messages():
            known = known.append(Entry(waiting))
        return recognise(known, messages, lambda message: identity(message) in self._all_made())

    def refuse_backlog(self) -> None:
        """NotNow while messages wait: a view could not say which rows it stands for."""
        if self.backlog:
            raise NotNow("the archive cannot be written, and messages wait for it")

    def tidy(self, due: int = INDEX_ROWS) -> None:
        """Index what was added, if so many rows wait for it."""
        added, self._added = self._added, 0
        try:
            self._shelf.tidy(added, due)
        except StoreError as error:
            self._warn(f"new messages are not indexed yet and searches read them one by one: {error.what}")

    def _all_known(self) -> Ledger:
        last = self._archive.range()[1] if not self.backlog else self._known_upto
        if self._known is None or self._known_upto != last:
            rows = self._archive.current()
            self._known = Ledger(known_entry(row) for row in rows)
            self._known_upto = max((row.position for row in rows), default=0)
        return self._known

    def _all_made(self) -> frozenset[bytes]:
        version = self._archive.pulse().version
        if self._made[0] != version:
            views = self._shelf.views.history() if self._shelf.views is not None else []
            made = {id(entry): entry.message for view in views for entry in view.ledger if entry.kind is not Kind.ORIGINAL}
            self._made = (version, frozenset(map(identity, made.values())))
        return self._made[1]


def known_entry(row: Row) -> Entry:
    """An archived message; a hole that no told message equals, where it was erased."""
    if row.message is None:
        return Entry(erased(row.role), row.position, Kind.STUB)
    return Entry(row.message, row.position)
