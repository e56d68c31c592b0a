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
VERSIONS = "SELECT position, place FROM messages WHERE conversation = ? AND position > ? AND place IS NOT NULL ORDER BY position"


class RecordedViews:
    """The views of one imported conversation. Everything happens in the caller's transaction.

    One view is published for all that was taken back before ``publish_taken_back``, or the next compaction.
    """

    def __init__(self, connection: Connection, conversation: str, client: str) -> None:
        self._connection = connection
        self._views = SqliteViews(connection, conversation)
        self._client = client
        self._number = connection.value("SELECT id FROM conversations WHERE name = ?", (conversation,))
        self._places = _Places()
        self._window: _Window | None = None  # where something was taken back and is not published yet

    def compact(self, position: int, place: int, summary: Message, time: datetime | None) -> None:
        """The window becomes this summary, which is archived at ``position``, behind the instructions at the beginning.

        ``place`` is where it was first said: what came between that and a new version of it stays in the window.
        """
        self.publish_taken_back()
        instructions = [Entry(READ_AGAIN, row) for row in self._leading_instructions(place)]
        covers = (range(len(instructions) + 1, place),) if place > len(instructions) + 1 else ()
        later = self._shown(after=place, before=BEYOND) if place < position else []
        self._publish([*instructions, Entry(summary, position, Kind.SUMMARY, covers), *later], position, time)

    def take_back(self, position: int) -> None:
        """The window becomes what it was before the message at ``position``; nothing where a summary stands for that."""
        last = self._last()
        self._places.add(self._connection.rows(VERSIONS, (self._number, self._places.upto)), last)
        window = self._before_summary(position)
        if window.covers(position):
            return
        window.cut(position, self._places)
        window.extend(self._shown(after=window.upto, before=position), last)
        self._window = window

    def publish_taken_back(self) -> None:
        """Publish the window without what was taken back; nothing where nothing was."""
        if self._window is not None:
            self._publish([self._places.newest_of(entry) for entry in self._window.entries], self._window.upto, None)
            self._window = None

    def _before_summary(self, position: int) -> _Window:
        """The window; where it shows the summary at ``position``, the newest one from before that."""
        window = self._window or _Window.of(self._views.current())
        if position not in window.summaries(self._places):
            return window
        older = (_Window.of(view) for view in reversed(self._views.history()))
        return next((found for found in older if max(found.summaries(self._places), default=0) < position), _Window.of(None))

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


class _Places:
    """Which rows are versions of which, up to a position."""

    def __init__(self) -> None:
        self.upto = 0
        self._places: dict[int, int] = {}
        self._newest: dict[int, int] = {}

    def add(self, versions: Sequence[tuple[int, int]], upto: int) -> None:
        """Note versions, position and place, that came since."""
        self.upto = upto
        self._places.update(versions)
        self._newest.update((place, position) for position, place in versions)

    def of(self, row: int) -> int:
        """The place of a row."""
        return self._places.get(row, row)

    def newest_of(self, entry: Entry) -> Entry:
        """An original in its newest version; anything else as it is."""
        if entry.kind is not Kind.ORIGINAL or entry.row is None:
            return entry
        return replace(entry, row=self._newest.get(self.of(entry.row), entry.row))


class _Window:
    """The entries of a view while it changes: rows after ``upto`` follow them as they came."""

    def __init__(self, entries: Sequence[Entry], upto: int) -> None:
        self.entries = list(entries)
        self.upto = upto
        self._made = [entry for entry in entries if entry.kind is not Kind.ORIGINAL or entry.covers]

    @classmethod
    def of(cls, view: Published | None) -> _Window:
        """That of a version; an empty one while the window is the archive itself."""
        return cls(view.ledger.entries, view.upto) if view is not None else cls((), 0)

    def covers(self, position: int) -> bool:
        """Whether an entry stands for a position."""
        return any(position in span for entry in self._made for span in entry.covers)

    def summaries(self, places: _Places) -> list[int]:
        """The places of the recorded summaries that are shown."""
        return [places.of(entry.row) for entry in self._made if entry.kind is Kind.SUMMARY and entry.row is not None]

    def cut(self, position: int, places: _Places) -> None:
        """Take out what is archived from a position on. It stands at the end; what is not archived stays."""

        def stays(entry: Entry) -> bool:
            return entry.row is None or places.of(entry.row) < position

        at = len(self.entries)
        while at and ((row := self.entries[at - 1].row) is None or places.of(row) >= position):
            at -= 1
        self.entries[at:] = filter(stays, self.entries[at:])
        self._made = list(filter(stays, self._made))

    def extend(self, entries: Sequence[Entry], upto: int) -> None:
        """Originals that came behind it, up to a position."""
        self.entries.extend(entries)
        self.upto = upto
