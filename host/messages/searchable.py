"""What of a message can be found (design, The store): the one text that every search mode and index is held against."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from host.messages.types import Message

# fmt: off
SPOKEN = frozenset({
    "content", "text", "value", "text_summary", "refusal", "transcript", "output", "title",
    "name", "tool_name", "filename", "file_name", "thinking", "reasoning", "reasoning_content", "summary",
})
"""Keys whose strings are read: words, reasoning, names of tools and files. Unknown part types are read by them too."""

CARRIERS = SPOKEN | {
    "tool_calls", "function", "function_call", "custom", "file",
    "input_file", "source", "reasoning_details", "codex_reasoning_items", "codex_message_items",
}
# fmt: on
"""Keys whose objects and lists are looked into."""

GIVEN = frozenset({"arguments", "input"})
"""Keys that hold what a tool was given: all strings and numbers in it are read."""

BASE64_SOURCE = ("data", "base64")  # such a key in an object of such a type
BASE64 = re.compile(r"(?<=;base64,)[A-Za-z0-9+/=_-]+")


def searchable(message: Message) -> str:
    """The text of a message for search, one string per line, in the message's own order, each string once.

    Texts, tool names, decoded argument values (the raw text where arguments are not JSON), reasoning, file names;
    never base64.
    """
    return "\n".join(dict.fromkeys(without_base64(text) for text in _texts(message) if text))


def without_base64(text: str) -> str:
    """The text with the payload of its data URLs taken out; what comes before the payload stays."""
    return BASE64.sub("", text) if ";base64," in text else text


def _texts(message: object) -> Iterator[str]:
    waiting = [message]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(reversed([inner for key, inner in value.items() for inner in _read(key, inner)]))
        elif isinstance(value, list | tuple):
            waiting.extend(reversed(value))
        elif _is_leaf(value):
            yield str(value)


def _read(key: object, value: object) -> list[object]:
    """What to go on with of one key: its value, the leaves of arguments, or nothing."""
    if key in GIVEN:
        return [*_leaves(_decoded(value))]
    known = CARRIERS if isinstance(value, dict | list | tuple) else SPOKEN
    return [value] if key in known else []


def _decoded(arguments: object) -> object:
    """Arguments as values, numbers in the spelling they came in; text that is not JSON as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return arguments


def _leaves(value: object) -> Iterator[object]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(reversed([inner for key, inner in value.items() if (key, value.get("type")) != BASE64_SOURCE]))
        elif isinstance(value, list | tuple):
            waiting.extend(reversed(value))
        elif _is_leaf(value):
            yield value


def _is_leaf(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
