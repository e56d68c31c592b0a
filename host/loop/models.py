"""The models of an agent: the main one, and those that take over when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from host.engine.services import ModelFacts
from host.messages.types import Message, Reply, ToolSchema
from host.provider.caching import Layout, Ttl, Unmarked, mark
from host.provider.prices import Price
from host.provider.provider import OnDelta, Provider


@dataclass(frozen=True)
class AgentModel:
    """A model that may be asked. ``max_tokens`` caps its answers, None leaves that to its provider; ``price`` None: unknown.

    ``address`` is its ``base_url`` as config has it, None where nothing is remembered of it from process to process.
    """

    name: str
    provider: Provider
    facts: ModelFacts
    max_tokens: int | None = None
    price: Price | None = None
    address: str | None = None

    @property
    def remembered_as(self) -> tuple[str, str] | None:
        """Name and address under which it is remembered what its service stated; None: under none."""
        return None if self.address is None else (self.name, self.address)


class Models:
    """The main model and its fallbacks in their order. ``current`` is the one that is asked."""

    def __init__(self, main: AgentModel, *fallbacks: AgentModel) -> None:
        self._all = [main, *fallbacks]
        self._at = 0

    @property
    def current(self) -> AgentModel:
        """The one that is asked now."""
        return self._all[self._at]

    def cap(self, max_tokens: int) -> None:
        """Remember how long an answer of the current model may be."""
        self._all[self._at] = replace(self.current, max_tokens=max_tokens)

    def next(self, facts: ModelFacts) -> AgentModel | None:
        """The fallback behind the current model, which is then the current one; None where there is no other.

        ``facts`` are what is known by now of the one that was current, its window above all; they are kept.
        """
        self._keep(facts)
        if self._at + 1 == len(self._all):
            return None
        self._at += 1
        return self.current

    def back(self, facts: ModelFacts) -> AgentModel | None:
        """The main model, where another one is in use; of that the facts are kept."""
        if not self._at:
            return None
        self._keep(facts)
        self._at = 0
        return self.current

    def lead(self, main: AgentModel, facts: ModelFacts) -> None:
        """Make another model the main one; the fallbacks stay, with the facts of the one that was in use."""
        self._keep(facts)
        self._all[0], self._at = main, 0

    def _keep(self, facts: ModelFacts) -> None:
        self._all[self._at] = replace(self.current, facts=facts)


@dataclass(frozen=True)
class Marking:
    """A provider whose requests carry cache markers. They are set on the way out: no message is changed, none is kept with them."""

    provider: Provider
    layout: Layout
    ttl: Ttl = "5m"
    _known: Unmarked = field(default_factory=Unmarked, init=False, repr=False, compare=False)

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """The model's next message to the marked request."""
        marked = mark(messages, self.layout, self.ttl, known=self._known)
        return self.provider.ask(marked, tools=tools, max_tokens=max_tokens, timeout=timeout, on_delta=on_delta)
