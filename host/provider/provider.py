"""What the host asks of a model, whoever serves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from host.messages.types import Message, Reply, ToolSchema


class Provider(Protocol):
    """One model that answers conversations."""

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Reply:
        """The model's next message; ``timeout`` in seconds for the whole call. Raises ProviderError."""
