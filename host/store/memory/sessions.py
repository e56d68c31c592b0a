"""Conversations and their sessions, in memory (hermes.md 8.4, 8.5)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from host.errors import NoSuchSession
from host.messages.types import JSON
from host.store.lineage import LAST, handed_over, rows_of_session
from host.store.memory.tables import Conversation, Tables, with_documents
from host.store.times import from_microseconds, microseconds
from host.store.titles import clean_title, next_title
from host.store.values import COMPRESSION, DIRECTORY, UNDONE, Session

MOST_CANDIDATES = 5  # of an ambiguous prefix


class MemorySessions:
    """All conversations of a store in memory (protocol Sessions)."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def create(self, *, title: str | None = None, source: str = "", about: JSON | None = None, settings: JSON | None = None) -> Session:
        """A new conversation with its first session."""
        cleaned = clean_title(title)
        with self._tables.lock:
            if cleaned is not None:
                self._tables.refuse_taken(cleaned, None)
            return self._handed_out(self._tables.begun(title=cleaned, source=source, about=about, settings=settings))

    def get(self, session: str) -> Session:
        """The session of this id."""
        with self._tables.lock:
            return self._handed_out(self._held(session))

    def find(self, name: str) -> Session:
        """A session by id, unique prefix of an id, title, or ``last``. A title finds its newest continuation."""
        with self._tables.lock:
            if name == LAST and (newest := self.listed(limit=1)):
                return newest[0]
            if name in self._tables.sessions:
                return self.get(name)
            title = clean_title(name)
            if titled := [session for session in self._tables.sessions.values() if title is not None and session.title == title]:
                return self.tip(titled[0].conversation) if titled[0].end_reason == COMPRESSION else self.get(titled[0].id)
            matches = [id for id in reversed(self._tables.sessions) if name and id.startswith(name)][:MOST_CANDIDATES]
            if len(matches) != 1:
                raise NoSuchSession(name, matches)
            return self.get(matches[0])

    def tip(self, conversation: str) -> Session:
        """The session in which the conversation goes on."""
        with self._tables.lock:
            return self.get(self._tables.conversation(conversation).session)

    def listed(self, *, conversation: str | None = None, directories: Sequence[str] = (), limit: int | None = None) -> list[Session]:
        """Sessions, the ones with the newest message first; of one conversation oldest first."""
        with self._tables.lock:
            found: Iterable[Session] = self._tables.sessions.values()
            if conversation is not None:
                found = [session for session in found if session.conversation == conversation]
            else:
                found = sorted(found, key=self._newest_row)[::-1]
            if directories:
                found = [session for session in found if session.about.get(DIRECTORY) in directories]
            return [self._handed_out(session) for session in found][: None if limit is None or limit < 0 else limit]

    def rename(self, session: str, title: str | None) -> Session:
        """Set or take away the title; one that an ancestor holds moves here."""
        cleaned = clean_title(title)
        with self._tables.lock:
            held = self._held(session)
            if cleaned is not None:
                self._tables.refuse_taken(cleaned, held.conversation)
                for other in [other for other in self._tables.sessions.values() if other.title == cleaned]:
                    change(self._tables, other.id, title=None)
            change(self._tables, session, title=cleaned)
            return self.get(session)

    def end(self, session: str, reason: str) -> Session:
        """End it; the first reason stays."""
        with self._tables.lock:
            end_session(self._tables, self._held(session).id, reason)
            return self.get(session)

    def set(self, session: str, **settings: object) -> Session:
        """Change settings; None takes one away."""
        with self._tables.lock:
            held = self._held(session)
            changed = {key: value for key, value in {**held.settings, **settings}.items() if value is not None}
            change(self._tables, session, settings=json.loads(json.dumps(changed)))
            return self.get(session)

    def delete(self, conversation: str) -> int:
        """Erase a conversation whole; returns how many rows it had."""
        with self._tables.lock:
            gone = self._tables.conversation(conversation)
            count = gone.last
            gone.erase()
            self._tables.erasures += 1
            del self._tables.conversations[conversation]
            for session in [session.id for session in self._tables.sessions.values() if session.conversation == conversation]:
                del self._tables.sessions[session]
                self._tables.rights.pop(session, None)
            return count

    def _held(self, session: str) -> Session:
        if session not in self._tables.sessions:
            raise NoSuchSession(session)
        return self._tables.sessions[session]

    def _newest_row(self, session: Session) -> tuple[int, int]:
        rows = self._tables.conversations[session.conversation].rows
        return (rows[-1].time, rows[-1].id) if rows else (-1, 0)

    def _handed_out(self, session: Session) -> Session:
        of = self._tables.conversations[session.conversation]
        rows = rows_of_session(of.segments, session.id, of.last)
        return replace(with_documents(session, session.settings, session.about), rows=rows)


def change(tables: Tables, session: str, **changes: object) -> None:
    """Replace fields of a session."""
    tables.sessions[session] = replace(tables.sessions[session], **changes)  # type: ignore[arg-type]


def end_session(tables: Tables, session: str, reason: str) -> None:
    """End a session that has not ended."""
    if tables.sessions[session].ended is None:
        change(tables, session, ended=from_microseconds(microseconds()), end_reason=reason)


def rotated(tables: Tables, conversation: Conversation) -> str:
    """End the open session by compression and begin its child: title, source, origin and goal go over."""
    parent = tables.sessions[conversation.session]
    end_session(tables, parent.id, COMPRESSION)
    kept, taken = handed_over(parent.settings)
    change(tables, parent.id, settings=kept)
    held = [session.title for session in tables.sessions.values() if session.title is not None]
    title = next_title(parent.title, held) if parent.title is not None else None
    started = from_microseconds(microseconds())
    child = Session(tables.free_name(), conversation.name, title, parent.id, parent.source, started, settings=taken, about=parent.about)
    tables.sessions[child.id] = child
    conversation.segments.append((conversation.last + 1, child.id))
    return child.id


def reopen(tables: Tables, conversation: Conversation, parent: str, child: str) -> None:
    """The parent goes on, the child ends; title and settings move back."""
    kept, taken = handed_over(tables.sessions[child].settings)
    change(tables, parent, settings=taken)
    change(tables, child, settings=kept)
    if tables.sessions[parent].end_reason == COMPRESSION:
        change(tables, parent, ended=None, end_reason=None)
    end_session(tables, child, UNDONE)
    if tables.sessions[parent].title is None:
        change(tables, parent, title=tables.sessions[child].title)
        change(tables, child, title=None)
    conversation.segments.append((conversation.last + 1, parent))
