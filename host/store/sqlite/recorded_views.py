"""What another client's window held, as views: its compactions, and what its user took back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.sqlite.connection import Connection
from host.store.sqlite.views import SqliteViews
from host.store.times import to_microseconds
from host.store.values import Publication, Published

SYSTEM = ("system", "developer")
TRIGGER = "import"
READ_AGAIN: Message = {"role": ""}  # stands for an original in a view that is published: by its row it is read again
BEYOND = 1 << 62  # all positions are before it
SHOWN = """
SELECT max(position)
FROM messages
WHERE conversation = :of AND position > :after
GROUP BY coalesce(place, position)
HAVING coalesce(place, position) > :after AND coalesce(place, position) < :before
ORDER BY coalesce(place, position)
"""
VERSIONS = "SELECT position, place FROM messages WHERE conversation = ? AND place IS NOT NULL ORDER BY position"


class RecordedViews:
    """The views of one imported conversation. Everything happens in the caller's transaction."""

    def __init__(self, connection: Connection, conversation: str, client: str) -> None:
        self._connection = connection
        self._views = SqliteViews(connection, conversation)
        self._client = client
        self._number = connection.value("SELECT id FROM conversations WHERE name = ?", (conversation,))

    def compact(self, position: int, place: int, summary: Message, time: datetime | None) -> None:
        """The window becomes this summary, which is archived at ``position``, behind the instructions at the beginning.

        ``place`` is where it was first said: what came between that and a new version of it stays in the window.
        """
        instructions = [Entry(READ_AGAIN, row) for row in self._leading_instructions(place)]
        covers = (range(len(instructions) + 1, place),) if place > len(instructions) + 1 else ()
        later = self._shown(after=place, before=BEYOND) if place < position else []
        self._publish([*instructions, Entry(summary, position, Kind.SUMMARY, covers), *later], position, time)

    def take_back(self, position: int) -> None:
        """The window becomes what it was before the message at ``position``; nothing where a summary stands for that."""
        places = dict(self._connection.rows(VERSIONS, (self._number,)))
        base = self._without_summary(position, places)
        entries: Sequence[Entry] = base.ledger.entries if base is not None else ()
        upto = base.upto if base is not None else 0
        if any(position in span for entry in entries for span in entry.covers):
            return
        newest = {place: row for row, place in places.items()}
        left = [_newest(entry, places, newest) for entry in entries if entry.row is None or places.get(entry.row, entry.row) < position]
        self._publish([*left, *self._shown(after=upto, before=position)], self._last(), None)

    def _without_summary(self, position: int, places: dict[int, int]) -> Published | None:
        """The newest view; where it shows the summary at ``position``, the newest one from before that."""
        newest = self._views.current()
        if newest is None or position not in _summaries(newest, places):
            return newest
        older = (view for view in reversed(self._views.history()) if max(_summaries(view, places), default=0) < position)
        return next(older, None)

    def _publish(self, entries: Sequence[Entry], upto: int, time: datetime | None) -> None:
        version = self._views.version()
        self._views.publish(Publication(Ledger(entries), upto, engine=self._client, trigger=TRIGGER), expected=version)
        if time is not None:
            with self._connection.writing() as connection:
                values = (to_microseconds(time), self._number, version + 1)
                connection.execute("UPDATE views SET time = ? WHERE conversation = ? AND version = ?", values)

    def _leading_instructions(self, before: int) -> Iterator[int]:
        asked = "SELECT role FROM messages WHERE conversation = ? AND position = ?"
        for position in range(1, before):
            if self._connection.value(asked, (self._number, position)) not in SYSTEM:
                return
            yield position

    def _shown(self, *, after: int, before: int) -> list[Entry]:
        """The newest versions of the messages whose places lie between two positions, in their order."""
        found = self._connection.rows(SHOWN, {"of": self._number, "after": after, "before": before})
        return [Entry(READ_AGAIN, row) for (row,) in found]

    def _last(self) -> int:
        last: int = self._connection.value("SELECT coalesce(max(position), 0) FROM messages WHERE conversation = ?", (self._number,))
        return last


def _summaries(view: Published, places: dict[int, int]) -> list[int]:
    """The places of the recorded summaries that a view shows."""
    return [places.get(entry.row, entry.row) for entry in view.ledger if entry.kind is Kind.SUMMARY and entry.row is not None]


def _newest(entry: Entry, places: dict[int, int], newest: dict[int, int]) -> Entry:
    """An original of a view in its newest version."""
    if entry.kind is not Kind.ORIGINAL or entry.row is None:
        return entry
    return replace(entry, row=newest.get(places.get(entry.row, entry.row), entry.row))
