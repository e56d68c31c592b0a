"""What a store offers, one protocol per trade. Rows are never given twice and never change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from host.engine.services import ArchiveReader, Progress, State
from host.messages.types import JSON, Message
from host.store.care import Erasure, Forget, Verified
from host.store.query import Page, Query
from host.store.readings import Chapter, Placed, Reading
from host.store.values import Lease, Pin, Publication, Published, Pulse, Row, Session


def quiet(done: int, total: int, text: str) -> None:
    """Progress that nobody watches."""


class Archive(ArchiveReader, Protocol):
    """Every message of one conversation, as its owner sees it; an engine gets the reading half."""

    def append(self, message: Message, *, replaces: int | None = None, time: datetime | None = None, after: int | None = None) -> int:
        """Keep a message as it is now; returns its position.

        ``replaces`` is the position of the message of which this is a new version. ``time`` is when it was said, now
        where it is not given. ``after`` is the last position that the caller knows of, 0 for none; Outrun where it is
        not the last. What JSON cannot hold is quarantined and raises NotStorable; content that was erased raises
        Forgotten; a store that cannot write raises StoreUnavailable, and nothing is kept.
        """

    def extend(self, messages: Sequence[Message], *, times: Sequence[datetime | None] | None = None, after: int | None = None) -> list[int]:
        """Keep many at once, in one transaction; returns their positions. Raises like ``append``, and keeps none then."""

    def rows(self, position: int = 1, until: int | None = None) -> Iterator[Row]:
        """The rows from position to until, both included, superseded, forgotten and damaged ones too."""

    def current(self) -> list[Row]:
        """The newest version of each message, in the order of the conversation; forgotten and damaged ones with no message."""

    def places(self) -> dict[int, int]:
        """The place of each row that is a new version, by its position; every other row's place is its position."""

    def pulse(self) -> Pulse:
        """What changes when anything changes; cheap. Of a deleted conversation only the erasures count on."""


class Views(Protocol):
    """What the model sees of one conversation, version by version."""

    def current(self) -> Published | None:
        """The newest version, None while the window is the archive itself."""

    def version(self) -> int:
        """The number of the newest version, 0 while there is none; cheap."""

    def publish(self, publication: Publication, *, expected: int, lease: Lease | None = None) -> Published:
        """Make a view the newest, together with its made messages, receipt and state, in one transaction.

        Raises Outrun where ``expected`` is no longer the newest version, or the lease has passed to another.
        """

    def undo(self, *, expected: int) -> Published:
        """Publish the version before the newest compaction again; a rotation is taken back with it."""

    def history(self) -> list[Published]:
        """All versions, oldest first."""


class Pins(Protocol):
    """Which messages of one conversation stay in every window, in the order in which they were pinned."""

    def all(self) -> list[Pin]:
        """All pins, oldest first; the rows of a conversation that was deleted have none."""

    def add(self, position: int, *, by: str) -> Pin:
        """Pin a message; one that is pinned stays as it was. Raises UsageError where no such row exists or it was erased."""

    def remove(self, position: int) -> bool:
        """Unpin it; False where it was not pinned."""


class Leases(Protocol):
    """Named rights that one holder has at a time (hermes.md 9). A lease that ran out is free."""

    def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take or prolong the right; None where another holds it, or the name is empty."""

    def refresh(self, lease: Lease, seconds: float) -> Lease | None:
        """Prolong it; None where it ran out or passed to another."""

    def release(self, lease: Lease) -> None:
        """Give it back; nothing happens where it is not held any more."""

    def holder(self, name: str) -> str | None:
        """Who holds it now."""


class Sessions(Protocol):
    """Conversations and their segments."""

    def create(self, *, title: str | None = None, source: str = "", about: JSON | None = None, settings: JSON | None = None) -> Session:
        """A new conversation with its first session; raises TitleTaken where another conversation's session has the title."""

    def get(self, session: str) -> Session:
        """The session of this id; raises NoSuchSession."""

    def find(self, name: str) -> Session:
        """A session by id, unique prefix of an id, title, or ``last``; raises NoSuchSession. A title finds its newest continuation."""

    def tip(self, conversation: str) -> Session:
        """The session in which the conversation goes on."""

    def listed(self, *, conversation: str | None = None, directories: Sequence[str] = (), limit: int | None = None) -> list[Session]:
        """Sessions, the ones with the newest message first; of one conversation oldest first.

        ``directories``: only those whose recorded working directory is one of these, where any is given.
        """

    def rename(self, session: str, title: str | None) -> Session:
        """Set or take away the title. A title held by an ancestor of the same conversation moves; another's raises TitleTaken."""

    def end(self, session: str, reason: str) -> Session:
        """End it; the first reason stays."""

    def set(self, session: str, **settings: object) -> Session:
        """Change settings; None takes one away."""

    def delete(self, conversation: str) -> int:
        """Erase a conversation whole; returns how many rows it had."""


class Search(Protocol):
    """Finding archived messages; the same for the agent's tool, the command line and MCP."""

    def find(self, query: Query) -> Page:
        """One page of hits; never raises for what the query holds, but for a pattern that is no regular expression."""

    def catch_up(self, *, seconds: float | None = None) -> int:
        """Index what is not indexed yet, until it is done or the time is over; returns how many rows are left."""


class Imports(Protocol):
    """Recordings of other clients in the archive, and how far each file was read. Only stores in a file remember that."""

    def reading(self, file: str) -> Reading | None:
        """How far a file was read; None where it never was.

        From its beginning, without a ``check``, where that cannot be told any more: what is archived of it has to be recognised.
        """

    def readings(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file that was read, by its path as ``spelled`` spells it: whether one has changed is asked of all."""

    def conversation(self, file: str, chain: str) -> str | None:
        """Which conversation a chain of a file went into; None where there is none, or where it was deleted since."""

    def deleted(self, file: str) -> bool:
        """Whether everything that was read from a file was deleted since."""

    def recorded(self, file: str, chain: str, key: str) -> Message | None:
        """One of the newest messages of a chain, by its key; where it was erased a note in its place, so that it is not begun anew."""

    def keep(
        self, reading: Reading, chapters: Sequence[Chapter], *, expected: int, history: bool = False, patience: float | None = None
    ) -> list[Placed]:
        """Archive chapters and remember how far the file was read, in one transaction.

        ``expected`` is the offset from which they were read. Outrun where another reader was quicker, or a conversation is not
        as the chapter's reader found it: nothing is kept then. ``history`` puts rows of a new conversation before everything
        that is archived. Another process's transaction is waited for, ``patience`` seconds where that is given;
        StoreUnavailable then. A message that cannot be kept is left out and named in ``refused``. A chapter of a
        conversation that was deleted is left out whole.
        """


class Store(Protocol):
    """A store, opened. One per worker or task; ``close`` may be called twice."""

    @property
    def leases(self) -> Leases: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def search(self) -> Search: ...

    def archive(self, conversation: str) -> Archive:
        """The archive of a conversation."""

    def views(self, conversation: str) -> Views:
        """The views of a conversation."""

    def pins(self, conversation: str) -> Pins:
        """The pins of a conversation."""

    def state(self, conversation: str, engine: str) -> State:
        """The engine's document for a conversation."""

    def close(self) -> None:
        """Give back file and locks."""


class Admin(Protocol):
    """Looking after a store as a whole. ``progress(done, total, text)`` is called while it takes long."""

    def verify(self, *, prove: bool = False, progress: Progress = quiet) -> Verified:
        """Read everything and check it: digests, blobs, views, indexes; with ``prove`` that every row is accounted for."""

    def backup(self, target: Path, *, progress: Progress = quiet) -> Path:
        """Copy the store as it is at one moment, while others may go on writing."""

    def forget(
        self,
        what: Forget,
        *,
        apply: bool,
        folders: Sequence[Path] | None = None,
        stores: Sequence[Path] = (),
        progress: Progress = quiet,
    ) -> Erasure:
        """Erase messages for good, with everything made from them; without ``apply`` only say what would go.

        ``folders`` are searched for copies (the store's own where none is given), but for other ``stores`` that the
        caller sees to.
        """

    def expire(self, older_than: timedelta, *, apply: bool, progress: Progress = quiet) -> Erasure:
        """Erase conversations that ended, or had their last message, longer ago."""

    def unfinished(self) -> str | None:
        """What is left to do of an earlier erasure whose bytes may still be in the file; None where nothing is."""

    def finish(self, progress: Progress = quiet) -> tuple[str, ...]:
        """Finish what ``unfinished`` names; returns why some bytes may be left all the same."""


class FileStore(Store, Protocol):
    """A store in a file of its own. What is kept longer than a process is looked after; the one in memory has no ``admin``."""

    @property
    def path(self) -> Path: ...
    @property
    def admin(self) -> Admin: ...
    @property
    def imports(self) -> Imports: ...
