"""Engines and services that tests share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from host.compressor.compressor import Compressor
from host.engine.contract import ContextEngine
from host.messages.types import Message, ToolSchema
from host.testing.engines import services


class CharCount:
    """Four characters are a token: quick, and good enough where only sums matter (protocol Count)."""

    def text(self, text: str) -> int:
        return len(text) // 4

    def message(self, message: Message) -> int:
        return 4 + len(str({key: value for key, value in message.items() if not key.startswith("_")})) // 4

    def messages(self, messages: Iterable[Message]) -> int:
        return sum(map(self.message, messages))

    def tools(self, tools: Sequence[ToolSchema]) -> int:
        return sum(len(str(tool)) // 4 for tool in tools)


def compressor(window: int = 8_000, **more: Any) -> Compressor:
    """The built-in engine for this window."""
    return Compressor(services(window, **more))


class Scripted(ContextEngine):
    """An engine that returns what it is told to, whenever the threshold is reached."""

    name = "scripted"

    def __init__(self, returns: Any, window: int = 8_000) -> None:
        self.returns = returns
        self.calls = 0
        self.update_model("test-model", window)

    def update_from_response(self, usage: dict[str, Any]) -> None:
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return (prompt_tokens or 0) >= self.threshold_tokens

    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str = "",
    ) -> list[Message]:
        self.calls += 1
        returned: list[Message] = self.returns(messages) if callable(self.returns) else self.returns
        return returned
