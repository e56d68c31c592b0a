"""A search and its answer (design, The store)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from host.messages.types import JSON


class Mode(StrEnum):
    """How the words of a query are meant."""

    AUTO = "auto"
    LITERAL = "literal"  # the text as it stands, after NFC, case-insensitive
    WORDS = "words"  # every word somewhere in the message, case-insensitive
    REGEX = "regex"  # case as written; (?i) for the other
    RANKED = "ranked"  # any of the words; best first


@dataclass(frozen=True)
class Query:
    """What to look for and where. None or empty: anywhere. Role and tool in any case; ``since`` is included, ``before`` is not."""

    text: str
    mode: Mode = Mode.AUTO
    conversation: str | None = None
    sessions: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()  # only conversations whose recorded working directory is one of these
    role: str | None = None
    tool: str | None = None
    since: datetime | None = None
    before: datetime | None = None
    limit: int = 20
    cursor: str | None = None  # of the page before
    context: int = 0  # messages of the same conversation to show on each side of a hit
    seconds: float = 5.0  # after this a search says how far it got
    indexing: float | None = None  # seconds that may be spent on indexing first; None: as many as serve the search


@dataclass(frozen=True)
class Line:
    """A message beside a hit, shortened."""

    position: int
    role: str
    text: str


@dataclass(frozen=True)
class Hit:
    """A message that was found. ``excerpt`` is cut around the first match; ``spans`` are the matches in it, start and end."""

    conversation: str
    session: str
    title: str | None
    position: int
    time: datetime
    role: str
    tool: str
    excerpt: str
    spans: tuple[tuple[int, int], ...] = ()
    score: float | None = None  # of ranked hits, higher is better
    superseded: bool = False
    before: tuple[Line, ...] = ()
    after: tuple[Line, ...] = ()

    @property
    def id(self) -> str:
        """Stays the same for good: conversation and position."""
        return f"{self.conversation}:{self.position}"

    def as_json(self) -> JSON:
        """For scripts and agents."""
        return {
            "id": self.id,
            "session": self.session,
            "title": self.title,
            "position": self.position,
            "time": self.time.isoformat(),
            "role": self.role,
            "tool": self.tool.splitlines(),
            "excerpt": self.excerpt,
            "spans": [list(span) for span in self.spans],
            "score": self.score,
            "superseded": self.superseded,
            "before": [{"position": line.position, "role": line.role, "text": line.text} for line in self.before],
            "after": [{"position": line.position, "role": line.role, "text": line.text} for line in self.after],
        }


@dataclass(frozen=True)
class Page:
    """One page of hits. ``mode`` is the one that found them; ``scanned`` says in words whether anything is left unread."""

    hits: tuple[Hit, ...]
    mode: Mode
    scanned: str  # "scanned all 1,234 messages", "stopped at the limit of 20", "stopped after 5 s at …"
    complete: bool  # nothing older is left to find
    cursor: str | None = None
    tried: tuple[Mode, ...] = ()
    notices: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()  # for --explain
