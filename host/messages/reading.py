"""Reading a message without caring how it was written: list contents, nulls and half-filled calls included."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from host.messages.types import Message, Part, ToolCall

SYSTEM_ROLES = frozenset({"system", "developer"})
IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})


def parts_of(message: Message) -> list[Part]:
    """The parts of a list content; a string content is one text part, null none."""
    content: object = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [{"type": "text", "text": str(content.get("text_summary") or "")}]
    if isinstance(content, list):
        return [part if isinstance(part, dict) else {"type": "text", "text": str(part)} for part in content]
    return []


def text_of(message: Message) -> str:
    """All text parts joined by newlines; no images, no reasoning, no calls."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part_text(part) for part in parts_of(message) if part_text(part))


def part_text(part: Part) -> str:
    """The text of one part, empty for parts that have none."""
    text = part.get("text")
    return text if isinstance(text, str) else ""


def whole(text: str) -> str:
    """The text with two halves of a character that came in one after the other as that character."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_image(part: Part) -> bool:
    """Whether a part shows a picture, in any of the three wire formats."""
    return part.get("type") in IMAGE_TYPES


def has_image(message: Message) -> bool:
    """Whether any part of the message is a picture."""
    return isinstance(message.get("content"), list) and any(is_image(part) for part in parts_of(message))


def calls_of(message: Message) -> list[ToolCall]:
    """The tool calls of an assistant message; null and malformed entries are none."""
    calls = message.get("tool_calls")
    if message.get("role") != "assistant" or not isinstance(calls, list):
        return []
    return [call for call in calls if isinstance(call, dict)]


def call_id(call: ToolCall) -> str:
    """``call_id`` where it is filled, else ``id`` (hermes.md 6.5)."""
    return str(call.get("call_id") or call.get("id") or "")


def tool_call_id(message: Message) -> str:
    """The id of the call that a tool result answers, empty where it names none."""
    return str(message.get("tool_call_id") or "")


def call_name(call: ToolCall) -> str:
    """The name of the called tool, empty where there is none."""
    function: object = call.get("function")
    return str(function.get("name") or "") if isinstance(function, dict) else ""


def call_arguments(call: ToolCall) -> str:
    """The argument text as sent; arguments that were never text are written as JSON."""
    function: object = call.get("function")
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def parsed_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; text that is not a JSON object is an empty one."""
    try:
        parsed = json.loads(call_arguments(call) or "{}")
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def is_system(message: Message) -> bool:
    """Whether the message instructs the model rather than speaks in the conversation."""
    return message.get("role") in SYSTEM_ROLES


def has_words(message: Message) -> bool:
    """Whether a person would see any text in the message."""
    return bool(text_of(message).strip())


def last_index(messages: Sequence[Message], wanted: Callable[[Message], bool], *, since: int = 0) -> int:
    """Index of the last message at or after ``since`` that is wanted, -1 where there is none."""
    for index in range(len(messages) - 1, since - 1, -1):
        if wanted(messages[index]):
            return index
    return -1
