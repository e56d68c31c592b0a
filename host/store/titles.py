"""Titles of sessions (hermes.md 8.5)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LONGEST = 100  # characters
LAST = "last"  # no title: it names the session with the newest message
NUMBERED = re.compile(r"^(.*?) #(\d+)$")
UNSEEN = frozenset({"Cc", "Cf", "Cs"})  # control, zero-width, surrogate


def clean_title(title: str | None) -> str | None:
    """The title on one line without what cannot be seen; None for an empty one."""
    if title is None:
        return None
    title = unicodedata.normalize("NFC", title)
    seen = "".join(" " if char.isspace() else char for char in title if char.isspace() or unicodedata.category(char) not in UNSEEN)
    return " ".join(seen.split())[:LONGEST].strip() or None


def next_title(title: str, held: Iterable[str]) -> str:
    """The title of a continuation: ``work`` becomes ``work #2``, the next number after all that are held."""
    base, taken = base_title(title), set(held)
    numbers = [int(found[2]) for found in map(NUMBERED.match, taken) if found and found[1] == base]
    number = max([1, *numbers]) + 1
    while numbered(base, number) in taken:  # a long base was cut, and another one is like it up to there
        number += 1
    return numbered(base, number)


def numbered(base: str, number: int) -> str:
    """A title with its number, the base cut so that both fit."""
    suffix = f" #{number}"
    return base[: LONGEST - len(suffix)].rstrip() + suffix


def base_title(title: str) -> str:
    """The title without its number."""
    found = NUMBERED.match(title)
    return found[1] if found else title
