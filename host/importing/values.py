"""What an import did, and what a short look before a search did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from host.messages.types import JSON

Enough = Callable[[], bool]
"""Asked after each line: whether what was read by now is to be kept before more is read."""


@dataclass(frozen=True)
class Damage:
    """A line of a recording that could not be used."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}"


@dataclass(frozen=True)
class Trouble:
    """A file that could not be read, or a message of it that could not be kept."""

    file: str
    why: str

    def __str__(self) -> str:
        return f"{self.file}: {self.why}"


@dataclass(frozen=True)
class Imported:
    """What one run brought. ``bytes`` were read in ``seconds``; ``since`` and ``until`` are the times of the messages kept.

    ``unfinished`` counts files whose last line is still being written, ``deleted`` files whose conversations were deleted.
    """

    read: int = 0
    unchanged: int = 0
    passed_over: int = 0
    deleted: int = 0
    unfinished: int = 0
    conversations: int = 0
    messages: int = 0
    versions: int = 0
    compactions: int = 0
    damaged: tuple[Damage, ...] = ()
    refused: tuple[Trouble, ...] = ()
    unreadable: tuple[Trouble, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    bytes: int = 0
    seconds: float = 0.0

    def __add__(self, other: Imported) -> Imported:
        """Both together; what was read first comes first."""
        added: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in ADDED}
        since = min(filter(None, (self.since, other.since)), default=None)
        until = max(filter(None, (self.until, other.until)), default=None)
        return Imported(**added, since=since, until=until)

    @property
    def is_complete(self) -> bool:
        """Whether everything that was there could be kept."""
        return not (self.damaged or self.refused or self.unreadable)

    def as_json(self) -> JSON:
        """The same for scripts; times in ISO 8601, UTC."""
        times = {name: moment and moment.isoformat() for name, moment in (("since", self.since), ("until", self.until))}
        return {**asdict(self), **times, "seconds": round(self.seconds, 3)}


ADDED = [each.name for each in fields(Imported) if each.name not in ("since", "until")]


@dataclass(frozen=True)
class CaughtUp:
    """What a short look brought: how many messages, and how many lines there was no time for."""

    lines_left: int = 0
    messages: int = 0
    notices: tuple[str, ...] = ()
