"""The archive of one conversation: every message at the moment it is accepted, byte for byte, for good."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from host.errors import Forgotten, NoSuchSession, NotStorable, StoreError
from host.messages.canonical import identity
from host.messages.types import Message
from host.store.kept import UNSTORABLE, bytes_to_keep, fault_of, message_of, printable, role_of, shown, tool_of
from host.store.query import Query
from host.store.sqlite.bodies import chained, cut, whole
from host.store.sqlite.connection import Connection
from host.store.sqlite.schema import FIRST_ID
from host.store.sqlite.searching import SqliteSearch
from host.store.times import from_microseconds, microseconds, to_microseconds
from host.store.values import Row

PAGE = 500  # rows read at a time
LAST = 1 << 62  # as far as positions go
NEWEST = """
SELECT m.position, m.digest, EXISTS (SELECT 1 FROM tombstones t WHERE t.conversation = c.id)
FROM conversations c
LEFT JOIN messages m ON m.conversation = c.id
WHERE c.id = ? AND c.name = ?
ORDER BY m.position DESC
LIMIT 1
"""
ROWS = """
SELECT m.id, c.name, s.name, m.position, m.place, m.time, m.role, m.body, m.cuts, m.tool,
  EXISTS (
    SELECT 1
    FROM messages n
    WHERE n.conversation = m.conversation AND n.place = coalesce(m.place, m.position) AND +n.position > m.position
  )
FROM messages m
JOIN conversations c ON c.id = m.conversation
JOIN sessions s ON s.id = (
  SELECT g.session
  FROM segments g
  WHERE g.conversation = m.conversation AND g.first <= m.position
  ORDER BY g.id DESC
  LIMIT 1
)
"""


class SqliteArchive:
    """All messages of one conversation (protocol Archive)."""

    def __init__(self, connection: Connection, conversation: str, key: bytes, search: SqliteSearch) -> None:
        self._connection = connection
        self._name = conversation
        self._key = key
        self._search = search
        self._tools: dict[str, str] = {}  # names of the calls made, by id
        self._number = number_of(connection, conversation)

    def append(self, message: Message, *, replaces: int | None = None, time: datetime | None = None) -> int:
        """Keep a message as it is now; returns its position (see the protocol for what it raises)."""
        body = self._bytes(message)
        with self._connection.writing() as connection:
            return self._kept(connection, message, body, replaces, to_microseconds(time))

    def extend(self, messages: Sequence[Message], *, times: Sequence[datetime | None] | None = None) -> list[int]:
        """Keep many at once, in one transaction."""
        bodies = [self._bytes(message) for message in messages]
        said = [to_microseconds(time) for time in times] if times is not None else [to_microseconds(None)] * len(bodies)
        with self._connection.writing() as connection:
            return [self._kept(connection, message, body, None, time) for message, body, time in zip(messages, bodies, said, strict=True)]

    def read(self, position: int, until: int) -> list[Message]:
        """The messages from position to until, both included; what was forgotten is left out."""
        return [row.message for row in self.rows(position, until) if row.message is not None]

    def range(self) -> tuple[int, int]:
        """First and last position, (0, 0) while empty."""
        last = self._connection.value("SELECT max(position) FROM messages WHERE conversation = ?", (self._number,))
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

    def _page(self, position: int, until: int) -> list[Row]:
        asked = f"{ROWS} WHERE m.conversation = ? AND m.position BETWEEN ? AND ? ORDER BY m.position"
        with self._connection.snapshot() as connection:
            return [row_of(connection, found) for found in connection.execute(asked, (self._number, position, until))]

    def _bytes(self, message: Message) -> bytes:
        try:
            return bytes_to_keep(message)
        except UNSTORABLE as error:
            self._quarantine(message, error)
            raise NotStorable(str(error)) from error

    def _quarantine(self, message: object, error: Exception) -> None:
        values = (self._number, microseconds(), printable(fault_of(error)), shown(message))
        with suppress(StoreError), self._connection.writing() as connection:  # the caller learns of the message all the same
            connection.execute("INSERT INTO quarantine (conversation, time, error, shown) VALUES (?, ?, ?, ?)", values)

    def _kept(self, connection: sqlite3.Connection, message: Message, canonical_bytes: bytes, replaces: int | None, time: int) -> int:
        last = connection.execute(NEWEST, (self._number, self._name)).fetchone()
        if last is None:
            raise NoSuchSession(self._name)
        if last[2]:
            self._refuse_forgotten(connection, message)
        position, previous = (last[0] + 1, last[1]) if last[0] else (1, b"")
        body = cut(canonical_bytes)
        for blob in body.blobs:
            connection.execute("INSERT OR IGNORE INTO blobs (digest, body) VALUES (?, ?)", blob)
        place = self._place_of(connection, replaces) if replaces is not None else None
        tool = tool_of(message, self._tools, lambda: self._callers(connection)) or None
        connection.execute(
            """
            INSERT INTO messages (id, conversation, position, place, time, role, tool, body, cuts, digest)
            VALUES ((SELECT max(coalesce(max(id), 0), ?) + 1 FROM messages), ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            (
                FIRST_ID,
                self._number,
                position,
                place,
                time,
                role_of(message),
                tool,
                body.rest,
                body.cuts_text(),
                chained(self._key, previous, canonical_bytes),
            ),
        )
        return position

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
        """The newest messages with calls, newest first."""
        before = connection.execute(
            "SELECT body FROM messages WHERE conversation = ? AND role = 'assistant' AND tool IS NOT NULL AND cuts IS NULL "
            "ORDER BY position DESC LIMIT 20",
            (self._number,),
        )
        return (message_of(body) for (body,) in before.fetchall() if body is not None)


def row_of(connection: sqlite3.Connection, found: Sequence[Any]) -> Row:
    """A row of the SELECT in ROWS."""
    number, conversation, session, position, place, time, role, body, cuts, tool, superseded = found
    return Row(
        id=number,
        conversation=conversation,
        session=session,
        position=position,
        place=place or position,
        time=from_microseconds(time),
        role=role,
        message=None if body is None else message_of(whole(connection, body, cuts)),
        tool=tool or "",
        superseded=bool(superseded),
    )


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
