"""What the host asks of a model, whoever serves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from host.messages.types import Message, Reply, ToolSchema


@dataclass(frozen=True)
class Delta:
    """A piece of an answer as it streams in: text, reasoning, or the name of a tool that is about to be called."""

    text: str = ""
    reasoning: str = ""
    call: str = ""


OnDelta = Callable[[Delta], None]
"""Hears the pieces of an answer. What it raises ends the call, an interrupt for example."""


class Provider(Protocol):
    """One model that answers conversations."""

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """The model's next message; ``timeout`` in seconds for the whole call. Raises ProviderError.

        With ``on_delta`` the answer is streamed; the reply is the same as without.
        """
