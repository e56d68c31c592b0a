"""What another client's window held, as views: its compactions, and what its user took back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.sqlite.connection import Connection
from host.store.sqlite.views import SqliteViews
from host.store.times import to_microseconds
from host.store.values import Publication

SYSTEM = ("system", "developer")
TRIGGER = "import"
READ_AGAIN: Message = {"role": ""}  # stands for an original in a view that is published: by its row it is read again
SHOWN = """
SELECT max(position)
FROM messages
WHERE conversation = :of AND position > :after
GROUP BY coalesce(place, position)
HAVING coalesce(place, position) > :after
ORDER BY coalesce(place, position)
"""


class RecordedViews:
    """The views of one imported conversation. Everything happens in the caller's transaction."""

    def __init__(self, connection: Connection, conversation: str, client: str) -> None:
        self._connection = connection
        self._views = SqliteViews(connection, conversation)
        self._client = client
        self._number = connection.value("SELECT id FROM conversations WHERE name = ?", (conversation,))

    def compact(self, position: int, summary: Message, time: datetime | None) -> None:
        """The window becomes this summary, which is archived at ``position``, behind the instructions at the beginning."""
        instructions = [Entry(READ_AGAIN, row) for row in self._leading_instructions(position)]
        covers = (range(len(instructions) + 1, position),) if position > len(instructions) + 1 else ()
        self._publish([*instructions, Entry(summary, position, Kind.SUMMARY, covers)], position, time)

    def take_back(self, position: int) -> None:
        """The window becomes what it was before the message at ``position``; nothing where a summary stands for that."""
        before = self._views.current()
        entries: Sequence[Entry] = before.ledger.entries if before is not None else ()
        upto = before.upto if before is not None else 0
        if any(position in span for entry in entries for span in entry.covers):
            return
        left = [entry for entry in entries if entry.row is None or entry.row < position]
        later = [Entry(READ_AGAIN, row) for row in self._rows_after(upto) if self._place_of(row) < position]
        self._publish([*left, *later], self._last(), None)

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

    def _rows_after(self, upto: int) -> list[int]:
        """The newest versions of the messages that came after a position, in their order."""
        return [row for (row,) in self._connection.rows(SHOWN, {"of": self._number, "after": upto})]

    def _place_of(self, row: int) -> int:
        place: int = self._connection.value(
            "SELECT coalesce(place, position) FROM messages WHERE conversation = ? AND position = ?", (self._number, row)
        )
        return place

    def _last(self) -> int:
        last: int = self._connection.value("SELECT coalesce(max(position), 0) FROM messages WHERE conversation = ?", (self._number,))
        return last
