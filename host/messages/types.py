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

CACHED_COUNTS: tuple[tuple[str, ...], ...] = (
    ("prompt_tokens_details", "cached_tokens"),  # OpenAI, OpenRouter, and whoever speaks like them
    ("input_tokens_details", "cached_tokens"),  # OpenAI Responses
    ("cache_read_input_tokens",),  # Anthropic
    ("cacheReadInputTokens",),  # Bedrock
    ("prompt_cache_hit_tokens",),  # DeepSeek
    ("cachedContentTokenCount",),  # Gemini
    ("cached_tokens",),  # Moonshot
    ("cache_n",),  # timings of llama.cpp
)
"""Where services say how much of the prompt was read from their cache; the first count is meant."""

WRITTEN_COUNTS: tuple[tuple[str, ...], ...] = (
    ("cache_creation_input_tokens",),  # Anthropic
    ("cacheWriteInputTokens",),  # Bedrock
    ("prompt_tokens_details", "cache_write_tokens"),  # OpenRouter
    ("prompt_tokens_details", "cache_creation_tokens"),
)
"""Where services say how much of the prompt was put into their cache."""

COMPLETION_COUNTS = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "eval_count", "predicted_n")


@dataclass(frozen=True)
class Usage:
    """What the provider counted for one call, in tokens.

    ``prompt`` is everything that was in the window: cached tokens included, whatever the provider's wording
    (OpenAI counts them in, Anthropic does not). ``cached`` of it was read from the provider's cache, ``written`` put into it.
    Completion tokens never count as context (seed 3.2).
    """

    prompt: int
    completion: int = 0
    cached: int = 0
    written: int = 0

    @classmethod
    def from_provider(cls, usage: Mapping[str, Any] | Dumped | Usage | None) -> Usage | None:
        """Read any provider's usage object, a client's model of it too; None where it counted nothing (missing, null, all zeros)."""
        if isinstance(usage, Usage):
            return usage
        if not usage:
            return None
        if not isinstance(usage, Mapping):
            dump = getattr(usage, "model_dump", dict)
            usage = dump() or {}
        completion = next(filter(None, (_count(usage, key) for key in COMPLETION_COUNTS)), 0)
        prompt = next(filter(None, (sum(_count(usage, key) for key in keys) for keys in PROMPT_COUNTS)), 0)
        if not prompt:
            return None
        cached, written = (_first(usage, paths) for paths in (CACHED_COUNTS, WRITTEN_COUNTS))
        prompt += _outside(usage, prompt)
        return cls(prompt, completion, min(cached, prompt), min(written, prompt - min(cached, prompt)))

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


def _count(counts: Mapping[str, Any], key: str) -> int:
    value = counts.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _first(usage: Mapping[str, Any], paths: tuple[tuple[str, ...], ...]) -> int:
    for *above, key in paths:
        counts: object = usage
        for name in above:
            counts = counts.get(name) if isinstance(counts, Mapping) else None
        if isinstance(counts, Mapping) and (found := _count(counts, key)):
            return found
    return 0


def _outside(usage: Mapping[str, Any], prompt: int) -> int:
    """Cached tokens that a prompt in OpenAI's wording leaves out: gateways to Anthropic do so, and then there can be more of them."""
    if not _count(usage, "prompt_tokens"):
        return 0
    cached = _count(usage, "cache_read_input_tokens") + _count(usage, "cache_creation_input_tokens")
    return cached if cached > prompt else 0
