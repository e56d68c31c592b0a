"""Which of several versions of a message is the newest."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

P = TypeVar("P", bound=Hashable)


def newest_by_place(placed: Iterable[tuple[P, int]]) -> dict[P, int]:
    """Of pairs of a place in a conversation and a position of what stands there: place -> its last position."""
    newest: dict[P, int] = {}
    for place, position in placed:
        newest[place] = max(position, newest.get(place, 0))
    return newest
