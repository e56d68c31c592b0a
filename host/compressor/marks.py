"""How a summary says in a user's sentence that one of its values was replaced: "port [8080, now 9090]"."""

from __future__ import annotations

import re
from collections.abc import Callable

MARK = re.compile(r"\[(?P<old>[^\[\]]+), (?:now (?P<new>[^\[\]]+)|changed since)\]")
LONGEST = 80  # characters of a new value that is said; a longer one is a sentence


def marked(old: str, new: str | None) -> str:
    """A replaced value beside the new one, where that is known and is a value."""
    if new is None or len(new) > LONGEST:
        return f"[{old}, changed since]"
    return old if new == old else f"[{old}, now {new}]"


def as_it_holds(text: str) -> str:
    """The text with the new values alone."""
    return MARK.sub(lambda mark: mark["new"] or "", text)


def without_marks(text: str) -> str:
    """The text without its replaced values, and without what replaced them."""
    return MARK.sub("", text)


def is_marked(text: str) -> bool:
    """Whether a value of the text is marked as replaced."""
    return MARK.search(text) is not None


def renewed(text: str, now: Callable[[str], str]) -> str:
    """The text with each new value that ``now`` has another one for brought up to date."""
    return MARK.sub(lambda mark: marked(mark["old"], now(mark["new"])) if mark["new"] else mark[0], text)


def marking(text: str, find: re.Pattern[str]) -> str:
    """The text with what is found marked as changed, except within a mark."""
    pieces, end = [], 0
    for mark in MARK.finditer(text):
        pieces += [_changed(text[end : mark.start()], find), mark[0]]
        end = mark.end()
    return "".join([*pieces, _changed(text[end:], find)])


def word(value: str) -> re.Pattern[str]:
    """A value as a word of its own, in any case."""
    return re.compile(rf"(?i)(?<![\w/-]){re.escape(value)}(?![\w/-])")


def _changed(text: str, find: re.Pattern[str]) -> str:
    return find.sub(lambda found: marked(found[0], None), text)
