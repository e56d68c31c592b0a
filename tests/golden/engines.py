"""The built-in engine, counting as the reference does and summarising with one fixed text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from host.compressor.compressor import Compressor
from host.engine.services import ModelFacts, Services, Thresholds
from host.engine.window import Window
from host.messages.types import Message, ToolSchema
from host.pipeline.compact import Middle
from host.store.memory import MemoryArchive, MemoryState
from tests.reference_cost import rough_text, rough_tools, tail_cost

BODY = "SUMMARY BODY"


class ReferenceCount:
    """Four characters a token (protocol Count)."""

    def text(self, text: str) -> int:
        return rough_text(text)

    def message(self, message: Message) -> int:
        return tail_cost(message)

    def messages(self, messages: Iterable[Message]) -> int:
        return sum(map(tail_cost, messages))

    def tools(self, tools: Sequence[ToolSchema]) -> int:
        return rough_tools(tools)


class Fixed(Compressor):
    """Its summary is always the same, as the reference's was where these cases were made."""

    def summarise(self, window: Window, middle: Middle) -> str:
        return BODY


def compressor(*, facts: ModelFacts | None = None, thresholds: Thresholds | None = None, kind: type[Compressor] = Fixed) -> Compressor:
    """The engine for a window of 200,000 tokens, unless other facts are given."""
    services = Services(
        settings=None,
        facts=facts or ModelFacts(window=200_000),
        count=ReferenceCount(),
        archive=MemoryArchive(),
        state=MemoryState(),
        thresholds=thresholds or Thresholds(),
    )
    return kind(services)
