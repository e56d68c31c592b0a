"""Turns of a few words that keep roles apart where a pinned message stands: it is never merged with its neighbour."""

from __future__ import annotations

from collections.abc import Container, Sequence

from host.messages.reading import is_system
from host.messages.types import Message

BRIDGE = {"user": "(continued)", "assistant": "Understood."}
"""What a bridge says, by its role."""


def bridge(role: str) -> Message:
    """The turn that stands before a message of this role where one of the same role would meet it."""
    other = "assistant" if role == "user" else "user"
    return {"role": other, "content": BRIDGE[other]}


def is_bridge(message: Message) -> bool:
    """Whether the message says no more than a bridge does."""
    return len(message) == 2 and message.get("content") == BRIDGE.get(message.get("role", ""), message)


def bridges(messages: Sequence[Message], seams: Container[int]) -> dict[int, Message]:
    """The turns that are missing, by the index of the message that each stands before.

    ``seams`` are the indices of messages that did not follow the one before them, and may not be merged with it. No two
    equal roles meet there, and what comes first is the user's. System messages are no neighbours.
    """
    found: dict[int, Message] = {}
    before, is_seam = "assistant", False  # so that an assistant at the beginning needs a user
    for index, message in enumerate(messages):
        is_seam = is_seam or index in seams
        if is_system(message):
            continue
        role = message.get("role", "")
        if is_seam and role == before and role in BRIDGE:
            found[index] = bridge(role)
        before, is_seam = role, False
    return found


def with_bridges(messages: Sequence[Message], seams: Container[int]) -> list[Message]:
    """The messages with the turns that are missing."""
    missing = bridges(messages, seams)
    return [part for i, message in enumerate(messages) for part in ((missing[i], message) if i in missing else (message,))]
