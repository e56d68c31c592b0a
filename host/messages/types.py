"""The shape of a message: a plain dict of the OpenAI chat format; unknown keys are carried along untouched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Required, TypedDict

JSON = dict[str, Any]
"""A JSON object whose keys nobody has checked: it stays at the edge of a room."""

Part = dict[str, Any]
"""One part of a list content: ``{"type": "text", "text": ...}``, ``{"type": "image_url", ...}`` and others."""

Content = str | list[Part] | None


class FunctionCall(TypedDict, total=False):
    """Name and argument text (JSON) of a call."""

    name: Required[str]
    arguments: Required[str]


class ToolCall(TypedDict, total=False):
    """One call of an assistant message; some clients carry ``call_id`` beside ``id``."""

    id: Required[str]
    call_id: str
    type: str
    function: Required[FunctionCall]


class Message(TypedDict, total=False):
    """One message of a conversation. Keys that are not listed here are carried too."""

    role: Required[str]
    content: Content
    name: str
    tool_calls: list[ToolCall] | None
    tool_call_id: str
    reasoning: Any
    reasoning_content: Any
    reasoning_details: Any
    codex_reasoning_items: Any
    codex_message_items: Any


ToolSchema = Mapping[str, Any]
"""A tool as it goes over the wire: ``{"type": "function", "function": {...}}``."""


class Dumped(Protocol):
    """What a client library gives back in the place of JSON."""

    def model_dump(self) -> dict[str, Any]:
        """The JSON."""


PROMPT_COUNTS: tuple[tuple[str, ...], ...] = (
    ("prompt_tokens",),  # OpenAI and whoever speaks like it: cached tokens are in it
    ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),  # Anthropic; OpenAI Responses has the first alone
    ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),  # Bedrock
    ("promptTokenCount",),  # Gemini: cached tokens are in it
    ("prompt_eval_count",),  # Ollama
    ("prompt_n", "cache_n"),  # timings of llama.cpp
)
"""Per dialect, the counts that together are the window; the first dialect with any count is meant."""

COMPLETION_COUNTS = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "eval_count", "predicted_n")


@dataclass(frozen=True)
class Usage:
    """What the provider counted for one call, in tokens.

    ``prompt`` is everything that was in the window: cached tokens included, whatever the provider's wording
    (OpenAI counts them in, Anthropic does not). Completion tokens never count as context (seed 3.2).
    """

    prompt: int
    completion: int = 0

    @classmethod
    def from_provider(cls, usage: Mapping[str, Any] | Dumped | Usage | None) -> Usage | None:
        """Read any provider's usage object, a client's model of it too; None where it counted nothing (missing, null, all zeros)."""
        if isinstance(usage, Usage):
            return usage
        if not usage:
            return None
        if not isinstance(usage, Mapping):
            usage = usage.model_dump()
        completion = next(filter(None, (_count(usage, key) for key in COMPLETION_COUNTS)), 0)
        prompt = next(filter(None, (sum(_count(usage, key) for key in keys) for keys in PROMPT_COUNTS)), 0)
        return cls(prompt, completion) if prompt else None

    def as_openai(self) -> dict[str, int]:
        """The three keys that every engine is promised (hermes.md 1.2)."""
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
        }


@dataclass(frozen=True)
class Reply:
    """One answer of a model."""

    message: Message
    usage: Usage | None = None
    finish_reason: str | None = None
    raw: JSON = field(default_factory=dict)


def _count(usage: Mapping[str, Any], key: str) -> int:
    value = usage.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
