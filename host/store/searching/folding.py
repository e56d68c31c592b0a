"""One spelling for texts that a reader takes for the same, and the way back to the text as it was written."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import regex

CLUSTER = regex.compile(r"\X")  # a character as a reader sees it: composing never crosses its edges
Spelling = Callable[[str], str]


def composed(text: str) -> str:
    """The text in NFC: letters and their accents as one character where there is one. Regular expressions run on this."""
    return unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """The text in NFC without its case. Literal and word searches run on this."""
    return composed(text).casefold()


class Origins:
    """Where the characters of a changed spelling come from. Folding may change how many there are ("ß" becomes "ss")."""

    def __init__(self, text: str, spelling: Spelling) -> None:
        self._map: list[tuple[int, int]] | None = None
        if len(spelling(text)) != len(text) or not unicodedata.is_normalized("NFC", text):
            self._map = [origin for cluster in CLUSTER.finditer(text) for origin in _origins(cluster.start(), cluster.group(), spelling)]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the text as written that a stretch of its changed spelling comes from."""
        if self._map is None or start >= end:
            return (start, end) if self._map is None else (0, 0)
        return self._map[start][0], self._map[end - 1][1]


def _origins(start: int, cluster: str, spelling: Spelling) -> list[tuple[int, int]]:
    changed = spelling(cluster)
    if len(changed) == len(cluster) and unicodedata.is_normalized("NFC", cluster):
        return [(start + offset, start + offset + 1) for offset in range(len(cluster))]
    return [(start, start + len(cluster))] * len(changed)
