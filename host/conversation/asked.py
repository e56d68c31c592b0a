"""The request that was given out last."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from host.messages.reading import has_image, is_image, part_text, parts_of
from host.messages.types import Message, ToolSchema

NO_PICTURE = "[picture: this model takes only text from tools]"


@dataclass(frozen=True)
class Asked:
    """What was sent: the messages, None before the first request, and the tools.

    ``text_only_tools``: the service takes nothing but text in tool results, so they are sent as text.
    """

    messages: tuple[Message, ...] | None = None
    tools: tuple[ToolSchema, ...] = ()
    text_only_tools: bool = False


def as_text(message: Message) -> Message:
    """A tool result with all its parts as one text; the same object where it is text already, and for other messages."""
    if message.get("role") != "tool" or not isinstance(message.get("content"), list):
        return message
    said = [NO_PICTURE if is_image(part) else part_text(part) for part in parts_of(message)]
    return cast(Message, {**message, "content": "\n".join(filter(None, said))})


def size_in_bytes(messages: Sequence[Message]) -> int:
    """How long the messages are on their way to the service."""
    return len(json.dumps(messages, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))


def share_of_pictures(messages: Sequence[Message]) -> float:
    """How much of those bytes is in messages with pictures, from 0 to 1."""
    return size_in_bytes([message for message in messages if has_image(message)]) / max(1, size_in_bytes(messages))
