"""Every call has exactly one result, directly after it (seed 5.3, hermes.md 6.5)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import cast

from host.messages.reading import call_arguments, call_id, calls_of, text_of, tool_call_id
from host.messages.types import Message, ToolCall
from host.messages.violations import is_json

STUB = "[Result from earlier conversation — see context summary above]"


RAW = "_raw"  # where the text of arguments that are no JSON is kept


@dataclass(frozen=True)
class Repaired:
    """A list in which calls and results are paired, and what had to be done for it (counts of messages or calls).

    ``sources`` gives the place in the old list of each message, None for a stub.
    """

    messages: list[Message]
    sources: list[int | None]
    stubbed: int = 0
    dropped_results: int = 0
    dropped_calls: int = 0
    moved_results: int = 0

    @property
    def is_repaired(self) -> bool:
        """Whether anything had to be done."""
        return any((self.stubbed, self.dropped_results, self.dropped_calls, self.moved_results))


def sendable(messages: Sequence[Message]) -> list[Message]:
    """The messages as a provider takes them: pairs whole, arguments JSON. Untouched messages stay the same objects."""
    return pair_results([with_json_arguments(message) for message in messages]).messages


def repair_pairs(messages: list[Message]) -> list[Message]:
    """The same list where its pairs are whole, else a repaired copy; untouched messages stay the same objects."""
    repaired = pair_results(messages).messages
    return messages if len(repaired) == len(messages) and all(map(is_, repaired, messages)) else repaired


def pair_results(messages: list[Message]) -> Repaired:
    """Orphan and repeated results go, results move behind their call, a missing one is stubbed after those that exist.

    Of one call written twice before its result, the later stays: it is the one that the result follows.
    """
    pairs = _match(messages)
    kept: list[tuple[int | None, Message]] = []
    stubbed = dropped_calls = placed = 0
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            continue
        calls = pairs.calls.get(index, [])
        dropped_calls += len(calls_of(message)) - len(calls)
        caller = _with_calls(message, calls)
        if caller is None:
            continue
        results = pairs.results.get(index, [])
        answered = {tool_call_id(messages[at]) for at in results}
        stubs = [_stub(call) for call in calls if call_id(call) not in answered]
        kept += [(index, caller), *((at, messages[at]) for at in results), *((None, stub) for stub in stubs)]
        stubbed, placed = stubbed + len(stubs), placed + len(results)
    dropped = sum(m.get("role") == "tool" for m in messages) - placed
    return Repaired([m for _, m in kept], [at for at, _ in kept], stubbed, dropped, dropped_calls, pairs.moved)


def with_json_arguments(message: Message) -> Message:
    """The message with arguments that are no JSON wrapped into it; the same object where there are none."""
    calls = calls_of(message)
    mended = [_with_json_arguments(call) for call in calls]
    return message if all(map(is_, calls, mended)) else cast(Message, {**message, "tool_calls": mended})


def _with_json_arguments(call: ToolCall) -> ToolCall:
    function: object = call.get("function")
    if not isinstance(function, dict) or is_json(call_arguments(call)):
        return call  # a custom tool's call has an input of its own in the place of a function
    return cast(ToolCall, {**call, "function": {**function, "arguments": as_json(call_arguments(call))}})


def as_json(arguments: str) -> str:
    """Argument text as JSON: an empty one as an empty object, any other text wrapped as it is."""
    if not arguments.strip():
        return "{}"
    return arguments if is_json(arguments) else json.dumps({RAW: arguments}, ensure_ascii=False)


@dataclass
class _Pairs:
    """Per index of a calling message: the calls that stay, and where the results stand that answer them, as they came."""

    calls: dict[int, list[ToolCall]] = field(default_factory=dict)
    results: dict[int, list[int]] = field(default_factory=dict)
    moved: int = 0


def _match(messages: Sequence[Message]) -> _Pairs:
    pairs, waiting, group = _Pairs(), dict[str, tuple[int, ToolCall]](), -1
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            owner, _ = waiting.pop(tool_call_id(message), (-1, None))
            if owner >= 0:
                pairs.results.setdefault(owner, []).append(index)
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


def _stub(call: ToolCall) -> Message:
    return {"role": "tool", "tool_call_id": call_id(call), "content": STUB}
