"""What may come into a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from typing import Any

from host.errors import UsageError
from host.messages.types import Dumped, Usage
from host.messages.violations import ROLES


def refuse_odd(message: object, where: str, time: object = None) -> None:
    """UsageError for what is no message, and for a time that is none."""
    if time is not None and not isinstance(time, datetime):
        raise UsageError(f"time is {type(time).__name__}", "give a datetime, or nothing for now")
    if not isinstance(message, dict) or not isinstance(role := message.get("role"), str):
        raise UsageError(f"{where} is no message: {str(message)[:80]!r}", "give a dict with a role")
    if role not in ROLES:
        raise UsageError(f"{where} has the role {role[:40]!r}, which no model takes", f"the roles are {', '.join(sorted(ROLES))}")
    if not is_finite(message):
        raise UsageError(f"{where} holds a number that JSON has no word for (NaN or an infinity)", "give null, or its text, in its place")


def is_finite(value: dict[str, Any] | list[Any]) -> bool:
    """Whether no number in a value of dicts and lists is NaN or infinite."""
    for entry in value.values() if isinstance(value, dict) else value:
        if entry is None or isinstance(entry, str):  # nearly always: a list of thousands is looked at in each turn
            continue
        if isinstance(entry, float) and not isfinite(entry):
            return False
        if isinstance(entry, dict | list) and not is_finite(entry):
            return False
    return True


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
