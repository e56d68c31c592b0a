"""What a store hands out: rows, sessions, views, leases. Times are UTC, positions count from 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from host.messages.ledger import Ledger
from host.messages.types import JSON, Message

FILE = "archive.db"  # of an archive, in the home folder
FIRST_ID = 1 << 24  # rows of live messages have higher ids: what is older than the archive is imported below
COMPRESSION = "compression"  # a session ended because its conversation went on in a child
UNDONE = "undone"  # a child ended because the compaction that began it was undone
IMPORT, REWIND = "import", "rewind"  # what triggered a view: another client's recording, or a caller who took messages back
PIN = "pin"  # what triggered it: a pinned message was brought into the window
IMAGES = "images"  # pictures of the window became smaller
DIRECTORY = "working_directory"  # in a session's ``about``: where its client was at work
GOAL = "goal"  # the session setting that a child takes over from its parent


@dataclass(frozen=True)
class Row:
    """One archived message. ``place`` is the position of its first version.

    ``message`` is None once it is forgotten, and where its bytes cannot be read: then the row is ``damaged``.
    """

    id: int  # of the store, rising in the order of archiving
    conversation: str
    session: str
    position: int
    place: int
    time: datetime
    role: str
    message: Message | None
    tool: str = ""  # names of the tools called or answered, one per line
    superseded: bool = False  # a newer version of the same place exists
    damaged: bool = False  # `ctxhost archive verify` names what is wrong
    facts: str | None = field(default=None, compare=False)  # encoded; None where they were not read out of the message yet


@dataclass(frozen=True)
class Pulse:
    """How far a conversation and its store have come. Whoever holds an equal one has seen everything."""

    last: int = 0  # position of the newest row
    version: int = 0  # of the newest view
    erasures: int = 0  # another number whenever something was erased or mended anywhere in the store


@dataclass(frozen=True)
class Session:
    """A segment of a conversation; ``rows`` are the positions that were archived while it was the open one."""

    id: str
    conversation: str
    title: str | None = None
    parent: str | None = None
    source: str = ""  # who made it: cli, api, replay, import
    started: datetime | None = None
    ended: datetime | None = None
    end_reason: str | None = None
    rows: tuple[range, ...] = ()
    settings: JSON = field(default_factory=dict)  # carried over by a rotation: the goal
    about: JSON = field(default_factory=dict)  # of its origin: model, engine, working directory

    @property
    def messages(self) -> int:
        """How many rows it holds."""
        return sum(map(len, self.rows))


@dataclass(frozen=True)
class Publication:
    """A view to publish: what the model sees of the rows up to ``upto``. ``state`` is the engine's document, None to leave it."""

    ledger: Ledger
    upto: int
    engine: str = ""
    trigger: str = ""
    receipt: JSON = field(default_factory=dict)
    state: JSON | None = None
    rotate: bool = False  # end the session and begin a child with this view


@dataclass(frozen=True)
class Published:
    """A version of the view. Rows after ``upto`` follow its entries as they came. ``undoes`` is the version that it takes back."""

    version: int
    session: str
    time: datetime
    ledger: Ledger
    upto: int
    engine: str = ""
    trigger: str = ""
    receipt: JSON = field(default_factory=dict)
    undoes: int | None = None


@dataclass(frozen=True)
class Pin:
    """A message that stays in every window as it is. ``position`` is the place of its first version, ``by`` who pinned it."""

    position: int
    by: str
    time: datetime


@dataclass(frozen=True)
class Lease:
    """The right to compact, for as long as it is refreshed. A later holder has a higher ``fence``."""

    name: str
    holder: str
    fence: int
    expires: datetime
