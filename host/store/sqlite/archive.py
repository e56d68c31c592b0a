"""The archive of one conversation: every message at the moment it is accepted, byte for byte, for good."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from host.errors import Forgotten, NoSuchSession, NotStorable, Outrun, StoreError
from host.messages.canonical import identity
from host.messages.types import Message
from host.store.kept import UNSTORABLE, bytes_to_keep, fault_of, printable, role_of, shown, tool_of
from host.store.query import Query
from host.store.sqlite.bodies import Unreadable, chained, cut, keep_blob, message_in
from host.store.sqlite.connection import Connection
from host.store.sqlite.rows import ROWS, row_of
from host.store.sqlite.schema import HEAD, HIGHEST_ID
from host.store.sqlite.searching import SqliteSearch
from host.store.times import microseconds, to_microseconds
from host.store.values import FIRST_ID, Pulse, Row

PAGE = 500  # rows read at a time
LAST = 1 << 62  # as far as positions go
LAST_POSITION = "SELECT max(position) FROM messages WHERE conversation = ?"
PULSE = """
SELECT
  (SELECT coalesce(max(position), 0) FROM messages WHERE conversation = :of),
  (SELECT coalesce(max(version), 0) FROM views WHERE conversation = :of),
  (SELECT coalesce(max(id), 0) FROM receipts)
"""
NEWEST = """
SELECT m.position, m.digest, EXISTS (SELECT 1 FROM tombstones t WHERE t.conversation = c.id)
FROM conversations c
LEFT JOIN messages m ON m.conversation = c.id
WHERE c.id = ? AND c.name = ?
ORDER BY m.position DESC
LIMIT 1
"""
NEXT_ID = f"""
SELECT max(coalesce(max(id), 0), {FIRST_ID}, coalesce((SELECT max(value) FROM store WHERE key IN ('{HIGHEST_ID}', '{HEAD}')), 0)) + 1
FROM messages
"""
"""No id is given twice, not even that of a row that was deleted or lost: receipts and cursors go by ids."""


INSERT = """
INSERT INTO messages (id, conversation, position, place, time, role, tool, body, cuts, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True)
class End:
    """The end of the archive and of a conversation, as it was when the connection had made so many ``changes``.

    ``seen`` is SQLite's word for the last commit of another connection.
    """

    id: int
    position: int
    digest: bytes
    has_tombstones: bool
    seen: int
    changes: int

    @classmethod
    def before(cls, row: int) -> End:
        """Where the first row of a new conversation gets this id."""
        return cls(row - 1, 0, b"", has_tombstones=False, seen=0, changes=0)

    def unguarded(self) -> End:
        """The same for messages of which it is known that they were not erased."""
        return replace(self, has_tombstones=False)


class SqliteArchive:
    """All messages of one conversation (protocol Archive)."""

    def __init__(self, connection: Connection, conversation: str, key: bytes, search: SqliteSearch) -> None:
        self._connection = connection
        self._name = conversation
        self._key = key
        self._search = search
        self._tools: dict[str, str] = {}  # names of the calls made, by id
        self._number = number_of(connection, conversation)
        self._end: End | None = None

    def append(self, message: Message, *, replaces: int | None = None, time: datetime | None = None, after: int | None = None) -> int:
        """Keep a message as it is now; returns its position (see the protocol for what it raises)."""
        body = self.bytes_of(message)
        with self._connection.writing() as connection:
            self._refuse_outrun(connection, after)
            end = self.kept(connection, self.end_of(connection), message, body, replaces, to_microseconds(time))
        return self._ended(connection, end)

    def extend(self, messages: Sequence[Message], *, times: Sequence[datetime | None] | None = None, after: int | None = None) -> list[int]:
        """Keep many at once, in one transaction."""
        bodies = [self.bytes_of(message) for message in messages]
        said = [to_microseconds(time) for time in times] if times is not None else [to_microseconds(None)] * len(bodies)
        with self._connection.writing() as connection:
            self._refuse_outrun(connection, after)
            end = self.end_of(connection)
            first = end.position + 1
            for message, body, moment in zip(messages, bodies, said, strict=True):
                end = self.kept(connection, end, message, body, None, moment)
        return list(range(first, self._ended(connection, end) + 1))

    def read(self, position: int, until: int) -> list[Message]:
        """The messages from position to until, both included; what was forgotten is left out."""
        return [row.message for row in self.rows(position, until) if row.message is not None]

    def range(self) -> tuple[int, int]:
        """First and last position, (0, 0) while empty."""
        last = self._connection.value(LAST_POSITION, (self._number,))
        return (1, last) if last else (0, 0)

    def search(self, query: str, limit: int = 20) -> list[tuple[int, Message]]:
        """Rows that hold the text, case-insensitive, newest first."""
        page = self._search.find(Query(query, conversation=self._name, limit=limit))
        found = [(hit.position, self.read(hit.position, hit.position)) for hit in page.hits]
        return [(position, messages[0]) for position, messages in found if messages]

    def rows(self, position: int = 1, until: int | None = None) -> Iterator[Row]:
        """The rows from position to until, both included, superseded and forgotten ones too."""
        at, last = max(position, 1), LAST if until is None else min(until, LAST)
        while at <= last:
            page = self._page(at, min(last, at + PAGE - 1))
            if not page:
                return
            yield from page
            at = page[-1].position + 1

    def current(self) -> list[Row]:
        """The newest version of each message, in the order of the conversation."""
        return sorted((row for row in self.rows() if not row.superseded), key=lambda row: row.place)

    def places(self) -> dict[int, int]:
        """The place of each row that is a new version, by its position."""
        asked = "SELECT position, place FROM messages WHERE conversation = ? AND place IS NOT NULL"
        return dict(self._connection.rows(asked, (self._number,)))

    def pulse(self) -> Pulse:
        """What changes when anything changes."""
        (found,) = self._connection.rows(PULSE, {"of": self._number})
        return Pulse(*found)

    def _page(self, position: int, until: int) -> list[Row]:
        asked = f"{ROWS} WHERE m.conversation = ? AND m.position BETWEEN ? AND ? ORDER BY m.position"
        with self._connection.snapshot() as connection:
            return [row_of(connection, found) for found in connection.execute(asked, (self._number, position, until))]

    def bytes_of(self, message: Message) -> bytes:
        """The bytes to keep; what has none goes to quarantine and raises NotStorable."""
        try:
            return bytes_to_keep(message)
        except UNSTORABLE as error:
            self._quarantine(message, error)
            raise NotStorable(str(error)) from error

    def _quarantine(self, message: object, error: Exception) -> None:
        values = (self._number, microseconds(), printable(fault_of(error)), shown(message))
        with suppress(StoreError), self._connection.writing() as connection:  # the caller learns of the message all the same
            connection.execute("INSERT INTO quarantine (conversation, time, error, shown) VALUES (?, ?, ?, ?)", values)

    def kept(
        self, connection: sqlite3.Connection, end: End, message: Message, canonical_bytes: bytes, replaces: int | None, time: int
    ) -> End:
        """Insert a row behind the end, in the caller's transaction; the new end."""
        if end.has_tombstones:
            self._refuse_forgotten(connection, message)
        position = end.position + 1
        body = cut(canonical_bytes)
        for digest, content in body.blobs:
            if keep_blob(connection, digest, content):
                self._search.index.give_up(connection)  # it may hold other messages by what stood in the place of this string
        place = self._place_of(connection, replaces) if replaces is not None else None
        tool = tool_of(message, self._tools, lambda: self._callers(connection)) or None
        digest = chained(self._key, end.digest, canonical_bytes)
        values = (end.id + 1, self._number, position, place, time, role_of(message), tool, body.rest, body.cuts_text(), digest)
        connection.execute(INSERT, values)
        return End(end.id + 1, position, digest, end.has_tombstones, end.seen, connection.total_changes)

    def _ended(self, connection: sqlite3.Connection, end: End) -> int:
        """Remember the end once it is committed; within a caller's own transaction that is not known yet."""
        self._end = None if connection.in_transaction else end
        return end.position

    def end_of(self, connection: sqlite3.Connection) -> End:
        """Where the next row goes: as it was left by the last one, unless somebody has written since."""
        seen = connection.execute("PRAGMA data_version").fetchone()[0]
        if self._end is not None and self._end.seen == seen and self._end.changes == connection.total_changes:
            return self._end
        found = connection.execute(NEWEST, (self._number, self._name)).fetchone()
        if found is None:
            raise NoSuchSession(self._name)
        position, digest, has_tombstones = found
        newest = connection.execute(NEXT_ID).fetchone()[0] - 1
        return End(newest, position or 0, digest or b"", bool(has_tombstones), seen, connection.total_changes)

    def _refuse_outrun(self, connection: sqlite3.Connection, after: int | None) -> None:
        if after is None:
            return
        still_there(connection, self._number, self._name)
        last = connection.execute(LAST_POSITION, (self._number,)).fetchone()[0] or 0
        if last != after:
            raise Outrun(f"position {last} is there, position {after} was expected", what="nothing was kept")

    def _refuse_forgotten(self, connection: sqlite3.Connection, message: Message) -> None:
        found = connection.execute(
            "SELECT position FROM tombstones WHERE conversation = ? AND content = ?",
            (self._number, tombstone_content(self._key, message)),
        ).fetchone()
        if found is not None:
            raise Forgotten(found[0])

    def _place_of(self, connection: sqlite3.Connection, position: int) -> int | None:
        """The place of a message; None, a place of its own, for a version of what is not there."""
        found = connection.execute(
            "SELECT coalesce(place, position) FROM messages WHERE conversation = ? AND position = ?", (self._number, min(position, LAST))
        ).fetchone()
        return found[0] if found else None

    def _callers(self, connection: sqlite3.Connection) -> Iterator[Message]:
        """The newest messages with calls, newest first; without their large strings, which are no names."""
        before = connection.execute(
            "SELECT body FROM messages WHERE conversation = ? AND role = 'assistant' AND tool IS NOT NULL AND body IS NOT NULL "
            "ORDER BY position DESC LIMIT 20",
            (self._number,),
        )
        for (rest,) in before.fetchall():
            with suppress(Unreadable):
                yield message_in(connection, rest, None)


def number_of(connection: Connection, conversation: str) -> int:
    """The table's number of a conversation; raises NoSuchSession."""
    number: int | None = connection.value("SELECT id FROM conversations WHERE name = ?", (printable(conversation),))
    if number is None:
        raise NoSuchSession(conversation)
    return number


def still_there(connection: sqlite3.Connection, number: int, conversation: str) -> None:
    """Raise where a conversation was deleted meanwhile."""
    if connection.execute("SELECT 1 FROM conversations WHERE id = ? AND name = ?", (number, conversation)).fetchone() is None:
        raise NoSuchSession(conversation)


def tombstone_content(key: bytes, message: Message) -> bytes:
    """By what erased content is recognised when it comes again, without giving it away."""
    return chained(key, b"forgotten", identity(message))
