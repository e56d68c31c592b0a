"""The request that was given out last."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from host.messages.reading import has_image
from host.messages.types import Message, ToolSchema


@dataclass(frozen=True)
class Asked:
    """What was sent: the messages, None before the first request, and the tools.

    ``text_only_tools``: the service takes nothing but text in tool results, so they are sent as text.
    """

    messages: tuple[Message, ...] | None = None
    tools: tuple[ToolSchema, ...] = ()
    text_only_tools: bool = False


def size_in_bytes(messages: Sequence[Message]) -> int:
    """How long the messages are on their way to the service."""
    return len(json.dumps(messages, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))


def share_of_pictures(messages: Sequence[Message]) -> float:
    """How much of those bytes is in messages with pictures, from 0 to 1."""
    return size_in_bytes([message for message in messages if has_image(message)]) / max(1, size_in_bytes(messages))
