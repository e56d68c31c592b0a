"""How full the window is: estimates, calibrated on what providers counted for the same messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, count
from operator import is_not
from typing import Protocol

from host.messages.types import Message, ToolSchema, Usage

SCALE_LIMITS = (0.5, 2.0)  # beyond this the usage is about something else than these messages
NEWEST_SHARE = 0.3  # weight of the newest ratio in the running mean
CALIBRATION_TOKENS = 256  # smaller requests say more about the provider's preamble than about the text
POSSIBLE = (0.1, 4.0)  # times the estimate; a count beyond is of another request, or of a part of this one
JUDGED_TOKENS = 1_000  # of an estimate; below it a provider's preamble may be larger than all the rest
SPARE_COSTS = 1_024  # cached costs of messages that left, before they are dropped


class Costs(Protocol):
    """What the gauge needs of a counter."""

    def message(self, message: Message) -> int:
        """Tokens of one message."""

    def tools(self, tools: Sequence[ToolSchema]) -> int:
        """Tokens of the tool schemas."""


@dataclass(frozen=True)
class _Counted:
    """A list and the running sums of its costs, a zero first: ``sums[n]`` are the tokens of the first n messages."""

    messages: list[Message]
    sums: list[int]


@dataclass(frozen=True)
class _Measured:
    """What a provider counted for a request."""

    messages: list[Message]
    tokens: int
    tools: int  # our estimate of the schemas in it


class Gauge:
    """Tokens of requests. A turn costs only its new messages; an edited message has to be a new object."""

    def __init__(self, costs: Costs) -> None:
        self._costs = costs
        self._known: dict[int, tuple[Message, int]] = {}  # the message is held, so that its id stays its own
        self._tool_cost: tuple[Sequence[ToolSchema], int] = ((), 0)
        self._counted = _Counted([], [0])
        self._measured: _Measured | None = None
        self._scale: float | None = None
        self._pending = False

    @property
    def scale(self) -> float:
        """Real tokens for one estimated token, 1.0 before any was measured."""
        return 1.0 if self._scale is None else self._scale

    @property
    def pending(self) -> bool:
        """Whether the window was compacted and no reply has come since."""
        return self._pending

    @property
    def real_tokens(self) -> int | None:
        """Prompt tokens of the newest measured request; None before the first and after a compaction."""
        return None if self._measured is None else self._measured.tokens

    def cost(self, message: Message) -> int:
        """Estimated tokens of one message, remembered as long as it stays in the window."""
        known = self._known.get(id(message))
        if known is not None:
            return known[1]
        return self._remember(message, self._costs.message(message))

    def estimate(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        """Tokens of a request by counting alone, not calibrated."""
        return self._count(messages).sums[-1] + self._cost_of_tools(tools)

    def measure(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        """Tokens of a request: what was really counted for its beginning, and the calibrated estimate of the rest."""
        sums = self._count(messages).sums
        tool_cost = self._cost_of_tools(tools)
        measured = self._measured
        if measured is None or not _begins_with(messages, measured.messages):
            return round(self.scale * (sums[-1] + tool_cost))
        new = sums[-1] - sums[len(measured.messages)] + tool_cost - measured.tools
        return max(0, measured.tokens + round(self.scale * new))

    def rough(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
        """Tokens of a request by counting alone, calibrated; what was really counted last where that is more."""
        return max(round(self.scale * self.estimate(messages, tools)), self.real_tokens or 0)

    def believes(self, usage: Usage, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> bool:
        """Whether a provider can have counted this for the request: neither far too little nor far too much."""
        estimated = self.estimate(messages, tools)
        lowest, highest = POSSIBLE
        return estimated < JUDGED_TOKENS or usage.prompt <= 0 or lowest * estimated <= usage.prompt <= highest * estimated

    def record(self, usage: Usage | None, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> None:
        """Take what the provider counted for this request; no usage, or one of zero, leaves the estimate in force."""
        self._pending = False
        if usage is None or usage.prompt <= 0:
            return
        estimated = self.estimate(messages, tools)
        if estimated >= CALIBRATION_TOKENS:
            self._scale = _nearer(self._scale, usage.prompt / estimated)
        self._measured = _Measured(list(messages), usage.prompt, self._cost_of_tools(tools))

    def compacted(self) -> None:
        """The window was replaced: its real size is unknown until the next reply. The calibration stays."""
        self._measured = None
        self._pending = True

    def forget(self) -> None:
        """Another model counts from now on: what was measured and calibrated is void."""
        self._measured, self._scale, self._pending = None, None, False

    def _count(self, messages: Sequence[Message]) -> _Counted:
        before = self._counted
        same = _common_prefix(before.messages, messages)
        if same < len(messages) or same < len(before.messages):
            self._adopt_equal(before.messages, messages, same)
            added = accumulate(map(self.cost, messages[same:]), initial=before.sums[same])
            self._counted = _Counted(list(messages), before.sums[:same] + list(added))
            self._forget_departed()
        return self._counted

    def _adopt_equal(self, before: list[Message], messages: Sequence[Message], start: int) -> None:
        """A rebuilt list holds equal messages at the same places: comparing is cheaper than counting."""
        for old, new in zip(before[start:], messages[start:], strict=False):
            if id(new) not in self._known and old == new:
                self._remember(new, self.cost(old))

    def _remember(self, message: Message, cost: int) -> int:
        self._known[id(message)] = (message, cost)
        return cost

    def _forget_departed(self) -> None:
        window = self._counted.messages
        if len(self._known) > 2 * len(window) + SPARE_COSTS:
            self._known = {id(message): (message, self.cost(message)) for message in window}

    def _cost_of_tools(self, tools: Sequence[ToolSchema]) -> int:
        known, cost = self._tool_cost
        if known != tools:
            cost = self._costs.tools(tools) if tools else 0
            self._tool_cost = (list(tools), cost)
        return cost


def _common_prefix(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages at the beginning are the same objects, or equal ones between those that are."""
    shorter = min(len(before), len(now))
    if not shorter or (now[shorter - 1] is before[shorter - 1] and _head(now, shorter) == _head(before, shorter)):
        return shorter  # nearly always: a turn only adds, and equal lists of the same objects are told quickly
    return next(compress(count(), map(is_not, before, now)), shorter)


def _head(messages: Sequence[Message], length: int) -> list[Message]:
    return messages if isinstance(messages, list) and len(messages) == length else list(messages[:length])


def _begins_with(messages: Sequence[Message], beginning: list[Message]) -> bool:
    return len(messages) >= len(beginning) and _head(messages, len(beginning)) == beginning


def _nearer(scale: float | None, ratio: float) -> float:
    lowest, highest = SCALE_LIMITS
    ratio = max(lowest, min(ratio, highest))
    return ratio if scale is None else scale + NEWEST_SHARE * (ratio - scale)
