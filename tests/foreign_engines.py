"""Engines as strangers write them: none of them knows of pins, receipts or the newest request."""

from __future__ import annotations

import json
from typing import Any

from host.messages.reading import is_system
from host.messages.types import Message
from host.transforms.handoff import handoff_text
from tests.engines_for_tests import Scripted


def drops_everything(messages: list[Message]) -> list[Message]:
    """System prompt and the newest group."""
    newest = len(messages) - 1
    while newest > 0 and messages[newest].get("role") == "tool":
        newest -= 1
    return [*filter(is_system, messages[:newest]), *messages[newest:]]


def reorders(messages: list[Message]) -> list[Message]:
    """The older half is gone, and what is left stands back to front."""
    return messages[len(messages) // 2 :][::-1]


def rebuilds(messages: list[Message]) -> list[Message]:
    """A summary of the older half, and the rest in fresh dicts: other key order, texts as parts, arguments spelled anew."""
    half = len(messages) // 2
    while half < len(messages) - 1 and messages[half].get("role") == "tool":
        half += 1
    head = [*filter(is_system, messages[:half])]
    notes: Message = {"role": "user", "content": handoff_text(f"about {half} messages")}
    return [*map(rebuilt, head), notes, *map(rebuilt, messages[half:])]


def rebuilt(message: Message) -> Message:
    """The same message as another library would write it."""
    copy: Any = json.loads(json.dumps(dict(reversed(message.items()))))
    if isinstance(copy.get("content"), str) and copy["role"] != "tool":
        copy["content"] = [{"type": "text", "text": copy["content"]}]
    for call in copy.get("tool_calls") or ():
        call["function"]["arguments"] = json.dumps(json.loads(call["function"]["arguments"]), indent=1)
    result: Message = copy
    return result


FOREIGN = {"drops everything": drops_everything, "reorders": reorders, "rebuilds": rebuilds}


def foreign(name: str, window: int = 8_000) -> Scripted:
    """One of them."""
    return Scripted(FOREIGN[name], window)
