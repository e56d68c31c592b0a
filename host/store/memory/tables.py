"""What a store in memory holds. Everything in it is bytes, text or a value that never changes, so that nobody shares it by accident."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from host.errors import NoSuchSession, TitleTaken
from host.messages.ledger import Entry, Kind
from host.messages.types import JSON
from host.store.kept import erased, message_of
from host.store.lineage import new_name, session_at
from host.store.rights import Right
from host.store.times import from_microseconds, microseconds
from host.store.undoing import Version
from host.store.values import FIRST_ID, Pin, Row, Session


@dataclass(frozen=True)
class Kept:
    """A message as bytes; none once it is forgotten."""

    id: int
    position: int
    place: int
    time: int
    role: str
    tool: str
    body: bytes | None


class Quarantined(NamedTuple):
    """A message that could not be kept, as far as it can be shown."""

    time: int
    error: str
    shown: str


@dataclass(frozen=True)
class Made:
    """A message of a view that is not in the archive as it is shown."""

    kind: Kind
    row: int | None
    covers: tuple[range, ...]
    body: bytes

    def entry(self) -> Entry:
        """It as a ledger has it."""
        return Entry(message_of(self.body), self.row, self.kind, self.covers)


@dataclass(frozen=True)
class Shown:
    """A version of a view; its entries are positions of the archive and made messages."""

    version: Version
    time: int
    trigger: str
    receipt: str


@dataclass
class Conversation:
    """All of one conversation; ``is_gone`` once it is deleted."""

    name: str
    rows: list[Kept] = field(default_factory=list)
    newest: dict[int, int] = field(default_factory=dict)  # place -> position of its newest version
    segments: list[tuple[int, str]] = field(default_factory=list)  # from which position on which session was the open one
    views: list[Shown] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)  # engine -> JSON
    tombstones: dict[bytes, int] = field(default_factory=dict)  # identity of what was forgotten -> position
    quarantine: list[Quarantined] = field(default_factory=list)
    pins: dict[int, Pin] = field(default_factory=dict)  # by place, in the order in which they were made
    called: dict[str, str] = field(default_factory=dict)  # names of tools by the id of the call
    is_gone: bool = False

    @property
    def last(self) -> int:
        """The newest position, 0 while there is none."""
        return len(self.rows)

    @property
    def session(self) -> str:
        """The session in which it goes on."""
        return self.segments[-1][1]

    @property
    def version(self) -> int:
        """The newest version of the view, 0 while there is none."""
        return len(self.views)

    def require(self) -> None:
        """Raise where it was deleted."""
        if self.is_gone:
            raise NoSuchSession(self.name)

    def erase(self) -> None:
        """Take everything out of it."""
        for held in (self.rows, self.newest, self.views, self.documents, self.tombstones, self.quarantine, self.pins, self.called):
            held.clear()
        self.is_gone = True

    def row(self, kept: Kept) -> Row:
        """A message as the store hands it out."""
        return Row(
            id=kept.id,
            conversation=self.name,
            session=session_at(self.segments, kept.position),
            position=kept.position,
            place=kept.place,
            time=from_microseconds(kept.time),
            role=kept.role,
            message=None if kept.body is None else message_of(kept.body),
            tool=kept.tool,
            superseded=self.newest.get(kept.place, 0) > kept.position,
        )

    def entry(self, entry: int | Made) -> Entry:
        """An entry of a view as a ledger has it."""
        if isinstance(entry, Made):
            return entry.entry()
        row = self.rows[entry - 1]
        return Entry(erased(row.role) if row.body is None else message_of(row.body), entry)


@dataclass
class Tables:
    """Everything. Whoever changes it holds the lock, and first does all that may fail."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)  # in the order in which they began, without their rows
    rights: dict[str, Right] = field(default_factory=dict)
    newest_id: int = FIRST_ID
    erasures: int = 0  # how often something was erased

    def conversation(self, name: str) -> Conversation:
        """A conversation by its id; raises NoSuchSession."""
        if name not in self.conversations:
            raise NoSuchSession(name)
        return self.conversations[name]

    def begun(self, *, title: str | None = None, source: str = "", about: JSON | None = None, settings: JSON | None = None) -> Session:
        """A new conversation with its first session."""
        name = self.free_name()
        given = Session(name, name, title, None, source, from_microseconds(microseconds()))
        session = with_documents(given, settings or {}, about or {})
        self.conversations[name] = Conversation(name, segments=[(1, name)])
        self.sessions[name] = session
        return session

    def free_name(self) -> str:
        """An id that no session has."""
        return new_name(self.sessions.__contains__)

    def refuse_taken(self, title: str, conversation: str | None) -> None:
        """Raise where a session of another conversation has the title."""
        for session in self.sessions.values():
            if session.title == title and session.conversation != conversation:
                raise TitleTaken(title, session.id)


def with_documents(session: Session, settings: JSON, about: JSON) -> Session:
    """The session with documents of its own; TypeError where they are not JSON."""
    return replace(session, settings=json.loads(json.dumps(settings)), about=json.loads(json.dumps(about)))
