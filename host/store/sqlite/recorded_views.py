"""What another client's window held, as views: its compactions, and where its user went back to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.store.sqlite.connection import Connection
from host.store.sqlite.sessions import OPEN
from host.store.sqlite.views import INSERT, SqliteViews, folded, unfolded
from host.store.times import microseconds, to_microseconds
from host.store.values import IMPORT, Publication

SYSTEM = ("system", "developer")
READ_AGAIN: Message = {"role": ""}  # stands for an original in a view that is published: by its row it is read again
BEYOND = 1 << 62  # all positions are before it
SHOWN = """
SELECT max(position)
FROM messages
WHERE conversation = :of AND position > :after
GROUP BY coalesce(place, position)
HAVING coalesce(place, position) > :after AND coalesce(place, position) <= :upto
ORDER BY coalesce(place, position)
"""
NEWER = "SELECT position, place FROM messages WHERE conversation = ? AND place IS NOT NULL ORDER BY position"
SUMMARIES = f"SELECT id, row FROM made WHERE conversation = ? AND kind = '{Kind.SUMMARY}' AND row IS NOT NULL"
WINDOWS = "SELECT upto, entries FROM views WHERE conversation = ? ORDER BY version"
LAST = "SELECT max(position), max(coalesce(place, position)) FROM messages WHERE conversation = ?"


@dataclass(frozen=True)
class Window:
    """A version of a view as its table holds it: runs of positions, and made messages. Rows after ``upto`` follow as they came."""

    upto: int
    runs: list[list[int]]


class RecordedViews:
    """The views of one imported conversation. Everything happens in the caller's transaction.

    Every window that there was is kept, so that a user may go back to any message: also one on a branch that was left, or from
    before a compaction. Windows are handled as runs of positions: that costs the same however long the conversation is.
    """

    def __init__(self, connection: Connection, conversation: str, client: str) -> None:
        self._connection = connection
        self._views = SqliteViews(connection, conversation)
        self._client = client
        self._number = connection.value("SELECT id FROM conversations WHERE name = ?", (conversation,))
        self._windows: list[Window] | None = None  # oldest first, once they were asked for

    def compact(self, position: int, place: int, summary: Message, time: datetime | None) -> None:
        """The window becomes this summary, which is archived at ``position``, behind the instructions at the beginning.

        ``place`` is where it was first said: what came between that and a new version of it stays in the window.
        """
        instructions = [Entry(READ_AGAIN, row) for row in self._leading_instructions(place)]
        covers = (range(len(instructions) + 1, place),) if place > len(instructions) + 1 else ()
        later = [Entry(READ_AGAIN, row) for row in self._shown(place, BEYOND)] if place < position else []
        ledger = Ledger([*instructions, Entry(summary, position, Kind.SUMMARY, covers), *later])
        version = self._views.version()
        self._views.publish(Publication(ledger, position, engine=self._client, trigger=IMPORT), expected=version)
        if time is not None:
            with self._connection.writing() as connection:
                values = (to_microseconds(time), self._number, version + 1)
                connection.execute("UPDATE views SET time = ? WHERE conversation = ? AND version = ?", values)
        self._windows = None

    def go_back(self, place: int | None) -> None:
        """The window becomes what it was when the message at ``place`` was its newest; an empty one for None."""
        windows = self._known()
        last, last_place = self._connection.rows(LAST, (self._number,))[0]
        if last is None or (place is not None and place == last_place and all(window.upto < place for window in windows[-1:])):
            return  # it is the newest
        window = Window(last, [] if place is None else self._runs_at(place, windows))
        with self._connection.writing() as connection:
            session = connection.execute(OPEN, (self._number,)).fetchone()[0]
            values = (self._number, self._views.version() + 1, session, microseconds(), window.upto, json.dumps(window.runs))
            connection.execute(INSERT, (*values, self._client, IMPORT, "{}", None, None))
        windows.append(window)

    def _known(self) -> list[Window]:
        if self._windows is None:
            found = self._connection.rows(WINDOWS, (self._number,))
            self._windows = [Window(upto, json.loads(entries)) for upto, entries in found]
        return self._windows

    def _runs_at(self, place: int, windows: list[Window]) -> list[list[int]]:
        """The window in which this message was the newest, each message in its newest version."""
        newer = dict(self._connection.rows(NEWER, (self._number,)))
        newest = {first: row for row, first in newer.items()}
        base = self._base_of(place, windows, newer)
        runs = [run for run in base.runs if not run[0] or run[0] <= place]
        before = [[0, made] if made else [newest.get(newer.get(row, row), row)] for row, made in unfolded(runs)]
        kept = [entry for entry in before if len(entry) == 2 or newer.get(entry[0], entry[0]) <= place]
        return folded([*kept, *([row] for row in self._shown(base.upto, place))])

    def _base_of(self, place: int, windows: list[Window], newer: dict[int, int]) -> Window:
        """The newest window from before a message, or the one that begins with it where it is a summary."""
        rows = dict(self._connection.rows(SUMMARIES, (self._number,)))
        summaries = {made: newer.get(row, row) for made, row in rows.items()}
        for window in reversed(windows):
            if window.upto < place or any(not run[0] and summaries.get(run[1]) == place for run in window.runs):
                return window
        return Window(0, [])

    def _shown(self, after: int, upto: int) -> Iterator[int]:
        """The newest versions of the messages whose places lie behind a position, up to another, in their order."""
        return (row for (row,) in self._connection.rows(SHOWN, {"of": self._number, "after": after, "upto": upto}))

    def _leading_instructions(self, before: int) -> Iterator[int]:
        asked = "SELECT role FROM messages WHERE conversation = ? AND position = ?"
        for position in range(1, before):
            if self._connection.value(asked, (self._number, position)) not in SYSTEM:
                return
            yield position
