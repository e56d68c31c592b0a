"""How sessions follow each other in a conversation (hermes.md 8.4, 8.5): the same in every store."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from secrets import token_hex
from typing import TypeVar

from host.messages.types import JSON
from host.store.values import GOAL

LAST = "last"  # names the session with the newest message
K = TypeVar("K")  # how a store names a session: its id, or the number of its row


def rows_of_session(segments: Sequence[tuple[int, K]], session: K, last: int) -> tuple[range, ...]:
    """The positions that were archived while a session was the open one.

    ``segments`` say from which position on which session was it, in the order of the changes; ``last`` is the newest position.
    """
    stops = [first for first, _ in segments[1:]] + [last + 1]
    return tuple(range(first, stop) for (first, of), stop in zip(segments, stops, strict=True) if of == session and stop > first)


def session_at(segments: Sequence[tuple[int, K]], position: int) -> K:
    """The session that was the open one when a position was archived."""
    return segments[bisect_right(segments, position, key=itemgetter(0)) - 1][1]


def handed_over(settings: JSON) -> tuple[JSON, JSON]:
    """What the session that ends keeps of its settings, and what the one that goes on has: the goal moves."""
    return {key: value for key, value in settings.items() if key != GOAL}, settings


def new_name(is_taken: Callable[[str], bool]) -> str:
    """A session's id: when it began, and six random digits."""
    while is_taken(name := f"{datetime.now(UTC):%Y%m%d_%H%M%S}_{token_hex(3)}"):
        pass
    return name
