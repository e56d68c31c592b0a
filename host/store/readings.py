"""How far foreign recordings were read into the archive, and what is handed over of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from host.messages.types import JSON, Message

KEYS = 400  # of the newest messages of a chapter are known: an answer may still grow, a prompt be taken back
FORGOTTEN = "its content was erased with `ctxhost archive forget`"  # why a message is refused that is left out on purpose


@dataclass(frozen=True)
class Reading:
    """How far a file was read. ``size`` and ``mtime`` (ns) are what it had then: a file that still has them has nothing new.

    ``offset`` (bytes) and ``line`` are where the next reading begins, ``check`` is a digest of the bytes right before
    ``offset``: other bytes there are another file. ``state`` is the reader's own; it is empty where something was erased since.
    """

    file: str
    client: str
    size: int = 0
    mtime: int = 0
    offset: int = 0
    line: int = 0
    check: str = ""
    state: JSON = field(default_factory=dict)


@dataclass(frozen=True)
class Told:
    """A message to be kept. ``key`` names it within its chapter: the same key is a new version of it, None comes only once.

    A ``compaction`` is a summary that stands for everything before it.
    """

    key: str | None
    message: Message
    time: datetime | None = None
    compaction: bool = False


@dataclass(frozen=True)
class Recognised:
    """A message that is archived already, at ``position``: only its key is noted."""

    key: str | None
    position: int


@dataclass(frozen=True)
class Returned:
    """The user went back to the message of the key ``after``, None: to the beginning. The window is again what it was there."""

    after: str | None


Entry = Told | Recognised | Returned
"""What a recording says next."""


@dataclass(frozen=True)
class Chapter:
    """What is new of one chain of a file. ``name`` is the id that its conversation should get where there is none yet.

    ``conversation`` is the one in which a chain goes on that was not read before, None where it begins one. ``after`` is the
    last position that the entries were compared with, None where they were not. Both are what the reader found. ``is_anew``
    tells that the file holds another conversation now than the one that was read of this chain before.
    """

    chain: str
    name: str
    entries: Sequence[Entry] = ()
    about: JSON = field(default_factory=dict)
    conversation: str | None = None
    after: int | None = None
    is_anew: bool = False


@dataclass(frozen=True)
class Placed:
    """Where a chapter went. ``positions`` has one place per entry, None where nothing was kept; ``refused`` says why, by index."""

    chain: str
    conversation: str
    positions: tuple[int | None, ...] = ()
    refused: dict[int, str] = field(default_factory=dict)
    is_new: bool = False
