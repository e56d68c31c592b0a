"""What a line of a growing recording says, and what a reader of such lines is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from host.formats.source import Source
from host.messages.types import JSON, Message

MAIN = ""  # the chain of the conversation itself; a side chain has a name


@dataclass(frozen=True)
class Said:
    """A message of a chain. The same key said again is the same message, grown: an answer that came in pieces.

    ``key`` is unique within its chain and stays the same however the file is cut. ``time`` is when it was recorded, UTC.
    A ``compaction`` is the client's own summary: it stands in the window for everything before it.
    """

    chain: str
    key: str
    message: Message
    time: datetime | None = None
    compaction: bool = False


@dataclass(frozen=True)
class TakenBack:
    """The user went back to the message of the key ``after``, None: to the beginning. What came after it is not shown any more.

    It may lie on a branch that was taken back before, or before a compaction: then the window is again what it was there.
    """

    chain: str
    after: str | None


Event = Said | TakenBack
Known = Callable[[str, str], Message | None]
"""The message of a chain by its key as it was said before this reading began; None where it is not known any more."""


class Feed(Protocol):
    """One file while it is read. A feed made anew from ``state()`` goes on as if it had never stopped."""

    def take(self, number: int, row: JSON) -> list[Event]:
        """What the row of a line (counted from 1) adds; nothing of it is held back. Never raises, whatever the row holds."""

    def about(self, chain: str) -> JSON:
        """What is known of a chain by now, of what is recorded only: ``session`` (the client's id of it), ``working_directory``
        (the first recorded), ``model``, ``title``, ``client_version``, ``branch``, ``side_chain_of`` (session), ``agent``."""

    def state(self) -> JSON:
        """What has to be remembered until more lines come: ids and flags, never text of the conversation."""


@dataclass(frozen=True)
class FeedFormat:
    """A format that is read line by line. ``start(path, state, known)`` begins, or goes on where ``state`` is not empty.

    ``fault`` says what is wrong with a row that should hold a message and holds none, empty where nothing is.
    """

    name: str
    recognises: Callable[[Source], bool]
    start: Callable[[Path, JSON, Known], Feed]
    fault: Callable[[JSON], str] = lambda row: ""
