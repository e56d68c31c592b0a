"""Calls of the newest reply that nobody has answered, and the words that stand in for a result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import cast

from host.messages.reading import call_id, calls_of, tool_call_id
from host.messages.types import Message, ToolCall
from host.provider.answers import new_call_id

DIED = "[no result: the process ended before the tool answered]"
NOT_RUN = "[not run: interrupted]"
CUT_SHORT = "[no result: interrupted while it ran]"
FAILED = "[not run: the turn failed]"
EXHAUSTED = "[not run: the turn has made all of its {:,} model calls]"


def open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls at the end of a list that have no result; none where somebody has spoken since."""
    results = list(takewhile(lambda message: message.get("role") == "tool", reversed(messages)))
    if len(results) == len(messages):
        return []
    answered = {tool_call_id(result) for result in results}
    return [call for call in calls_of(messages[-len(results) - 1]) if call_id(call) not in answered]


def result_of(call: ToolCall, text: str) -> Message:
    """The message that answers a call."""
    return {"role": "tool", "tool_call_id": call_id(call), "content": text}


def with_ids(message: Message) -> Message:
    """A reply whose calls can be answered: an id where a server sent none, or the same one twice. Else the same object."""
    calls = calls_of(message)
    ids = [call_id(call) for call in calls]
    if all(ids) and len(set(ids)) == len(ids):
        return message
    seen: set[str] = set()
    named = []
    for call, known in zip(calls, ids, strict=True):
        unused = known if known and known not in seen else new_call_id()
        seen.add(unused)
        named.append(call if unused == known else {**call, "id": unused, **({"call_id": unused} if call.get("call_id") else {})})
    return cast(Message, {**message, "tool_calls": named})
