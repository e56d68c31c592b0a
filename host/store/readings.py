"""How far foreign recordings were read into the archive, and what is handed over of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from host.messages.types import JSON, Message


@dataclass(frozen=True)
class Reading:
    """How far a file was read. ``size`` and ``mtime`` (ns) are what it had then: a file that still has them has nothing new.

    ``offset`` (bytes) and ``line`` are where the next reading begins, ``check`` is a digest of the bytes right before
    ``offset``: other bytes there are another file. ``state`` is the reader's own.
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
class Entry:
    """A message of a recording to be kept. ``key`` names it within its chapter; a key said before is a new version of it.

    ``at`` is the position of a message that is archived already: only its key is noted. A ``compaction`` is a summary that
    stands for everything before it. Where ``message`` is None the user took the message of this key back, and all after it.
    """

    key: str
    message: Message | None
    time: datetime | None = None
    compaction: bool = False
    at: int | None = None


@dataclass(frozen=True)
class Chapter:
    """What is new of one chain of a file. ``name`` is the id that its conversation should get where there is none yet."""

    chain: str
    name: str
    entries: Sequence[Entry] = ()
    about: JSON = field(default_factory=dict)


@dataclass(frozen=True)
class Placed:
    """Where a chapter went. ``positions`` has one place per entry, None where nothing was kept; ``refused`` says why, by index."""

    chain: str
    conversation: str
    positions: tuple[int | None, ...] = ()
    refused: dict[int, str] = field(default_factory=dict)
    is_new: bool = False
