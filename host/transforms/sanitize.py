"""Every call has exactly one result, directly after it (seed 5.3, hermes.md 6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from host.messages.reading import call_id, calls_of, text_of, tool_call_id
from host.messages.types import Message, ToolCall

STUB = "[Result from earlier conversation — see context summary above]"


@dataclass(frozen=True)
class Repaired:
    """A list in which calls and results are paired, and what had to be done for it (counts of messages or calls)."""

    messages: list[Message]
    stubbed: int = 0
    dropped_results: int = 0
    dropped_calls: int = 0
    moved_results: int = 0


def repair_pairs(messages: list[Message]) -> list[Message]:
    """The same list where its pairs are whole, else a repaired copy; untouched messages stay the same objects."""
    return pair_results(messages).messages


def pair_results(messages: list[Message], stub: str = STUB) -> Repaired:
    """Orphan and repeated results go, results move behind their call, a missing one is stubbed after those that exist.

    Of one call written twice before its result, the later stays: it is the one that the result follows.
    """
    pairs = _match(messages)
    kept: list[Message] = []
    stubbed = dropped_calls = placed = 0
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            continue
        calls = pairs.calls.get(index, [])
        caller = _with_calls(message, calls)
        dropped_calls += len(calls_of(message)) - len(calls)
        if caller is None:
            continue
        results = pairs.results.get(index, [])
        stubs = [_stub(call, stub) for call in calls if call_id(call) not in {result["tool_call_id"] for result in results}]
        kept += [caller, *results, *stubs]
        stubbed += len(stubs)
        placed += len(results)
    if len(kept) == len(messages) and all(new is old for new, old in zip(kept, messages, strict=True)):
        return Repaired(messages)
    dropped = sum(m.get("role") == "tool" for m in messages) - placed
    return Repaired(kept, stubbed, dropped, dropped_calls, pairs.moved)


@dataclass
class _Pairs:
    """Per index of a calling message: the calls that stay and the results that answer them, in order of arrival."""

    calls: dict[int, list[ToolCall]] = field(default_factory=dict)
    results: dict[int, list[Message]] = field(default_factory=dict)
    moved: int = 0


def _match(messages: Sequence[Message]) -> _Pairs:
    pairs, waiting, group = _Pairs(), dict[str, tuple[int, ToolCall]](), -1
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            owner, _ = waiting.pop(tool_call_id(message), (-1, None))
            if owner >= 0:
                pairs.results.setdefault(owner, []).append(message)
                pairs.moved += owner != group
            continue
        group = index
        own: set[str] = set()
        for call in calls_of(message):
            key = call_id(call)
            if key in own:
                continue
            own.add(key)
            earlier = waiting.get(key)
            if earlier and earlier[1].get("function") == call.get("function"):
                pairs.calls[earlier[0]].remove(earlier[1])
            waiting[key] = (index, call)
            pairs.calls.setdefault(index, []).append(call)
    return pairs


def _with_calls(message: Message, calls: list[ToolCall]) -> Message | None:
    """The message with these calls only; None where nothing of it is left."""
    written = message.get("tool_calls")
    if message.get("role") != "assistant" or written is None or (written and len(calls) == len(written)):
        return message
    if calls:
        return cast(Message, {**message, "tool_calls": calls})
    if written and not text_of(message).strip():
        return None
    return cast(Message, {key: value for key, value in message.items() if key != "tool_calls"})


def _stub(call: ToolCall, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id(call), "content": text}
