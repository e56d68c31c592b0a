"""What an engine is (hermes.md 1): the names and attributes of the reference, so that engines written for it load."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from host.messages.types import Message

if TYPE_CHECKING:
    from host.engine.services import Services


class ContextEngine(ABC):
    """Decides when a conversation is compacted, and how. Token fields are what the host reads for status."""

    last_prompt_tokens: int = 0
    last_completion_tokens: int = 0
    last_total_tokens: int = 0
    threshold_tokens: int = 0
    context_length: int = 0
    compression_count: int = 0
    threshold_percent: float = 0.75
    protect_first_n: int = 3
    protect_last_n: int = 6

    @property
    @abstractmethod
    def name(self) -> str:
        """Short id, the one that ``context.engine`` holds."""

    @abstractmethod
    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Take the usage of a model call: prompt_tokens, completion_tokens, total_tokens; more keys are optional."""

    @abstractmethod
    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Whether a window of this many tokens (None: of the last call) is to be compacted now."""

    @abstractmethod
    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str = "",
    ) -> list[Message]:
        """Return a shorter legal list; the input is not touched."""

    def should_compress_preflight(self, messages: list[Message]) -> bool:
        """Declared by the reference, never called by it."""
        return False

    def should_defer_preflight_to_real_usage(self, rough_tokens: int) -> bool:
        """Whether an estimate over the threshold waits for the provider's own count."""
        return False

    def has_content_to_compress(self, messages: list[Message]) -> bool:
        """Whether a manual compaction would find anything."""
        return True

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:
        """A session begins, or goes on after a compaction (``boundary_reason="compression"``)."""

    def on_session_end(self, session_id: str, messages: list[Message]) -> None:
        """A real boundary: exit, reset, expiry."""

    def on_session_reset(self) -> None:
        """Forget the counters of the session."""
        self.last_prompt_tokens = self.last_completion_tokens = self.last_total_tokens = self.compression_count = 0

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Function schemas (name, description, parameters) that the agent may call."""
        return []

    def handle_tool_call(self, name: str, args: Mapping[str, Any], **kwargs: Any) -> str:
        """Answer a call of one of the schemas' names, as JSON text."""
        return json.dumps({"error": f"Unknown context engine tool: {name}"})

    def get_status(self) -> dict[str, Any]:
        """Figures for a status bar; -1 (no real count yet) shows as 0."""
        shown = max(0, self.last_prompt_tokens)
        percent = min(100.0, shown / self.context_length * 100) if self.context_length else 0.0
        return {
            "last_prompt_tokens": shown,
            "threshold_tokens": self.threshold_tokens,
            "context_length": self.context_length,
            "usage_percent": percent,
            "compression_count": self.compression_count,
        }

    def update_model(
        self, model: str, context_length: int, base_url: str = "", api_key: str = "", provider: str = "", api_mode: str = ""
    ) -> None:
        """The model or its window changed."""
        self.context_length = context_length
        self.threshold_tokens = int(context_length * self.threshold_percent)


EngineFactory = Callable[["Services"], ContextEngine]
"""How an engine is made: once per agent, with services of its own."""

COMPRESS_KEYWORDS: Sequence[str] = ("current_tokens", "focus_topic", "force", "memory_context")
"""What the host may hand to ``compress`` beside the messages; a signature that lacks one is not given it."""
