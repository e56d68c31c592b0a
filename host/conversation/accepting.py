"""What may come into a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from host.errors import UsageError
from host.messages.types import Dumped, Usage


def refuse_odd(message: object, where: str, time: object = None) -> None:
    """UsageError for what is no message, and for a time that is none."""
    if time is not None and not isinstance(time, datetime):
        raise UsageError(f"time is {type(time).__name__}", "give a datetime, or nothing for now")
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise UsageError(f"{where} is no message: {str(message)[:80]!r}", "give a dict with a role")


def known_position(position: int, known: tuple[int, int]) -> int:
    """The position of a message that is there; UsageError where it is not between the first and the last one known."""
    first, last = known
    if not first <= position <= last:
        raise UsageError(f"delivery_of={position} is no message of this conversation", f"positions are {first} to {last}")
    return position


def usage_of(usage: Usage | Mapping[str, Any] | Dumped | None) -> Usage | None:
    """What a provider counted; UsageError for what is no usage."""
    try:
        return Usage.from_provider(usage)
    except (AttributeError, TypeError) as error:
        raise UsageError(f"{type(usage).__name__} is no usage", "give what the client calls usage, or None") from error
