"""Archived conversations written out: every message in its canonical form, so that reading it back gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from host.messages.canonical import canonical
from host.messages.types import Message


def as_list(title: str, messages: Sequence[Message]) -> str:
    """One JSON list of OpenAI messages."""
    return "[" + ",\n ".join(map(written, messages)) + "]\n"


def as_lines(title: str, messages: Sequence[Message]) -> str:
    """One message a line."""
    return "".join(f"{written(message)}\n" for message in messages)


def as_dialogue(title: str, messages: Sequence[Message]) -> str:
    """One line: an object with the title as ``id`` and the ``messages``."""
    return f'{{"id":{json.dumps(title)},"messages":[{",".join(map(written, messages))}]}}\n'


EXPORTS: dict[str, Callable[[str, Sequence[Message]], str]] = {"openai": as_list, "jsonl": as_lines, "dialogues": as_dialogue}
"""Name of a format -> how a conversation is written in it."""


def written(message: Message) -> str:
    """The canonical form as text that any file takes: a lone surrogate becomes its JSON escape."""
    text = canonical(message).decode("utf-8", "surrogatepass")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def harmless(text: str) -> str:
    """The same JSON with escapes for what would command a terminal."""
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)
