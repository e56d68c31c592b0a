"""Names of engines: which of them are safe, and which one was meant."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

from host.errors import UnsafeName

LONGEST_NAME = 255  # bytes: no file system of ours has a folder with a longer name
SEPARATORS = frozenset("/\\:")  # POSIX, Windows, and its drives


def check_name(name: str) -> str:
    """Give a safe name back, or raise UnsafeName. No file is touched.

    Safe is a plain folder name on any system: printable, at most 255 bytes, without separators, and without the leading
    ``.`` or ``_`` that hides a folder (design, Names). Characters that only look like separators or dots count as such.
    """
    plain = unicodedata.normalize("NFKC", name)
    visible = name.isprintable() and plain.strip() and plain[0] not in "._"
    if not visible or SEPARATORS & set(plain) or len(os.fsencode(name)) > LONGEST_NAME:
        raise UnsafeName(name)
    return name


def is_safe(name: str) -> bool:
    """Whether ``check_name`` would let the name pass."""
    try:
        check_name(name)
    except UnsafeName:
        return False
    return True


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one most likely means, None if nothing is close."""
    by_folded = {other.casefold(): other for other in sorted(known) if other != name}
    close = get_close_matches(name.casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def printable(text: str) -> str:
    """The text on one line, its control characters and lone surrogates escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in " ".join(text.split()))
