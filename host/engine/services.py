"""What an engine is given: everything it may use of the host, nothing of the agent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from host.messages.redact import redact
from host.messages.types import Message, ToolSchema


@dataclass(frozen=True)
class ModelFacts:
    """The main model as the host knows it; token fields are counts, 0 where unknown."""

    model: str = ""
    window: int = 128_000
    output_reserve: int = 0
    tools: int = 0  # tokens of the tool schemas, which stand outside the message list


@dataclass(frozen=True)
class Thresholds:
    """When to compact and what to keep: the ``compression`` section of config.yaml, the same for every engine."""

    threshold: float = 0.50  # share of the window
    target_ratio: float = 0.20  # share of the threshold that the tail may take
    protect_first_n: int = 3  # messages
    protect_last_n: int = 20  # messages
    small_window_floor: float | None = None  # share of the window, for windows under 512,000 tokens


class Count(Protocol):
    """Tokens as the host counts them."""

    def text(self, text: str) -> int:
        """Tokens of a text."""

    def message(self, message: Message) -> int:
        """Tokens of one message, its wire overhead and images included."""

    def messages(self, messages: Iterable[Message]) -> int:
        """Tokens of a list."""

    def tools(self, tools: Sequence[ToolSchema]) -> int:
        """Tokens of the tool schemas of a request."""


class ArchiveReader(Protocol):
    """Every message of the conversation, by row; positions count from 1 and are never given twice."""

    def read(self, position: int, until: int) -> list[Message]:
        """The messages from position to until, both included; rows that do not exist are left out."""

    def range(self) -> tuple[int, int]:
        """First and last position, (0, 0) while the archive is empty."""

    def search(self, query: str, limit: int = 20) -> list[tuple[int, Message]]:
        """Rows that hold the text, case-insensitive, newest first."""


class State(Protocol):
    """One small JSON document per conversation and engine, written together with the view."""

    def load(self) -> dict[str, Any]:
        """The document, empty at first."""

    def save(self, document: dict[str, Any]) -> None:
        """Replace the document."""


class Ask(Protocol):
    """A question to the summary model; raises ProviderError, or Cancelled on interrupt."""

    def __call__(self, prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> str:
        """The answer's text."""


Progress = Callable[[int, int, str], None]
"""``progress(done, total, text)``."""


@dataclass
class Services:
    """All that an engine may use (design, The engine contract).

    ``ask`` is None where no model is configured; ``mask`` hides secrets in a text that leaves the conversation.
    """

    settings: Any
    facts: ModelFacts
    count: Count
    archive: ArchiveReader
    state: State
    ask: Ask | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)
    mask: Callable[[str], str] = redact
    progress: Progress = lambda done, total, text: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("ctxhost.engine"))
    folder: Path | None = None
