"""Conversations and their sessions: titles, lineage, ends (hermes.md 8.4, 8.5)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from host.errors import NoSuchSession, TitleTaken
from host.messages.types import JSON
from host.store.kept import object_in, printable
from host.store.lineage import LAST, handed_over, new_name, rows_of_session
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import SearchIndex
from host.store.sqlite.receipts import DELETE, as_pairs, keep_receipt, runs
from host.store.sqlite.removal import remove_conversation
from host.store.sqlite.unfinished import begin, finish
from host.store.times import from_microseconds, microseconds
from host.store.titles import clean_title, next_title
from host.store.values import COMPRESSION, Session

SESSIONS = """
SELECT s.id, s.name, c.name, c.id, s.title, p.name, s.source, s.started, s.ended, s.end_reason, s.settings, s.about
FROM sessions s
JOIN conversations c ON c.id = s.conversation
LEFT JOIN sessions p ON p.id = s.parent
"""
OPEN = "SELECT session FROM segments WHERE conversation = ? ORDER BY id DESC LIMIT 1"
NEWEST = "coalesce((SELECT m.time FROM messages m WHERE m.conversation = s.conversation ORDER BY m.position DESC LIMIT 1), -1)"
HIGHEST = "coalesce((SELECT m.id FROM messages m WHERE m.conversation = s.conversation ORDER BY m.position DESC LIMIT 1), 0)"
DIRECTORY = "CASE WHEN json_valid(s.about) THEN json_extract(s.about, '$.working_directory') END"


class SqliteSessions:
    """All conversations of a store (protocol Sessions)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(self, *, title: str | None = None, source: str = "", about: JSON | None = None, settings: JSON | None = None) -> Session:
        """A new conversation with its first session."""
        cleaned = clean_title(title)
        with self._connection.writing() as connection:
            name = free_name(connection)
            if cleaned is not None:
                refuse_taken(connection, cleaned, None)
            now = microseconds()
            conversation = connection.execute("INSERT INTO conversations (name, created) VALUES (?, ?)", (name, now)).lastrowid or 0
            values = (name, conversation, None, cleaned, source, now, json.dumps(settings or {}), json.dumps(about or {}))
            begin_session(connection, values, conversation, first=1)
        return self.get(name)

    def get(self, session: str) -> Session:
        """The session of this id."""
        found = self._where("s.name = ?", (session,))
        if not found:
            raise NoSuchSession(session)
        return found[0]

    def find(self, name: str) -> Session:
        """A session by id, unique prefix of an id, title, or ``last``. A title finds its newest continuation."""
        if name == LAST and (newest := self.listed(limit=1)):
            return newest[0]
        if exact := self._where("s.name = ?", (name,)) or self._where("s.title = ?", (clean_title(name),)):
            return self._continued(exact[0]) if exact[0].id != name else exact[0]
        matches = self._where("substr(s.name, 1, length(?)) = ? ORDER BY s.id DESC LIMIT 5", (name, name)) if name else []
        if len(matches) != 1:
            raise NoSuchSession(name, [session.id for session in matches])
        return matches[0]

    def tip(self, conversation: str) -> Session:
        """The session in which the conversation goes on."""
        found = self._where(f"c.name = ? AND s.id = ({OPEN.replace('?', 'c.id')})", (conversation,))
        if not found:
            raise NoSuchSession(conversation)
        return found[0]

    def listed(self, *, conversation: str | None = None, directories: Sequence[str] = (), limit: int | None = None) -> list[Session]:
        """Sessions, the ones with the newest message first; of one conversation oldest first."""
        conditions = {"c.name = ?": conversation, f"{DIRECTORY} IN (SELECT value FROM json_each(?))": _json_list(directories)}
        given = {condition: value for condition, value in conditions.items() if value is not None}
        order = "s.id" if conversation is not None else f"{NEWEST} DESC, {HIGHEST} DESC, s.id DESC"
        return self._where(f"{' AND '.join(given) or '1'} ORDER BY {order} LIMIT ?", (*given.values(), -1 if limit is None else limit))

    def rename(self, session: str, title: str | None) -> Session:
        """Set or take away the title; one that an ancestor holds moves here."""
        cleaned, held = clean_title(title), self.get(session)
        with self._connection.writing() as connection:
            if cleaned is not None:
                refuse_taken(connection, cleaned, held.conversation)
                connection.execute("UPDATE sessions SET title = NULL WHERE title = ?", (cleaned,))
            connection.execute("UPDATE sessions SET title = ? WHERE name = ?", (cleaned, session))
        return self.get(session)

    def end(self, session: str, reason: str) -> Session:
        """End it; the first reason stays."""
        self.get(session)
        with self._connection.writing() as connection:
            end_session(connection, session, reason)
        return self.get(session)

    def set(self, session: str, **settings: object) -> Session:
        """Change settings; None takes one away."""
        with self._connection.writing() as connection:
            held = self.get(session)
            changed = {key: value for key, value in {**held.settings, **settings}.items() if value is not None}
            connection.execute("UPDATE sessions SET settings = ? WHERE name = ?", (json.dumps(changed), session))
        return self.get(session)

    def delete(self, conversation: str) -> int:
        """Erase a conversation whole, in one transaction, and then its bytes from the file; returns how many rows it had."""
        index = SearchIndex(self._connection)
        with self._connection.writing() as connection:
            found = connection.execute("SELECT id FROM conversations WHERE name = ?", (printable(conversation),)).fetchone()
            if found is None:
                raise NoSuchSession(conversation)
            removed = remove_conversation(connection, index, found[0])
            begin(connection, keep_receipt(connection, DELETE, {"conversations": [conversation], "ids": as_pairs(runs(removed.ids))}))
        finish(self._connection, index)  # what is left is remembered: `archive verify` and `doctor` say so
        return removed.rows

    def _continued(self, session: Session) -> Session:
        """The newest numbered variant of a title: where ``work`` was rotated to ``work #2``, the latter."""
        if session.end_reason != COMPRESSION:
            return session
        return self.tip(session.conversation)

    def _where(self, condition: str, parameters: tuple[Any, ...]) -> list[Session]:
        sendable = [printable(value) if isinstance(value, str) else value for value in parameters]
        with self._connection.snapshot() as connection:
            found = connection.execute(f"{SESSIONS} WHERE {condition}", sendable).fetchall()
            return [session_of(row, session_rows(connection, row[3], row[0])) for row in found]


def _json_list(names: Sequence[str]) -> str | None:
    return json.dumps(list(names)) if names else None


def session_of(row: tuple[Any, ...], rows: tuple[range, ...]) -> Session:
    """A session from a row of SESSIONS."""
    _, name, conversation, _, title, parent, source, started, ended, reason, settings, about = row
    return Session(
        id=name,
        conversation=conversation,
        title=title,
        parent=parent,
        source=source,
        started=from_microseconds(started),
        ended=None if ended is None else from_microseconds(ended),
        end_reason=reason,
        rows=rows,
        settings=json.loads(settings),
        about=object_in(about) or {},
    )


def session_rows(connection: sqlite3.Connection, conversation: int, session: int) -> tuple[range, ...]:
    """The positions that were archived while a session was the open one."""
    last = connection.execute("SELECT coalesce(max(position), 0) FROM messages WHERE conversation = ?", (conversation,)).fetchone()[0]
    segments = connection.execute("SELECT first, session FROM segments WHERE conversation = ? ORDER BY id", (conversation,)).fetchall()
    return rows_of_session(segments, session, last)


def begin_session(connection: sqlite3.Connection, values: tuple[Any, ...], conversation: int, *, first: int) -> int:
    """Insert a session and make it the open one from a position on; returns its number."""
    session = connection.execute(
        "INSERT INTO sessions (name, conversation, parent, title, source, started, settings, about) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values
    ).lastrowid
    go_on_in(connection, conversation, session or 0, first)
    return session or 0


def go_on_in(connection: sqlite3.Connection, conversation: int, session: int, first: int) -> None:
    """From this position on messages belong to this session."""
    connection.execute("INSERT INTO segments (conversation, first, session) VALUES (?, ?, ?)", (conversation, first, session))


def end_session(connection: sqlite3.Connection, session: str, reason: str) -> None:
    """End a session that has not ended."""
    connection.execute("UPDATE sessions SET ended = ?, end_reason = ? WHERE name = ? AND ended IS NULL", (microseconds(), reason, session))


def rotated(connection: sqlite3.Connection, conversation: int, *, first: int) -> int:
    """End the open session by compression and begin its child: title, source, origin and goal go over (hermes.md 8.4)."""
    parent = connection.execute(OPEN, (conversation,)).fetchone()[0]
    name, title, source, settings, about = connection.execute(
        "SELECT name, title, source, settings, about FROM sessions WHERE id = ?", (parent,)
    ).fetchone()
    end_session(connection, name, COMPRESSION)
    kept, taken = handed_over(json.loads(settings))
    connection.execute("UPDATE sessions SET settings = ? WHERE id = ?", (json.dumps(kept), parent))
    held = [held for (held,) in connection.execute("SELECT title FROM sessions WHERE title IS NOT NULL")] if title else []
    following = next_title(title, held) if title else None
    values = (free_name(connection), conversation, parent, following, source, microseconds(), json.dumps(taken), about)
    return begin_session(connection, values, conversation, first=first)


def refuse_taken(connection: sqlite3.Connection, title: str, conversation: str | None) -> None:
    """Raise where a session of another conversation has the title."""
    holder = connection.execute(
        "SELECT s.name, c.name FROM sessions s JOIN conversations c ON c.id = s.conversation WHERE s.title = ?", (title,)
    ).fetchone()
    if holder is not None and holder[1] != conversation:
        raise TitleTaken(title, holder[0])


def free_name(connection: sqlite3.Connection) -> str:
    """An id that no session has."""
    return new_name(lambda name: connection.execute("SELECT 1 FROM sessions WHERE name = ?", (name,)).fetchone() is not None)
