"""One chapter of a recording while it is written into the archive. Everything happens in the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from host.errors import NotStorable
from host.store.readings import FORGOTTEN, KEYS, Entry, Recognised, Returned, Told
from host.store.spelling import spelled
from host.store.sqlite.archive import End, SqliteArchive
from host.store.sqlite.bodies import Unreadable, bytes_in
from host.store.sqlite.recorded_views import RecordedViews
from host.store.sqlite.refusing import Erased
from host.store.sqlite.schema import LOWEST_ID
from host.store.times import to_microseconds
from host.store.values import FIRST_ID

ERASED_PLACE = 0  # among the keys, the position of what was erased and has none
NEWEST = """
SELECT body, cuts
FROM (
  SELECT position, body, cuts FROM messages WHERE conversation = :of AND position = :place
  UNION ALL
  SELECT position, body, cuts FROM messages WHERE conversation = :of AND place = :place
)
ORDER BY position DESC
LIMIT 1
"""
LOWEST = f"""
SELECT min(coalesce((SELECT min(id) FROM messages), {FIRST_ID + 1}),
           coalesce((SELECT value FROM store WHERE key = '{LOWEST_ID}'), {FIRST_ID + 1}), {FIRST_ID + 1})
"""
T = TypeVar("T")


@dataclass
class Writing:
    """One chapter while it is written. ``end`` is where the next row goes, None where the conversation ends."""

    archive: SqliteArchive
    views: RecordedViews
    connection: sqlite3.Connection
    client: str
    conversation: int
    keys: dict[str, int]
    erased: Erased
    end: End | None = None
    refused: dict[int, str] = field(default_factory=dict)

    def add(self, index: int, entry: Entry) -> int | None:
        """Keep an entry; the position where it went, the one of its first version where it is a new one."""
        match entry:
            case Returned(after):
                self._go_back(after)
                return None
            case Recognised(key, position):
                place = self._place_of(position)
            case Told(key):
                place = self._kept(index, entry)
        if key is not None and place is not None:
            self.keys.setdefault(spelled(key), place)
            if len(self.keys) > KEYS:  # or what is read at once would be known longer than what is read in parts
                del self.keys[next(iter(self.keys))]
        return place or None

    @property
    def has_refused_erased(self) -> bool:
        """Whether something was told that was erased before."""
        return FORGOTTEN in self.refused.values()

    def _go_back(self, after: str | None) -> None:
        place = None if after is None else self.keys.get(spelled(after), ERASED_PLACE)
        if place != ERASED_PLACE:
            self.views.go_back(place)

    def _kept(self, index: int, told: Told) -> int | None:
        try:
            body = self.archive.bytes_of(told.message)
        except NotStorable as error:
            self.refused[index] = str(error).splitlines()[0]
            return None
        replaces = self.keys.get(spelled(told.key)) if told.key is not None else None
        if replaces is not None and newest(self.connection, self.conversation, replaces, bytes_in) == body:
            return replaces
        if self._is_erased(told, replaces):
            self.refused[index] = FORGOTTEN
            return ERASED_PLACE
        before = self.end or self.archive.end_of(self.connection).unguarded()
        self.end = self.archive.kept(self.connection, before, told.message, body, replaces, to_microseconds(told.time))
        place = replaces or self.end.position
        if told.compaction:
            self.views.compact(self.end.position, place, told.message, told.time)
        return place

    def _is_erased(self, told: Told, replaces: int | None) -> bool:
        if replaces is not None and is_erased(self.erased, self.conversation, replaces):
            return True
        if self.erased.holds(told.message, self.conversation):
            return True
        return told.key is not None and self.erased.holds_key(self.client, spelled(told.key))

    def _place_of(self, position: int) -> int | None:
        asked = "SELECT coalesce(place, position) FROM messages WHERE conversation = ? AND position = ?"
        found = self.connection.execute(asked, (self.conversation, position)).fetchone()
        return found[0] if found else None


def is_erased(erased: Erased, conversation: int, place: int) -> bool:
    """Whether the message that a key names was erased, here or before it was told here."""
    return place == ERASED_PLACE or erased.is_buried(conversation, place)


def end_before_all(connection: sqlite3.Connection, count: int) -> End | None:
    """An end whose next rows, so many, have ids before all others; None where there is no room, and they come behind all others."""
    row = connection.execute(LOWEST).fetchone()[0] - count
    if row < 1 or not count:
        return None
    connection.execute("INSERT OR REPLACE INTO store (key, value) VALUES (?, ?)", (LOWEST_ID, row))
    return End.before(row)


def newest(
    connection: sqlite3.Connection, conversation: int, place: int, read: Callable[[sqlite3.Connection, object, str | None], T]
) -> T | None:
    """The newest version of a message, read as its bytes or as itself; None where it is gone, erased or damaged."""
    found = connection.execute(NEWEST, {"of": conversation, "place": place}).fetchone()
    try:
        return read(connection, *found) if found and found[0] is not None else None
    except Unreadable:
        return None
