"""A counter that counts each message once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from host.messages.types import Message, ToolSchema
from host.tokens.counting import MessageCounter
from host.tokens.gauge import Gauge


class Remembered:
    """A counter's questions (protocol Count), answered from the gauge that measures the same conversation."""

    def __init__(self, counter: MessageCounter) -> None:
        self._counter = counter
        self.gauge = Gauge(counter)

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self._counter.text(text)

    def message(self, message: Message) -> int:
        """Tokens of one message, counted at its first sight."""
        return self.gauge.cost(message)

    def messages(self, messages: Iterable[Message]) -> int:
        """Tokens of a list."""
        return sum(map(self.gauge.cost, messages))

    def tools(self, tools: Sequence[ToolSchema]) -> int:
        """Tokens of the tool schemas of a request."""
        return self._counter.tools(tools)
