"""How much of a window the result of one call may take."""

from __future__ import annotations

from collections.abc import Callable

SHARE = 4  # one result takes a quarter of the window at most, all of one reply together half of it
FEW_CHARS = 8  # as many characters no token has on average
CUT = "\n[cut here: the first {:,} of {:,} characters; the rest is not kept. Ask for a smaller part of it.]"


def room_for(window: int, calls: int) -> int:
    """Tokens for each result of a reply with so many calls."""
    return max(1, window // max(SHARE, SHARE // 2 * calls))


def bounded(text: str, room: int, count: Callable[[str], int]) -> str:
    """The text where it has no more than ``room`` tokens; else its beginning, with a line in that room that says what is left out."""
    if len(text) <= room or (len(text) <= room * FEW_CHARS and count(text) <= room):
        return text
    room = max(0, room - count(CUT.format(len(text), len(text))))
    shown = text[: room * FEW_CHARS]
    while shown and (tokens := count(shown)) > room:
        shown = shown[: int(len(shown) * min(room / tokens, 0.95))]
    return shown + CUT.format(len(shown), len(text))
