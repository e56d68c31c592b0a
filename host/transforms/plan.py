"""What a compaction may use: costs and budgets, handed in by whoever asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from host.messages.masked import Mask
from host.messages.reading import calls_of
from host.messages.types import Message
from host.transforms.handoff import NOTE, handoff_text

Cost = Callable[[Message], int]
"""Tokens of one message; whoever calls decides how they are counted."""


@dataclass(frozen=True)
class Plan:
    """Costs and budgets of one compaction; all figures are tokens unless they count messages.

    ``threshold`` None means that nothing has to fit: the anchors then always hold (design, Rules of the window).
    """

    cost: Cost
    tail: int
    summary: int
    threshold: int | None = None
    window: int | None = None
    protect_first_n: int = 3  # messages
    protect_last_n: int = 20  # messages
    tools: int = 0
    focus: str | None = None
    memory: str = ""  # what memory plugins want the summary to know
    pins: tuple[Message, ...] = ()
    mask: Mask = str  # hides secrets in what is cut

    @cached_property
    def frame(self) -> int:
        """Tokens of a handoff without a body: prefix and end marker."""
        return self.cost({"role": "user", "content": handoff_text("")})

    @cached_property
    def note(self) -> int:
        """Tokens that the compaction note adds to the system prompt."""
        return self.cost({"role": "system", "content": NOTE})

    def is_pinned(self, message: Message) -> bool:
        """Whether the user asked for this very message to stay."""
        return id(message) in self._pinned

    def pinned(self, messages: Sequence[Message]) -> frozenset[int]:
        """Indices of the pinned messages; a pinned call or result stands for its whole group."""
        if not self.pins:
            return frozenset()
        return frozenset(at for i, message in enumerate(messages) if self.is_pinned(message) for at in group_of(messages, i))

    @cached_property
    def _pinned(self) -> frozenset[int]:
        return frozenset(map(id, self.pins))

    def spent(self, messages: Sequence[Message]) -> int:
        """Tokens of a list."""
        return sum(map(self.cost, messages))


def group_of(messages: Sequence[Message], index: int) -> range:
    """The indices of a calling message and the results behind it, asked for by any of them; of any other message its own."""
    first = index
    while first > 0 and messages[first].get("role") == "tool":
        first -= 1
    if not calls_of(messages[first]):
        return range(index, index + 1)
    last = first + 1
    while last < len(messages) and messages[last].get("role") == "tool":
        last += 1
    return range(first, last)
