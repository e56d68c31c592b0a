"""What an import did, and what a short look before a search did."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from host.messages.types import JSON

Enough = Callable[[], bool]
"""Asked after each line: whether what was read by now is to be kept before more is read."""


@dataclass(frozen=True)
class Pace:
    """How much of a file is read at once, and for how long. ``until``: a moment (``time.monotonic``) after which nothing is waited for.

    Without ``until`` it takes the time that it takes. ``history`` puts a file that was never read before everything archived.
    """

    enough: Enough
    history: bool = False
    until: float | None = None

    @property
    def is_short(self) -> bool:
        """Whether there is no time for what takes long."""
        return self.until is not None

    @property
    def patience(self) -> float | None:
        """Seconds for which another process's transaction is waited for; None: as long as usual."""
        return None if self.until is None else max(self.until - time.monotonic(), 0.0)


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
    """A file or folder that could not be read, or a message that could not be kept: that of a ``line``, or the how manieth it is."""

    file: str
    why: str
    line: int = 0
    message: int = 0

    def __str__(self) -> str:
        line, message = (f":{self.line}" if self.line else ""), (f" message {self.message}:" if self.message else "")
        return f"{self.file}{line}:{message} {self.why}"


@dataclass(frozen=True)
class Imported:
    """What one run brought. ``bytes`` were read in ``seconds``; ``since`` and ``until`` are the times of the messages kept.

    ``passed_over`` counts files that hold something else, ``empty`` those of a client without a message yet, ``unfinished`` those
    whose last line is still being written, ``deleted`` those of which a conversation was deleted. ``erased`` messages were left out
    on purpose; ``unmatched`` files have to be compared with the archive, which there was no time for.
    """

    read: int = 0
    unchanged: int = 0
    passed_over: int = 0
    empty: int = 0
    deleted: int = 0
    unfinished: int = 0
    conversations: int = 0
    messages: int = 0
    versions: int = 0
    compactions: int = 0
    damaged: tuple[Damage, ...] = ()
    refused: tuple[Trouble, ...] = ()
    erased: tuple[Trouble, ...] = ()
    unreadable: tuple[Trouble, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    unmatched: int = 0
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


def counted(number: int, what: str) -> str:
    """``1 line``, ``2 lines``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class CaughtUp:
    """What a short look brought: how many messages, and how many lines there was no time for."""

    lines_left: int = 0
    messages: int = 0
    notices: tuple[str, ...] = ()
