"""Old pictures leave the window: they are large, and what they showed was seen (seed 4, phase 4; hermes.md 15.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from host.messages.reading import has_image, is_image, last_index, parts_of
from host.messages.types import Message

STRIPPED = "[Attached image — stripped after compression]"


def strip_historical_media(messages: list[Message], pins: Sequence[Message] = ()) -> list[Message]:
    """Pictures before the newest user turn that has one become a short note, and those of tools before the newest user turn.

    ``pins`` are messages of the list that keep theirs.
    """
    shown = last_index(messages, lambda m: m.get("role") == "user" and has_image(m))
    asked = last_index(messages, lambda m: m.get("role") == "user")
    if not any(has_image(m) for m in messages[: max(shown, asked)]):
        return messages
    kept = frozenset(map(id, pins))
    before = {"tool": max(shown, asked)}
    return [without_images(m) if i < before.get(m.get("role", ""), shown) and id(m) not in kept else m for i, m in enumerate(messages)]


def without_images(message: Message) -> Message:
    """The message with a note in place of each picture; the same object where there is none."""
    if not has_image(message):
        return message
    parts = [{"type": "text", "text": STRIPPED} if is_image(part) else part for part in parts_of(message)]
    return cast(Message, {**message, "content": parts})
