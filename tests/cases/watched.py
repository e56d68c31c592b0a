"""The built-in engine under observation, in a conversation of its own, with costs that a case can set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from host.compressor.compressor import Compressor
from host.conversation.conversation import Conversation
from host.engine.contract import ContextEngine, EngineFactory
from host.engine.services import Ask, Count, ModelFacts, Services, Thresholds
from host.messages.types import Message, ToolSchema
from host.store.memory import MemoryArchive, MemoryState
from host.tokens import Counter, Remembered

EXACT = Counter(sampled=False)


class Watched(Compressor):
    """Keeps what it was asked and how often it was called."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.questions: list[tuple[int | None, bool]] = []
        self.called = 0

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        answer = super().should_compress(prompt_tokens)
        self.questions.append((prompt_tokens, answer))
        return answer

    def compress(self, messages: list[Message], *args: Any, **kwargs: Any) -> list[Message]:
        self.called += 1
        return super().compress(messages, *args, **kwargs)


class Idle(Watched):
    """Is asked, and gives the window back as it was."""

    def compress(self, messages: list[Message], *args: Any, **kwargs: Any) -> list[Message]:
        self.called += 1
        return messages


@dataclass
class Priced:
    """A counter (protocol Count) with prices for some messages, by object; all others cost ``otherwise``, or what they are."""

    prices: dict[int, int] = field(default_factory=dict)
    otherwise: int | None = None
    held: list[Message] = field(default_factory=list)  # so that an id stays that of its message

    def price(self, message: Message, tokens: int) -> Message:
        """Set what a message costs, and give it back."""
        self.held.append(message)
        self.prices[id(message)] = tokens
        return message

    def text(self, text: str) -> int:
        return EXACT.text(text)

    def message(self, message: Message) -> int:
        known = self.prices.get(id(message), self.otherwise)
        return EXACT.message(message) if known is None else known

    def messages(self, messages: Iterable[Message]) -> int:
        return sum(map(self.message, messages))

    def tools(self, tools: Sequence[ToolSchema]) -> int:
        return EXACT.tools(tools)


@dataclass
class Stage:
    """A conversation, its engine and what it warned of."""

    conversation: Conversation
    engine: ContextEngine
    warnings: list[str]


def services(
    *, window: int = 128_000, count: Count | None = None, ask: Ask | None = None, thresholds: Thresholds | None = None, reserve: int = 0
) -> Services:
    """Services as a conversation in memory has them."""
    return Services(
        settings=None,
        facts=ModelFacts(window=window, output_reserve=reserve),
        count=count or Remembered(EXACT),
        archive=MemoryArchive(),
        state=MemoryState(),
        ask=ask,
        thresholds=thresholds or Thresholds(),
    )


def stage(make: EngineFactory, given: Services) -> Stage:
    """A new conversation under this engine."""
    warnings: list[str] = []
    engine = make(given)
    return Stage(Conversation(engine, given, MemoryArchive(), warn=warnings.append), engine, warnings)
