"""What an engine is given: everything it may use of the host, nothing of the agent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from host.messages.redact import redact
from host.messages.types import Message, Reply, ToolSchema


@dataclass(frozen=True)
class ModelFacts:
    """The main model as the host knows it; token fields are counts, 0 where unknown."""

    model: str = ""
    window: int = 128_000
    output_reserve: int = 0
    tools: int = 0  # tokens of the tool schemas, which stand outside the message list
    ceiling: int = 0  # tokens of a request that its service is taken to accept, where it refused more and named no limit

    @property
    def usable(self) -> int:
        """Tokens of the window, the output reserve included, as far as the service is known to give them."""
        return min(self.window, self.ceiling + self.output_reserve) if self.ceiling else self.window


@dataclass(frozen=True)
class Thresholds:
    """When to compact and what to keep: the ``compression`` section of config.yaml, the same for every engine."""

    threshold: float = 0.50  # share of the window
    target_ratio: float = 0.20  # share of the threshold that the tail may take
    protect_first_n: int = 3  # messages
    protect_last_n: int = 20  # messages
    small_window_floor: float | None = None  # share of the window, for windows under 512,000 tokens
    abort_on_summary_failure: bool = False  # leave the window as it is rather than summarise without a model


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
    """A question to the summary model; raises ProviderError. An interrupt (KeyboardInterrupt) passes through every engine."""

    def __call__(self, prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> str:
        """The answer's text."""


class AskForReply(Protocol):
    """A question to a model whose whole answer is wanted: why it ended, and what else it holds. Raises like ``Ask``."""

    def __call__(self, prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> Reply:
        """The reply as it came."""


@dataclass(frozen=True)
class SummaryModel:
    """A model that a summary may be asked of. ``window`` is in tokens, guessed where nobody knows it."""

    name: str
    ask: AskForReply
    window: int
    window_is_guessed: bool = False


Progress = Callable[[int, int, str], None]
"""``progress(done, total, text)``."""


@dataclass
class Services:
    """All that an engine may use (design, The engine contract).

    ``ask`` is None where no model is configured; ``summary_models`` are the one that it asks and, where that is another, the
    main model, to be tried in this order. ``mask`` hides secrets in a text that leaves the conversation. ``pins`` are the
    messages of the window that stay as they are; the host sets them before each compaction. ``staying`` tells the tokens of the
    next request that no compaction takes away, 0 where nobody knows: system prompt, tools, newest request and newest group.
    """

    settings: Any
    facts: ModelFacts
    count: Count
    archive: ArchiveReader
    state: State
    ask: Ask | None = None
    summary_models: tuple[SummaryModel, ...] = ()
    pins: tuple[Message, ...] = ()
    staying: Callable[[], int] = lambda: 0
    thresholds: Thresholds = field(default_factory=Thresholds)
    mask: Callable[[str], str] = redact
    progress: Progress = lambda done, total, text: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("ctxhost.engine"))
    folder: Path | None = None
