"""A recorded conversation run again under an engine: the real Conversation, the replies from the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from operator import is_

from host.conversation.conversation import Conversation
from host.engine.outcome import Outcome
from host.messages.reading import is_system
from host.messages.types import Message, ToolSchema, Usage
from host.messages.violations import Violation, violations
from host.transforms.handoff import split_merged

Progress = Callable[[int, int], None]
Count = Callable[[Sequence[Message]], int]


@dataclass(frozen=True)
class Irreducible:
    """Tokens of a request that no compaction can take away."""

    system: int  # all leading system and developer messages
    tools: int
    request: int  # the newest user message, 0 where it is in the newest group
    group: int  # the newest message, or calls with their results

    @property
    def total(self) -> int:
        """All of it."""
        return self.system + self.tools + self.request + self.group

    def __str__(self) -> str:
        return (
            f"system {self.system:,} + tools {self.tools:,} + newest user message {self.request:,} "
            f"+ newest tool group {self.group:,} = {self.total:,}"
        )


@dataclass(frozen=True)
class Call:
    """One model call of the replay. ``index`` is the place of its reply in the recording, tokens are exact counts."""

    index: int
    tokens: int
    recorded_tokens: int  # what the call would have held without an engine
    messages: int
    found: tuple[Violation, ...]
    lost: tuple[str, ...]
    irreducible: Irreducible


@dataclass(frozen=True)
class Replayed:
    """A whole replay. ``window`` and ``threshold`` are tokens."""

    window: int
    threshold: int
    messages_in: int
    messages_out: int
    tokens_in: int
    tokens_out: int
    calls: tuple[Call, ...]
    compactions: tuple[Outcome, ...]
    unfinished: tuple[Outcome, ...]  # ended over the threshold although they could have gone below
    final: tuple[Message, ...] = field(repr=False, default=())

    @property
    def peak(self) -> int:
        """Tokens of the fullest window that was sent."""
        return max((call.tokens for call in self.calls), default=0)

    @property
    def sent(self) -> int:
        """Prompt tokens of all calls together."""
        return sum(call.tokens for call in self.calls)

    @property
    def sent_without(self) -> int:
        """The same without an engine."""
        return sum(call.recorded_tokens for call in self.calls)

    @property
    def broken(self) -> tuple[Call, ...]:
        """Calls with a list that is illegal, or lacks what every window holds."""
        return tuple(call for call in self.calls if call.found or call.lost)

    @property
    def overfull(self) -> tuple[Call, ...]:
        """Calls over the window although a compaction could have helped."""
        return tuple(call for call in self.calls if call.tokens > self.window >= call.irreducible.total)

    @property
    def impossible(self) -> tuple[Call, ...]:
        """Calls whose irreducible part alone is over the window."""
        return tuple(call for call in self.calls if call.irreducible.total > self.window)

    @property
    def is_fine(self) -> bool:
        """Whether every list was legal and whole, and fitted where it could."""
        return not self.broken and not self.overfull and not self.unfinished


def replay(
    conversation: Conversation,
    recording: Sequence[Message],
    tools: Sequence[ToolSchema],
    *,
    count: Count,
    compactions: list[Outcome],
    progress: Progress = lambda done, total: None,
) -> Replayed:
    """Feed a recording through the conversation. ``compactions`` is the list that the conversation reports to.

    A model call is the moment before each recorded assistant message; its usage is the exact count of what was sent.
    """
    calls: list[Call] = []
    judge = Judge(count)

    def floor(row: int) -> int:
        return irreducible(recording, row, count, fixed).total

    fixed = count_tools(conversation, tools)
    running = fixed
    for index, message in enumerate(recording):
        if message.get("role") == "assistant":
            call = one_call(conversation, recording, index, running, tools, judge)
            conversation.measured(Usage(call.tokens))
            calls.append(call)
        conversation.add(message)
        running += count([message])
        progress(index + 1, len(recording))
    final, threshold = conversation.view.messages, conversation.threshold
    return Replayed(
        window=conversation.services.facts.window,
        threshold=threshold,
        messages_in=len(recording),
        messages_out=len(final),
        tokens_in=running,
        tokens_out=fixed + count(final),
        calls=tuple(calls),
        compactions=tuple(outcome for outcome in compactions if outcome.refused is None),
        unfinished=tuple(outcome for outcome in last_passes(compactions) if outcome.after > threshold >= floor(outcome.row)),
        final=final,
    )


def last_passes(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcome that each occasion ended with: a trigger may compact several times in a row."""
    following = [*outcomes[1:], None][: len(outcomes)]
    return [
        one for one, after in zip(outcomes, following, strict=True) if after is None or (after.row, after.trigger) != (one.row, one.trigger)
    ]


def one_call(
    conversation: Conversation, recording: Sequence[Message], index: int, recorded: int, tools: Sequence[ToolSchema], judge: Judge
) -> Call:
    """What the model would be sent now, counted and judged."""
    window = conversation.window(tools)
    fixed = count_tools(conversation, tools)
    tokens, found = judge.look(window)
    return Call(
        index=index,
        tokens=fixed + tokens,
        recorded_tokens=recorded,
        messages=len(window),
        found=found,
        lost=lost_from(window, recording, index),
        irreducible=irreducible(recording, index, judge.count, fixed),
    )


class Judge:
    """Counts and judges window after window; of one that only grew, what is new."""

    def __init__(self, count: Count) -> None:
        self.count = count
        self._seen: list[Message] = []
        self._tokens = 0

    def look(self, window: list[Message]) -> tuple[int, tuple[Violation, ...]]:
        """Tokens of the window, and what a provider would refuse in it."""
        known = len(self._seen) if len(self._seen) <= len(window) and all(map(is_, self._seen, window)) else 0
        tokens = (self._tokens if known else 0) + self.count(window[known:])
        found = violations(window[known:]) if len(window) > known else []
        self._seen, self._tokens = ([], 0) if found else (window, tokens)  # a legal beginning ends with whole groups
        return tokens, tuple(replace(violation, index=violation.index + known) for violation in found)


def irreducible(recording: Sequence[Message], end: int, count: Count, tools: int) -> Irreducible:
    """The arithmetic of a request that may not fit: what of ``recording[:end]`` has to be in it."""
    start = group_start(recording, end)
    asked = newest_user(recording, end)
    system = list(takewhile(is_system, islice(recording, start)))
    request = [recording[asked]] if 0 <= asked < start else []
    return Irreducible(count(system), tools, count(request), count(recording[start:end]))


def group_start(recording: Sequence[Message], end: int) -> int:
    """Where the newest group before ``end`` begins: a message, or calls with their results."""
    start = end - 1
    while start > 0 and recording[start].get("role") == "tool":
        start -= 1
    return max(0, start)


def newest_user(recording: Sequence[Message], end: int) -> int:
    """Index of the newest user message before ``end``, -1 where there is none."""
    asked = (i for i in range(end - 1, -1, -1) if recording[i].get("role") == "user")
    return next(asked, -1)


def lost_from(window: Sequence[Message], recording: Sequence[Message], end: int) -> tuple[str, ...]:
    """What every window has to hold and this one does not."""
    asked = newest_user(recording, end)
    must = {"the newest user message": recording[asked : asked + 1] if asked >= 0 else [], "the newest message": recording[end - 1 : end]}
    return tuple(what for what, messages in must.items() if messages and not any(holds(m, messages[0]) for m in reversed(window)))


def holds(shown: Message, wanted: Message) -> bool:
    """Whether a message of the window is this one, or has it whole behind a summary."""
    if shown is wanted or shown == wanted:
        return True
    parts = split_merged(shown)
    return len(parts) > 1 and parts[-1] == wanted


def count_tools(conversation: Conversation, tools: Sequence[ToolSchema]) -> int:
    """Tokens of the tool schemas."""
    return conversation.services.count.tools(tools)
