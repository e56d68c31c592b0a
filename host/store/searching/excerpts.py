"""The piece of a message that shows why it is a hit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from host.store.searching.matching import Span

WIDTH = 240  # characters of an excerpt
LINE_WIDTH = 160  # of a message beside a hit
LOOKED_AT = 40  # matches of which the richest is chosen
CUT = "…"


def excerpt(text: str, spans: Iterable[Span], width: int = WIDTH) -> tuple[str, tuple[Span, ...]]:
    """About ``width`` characters around the first match, and all matches in them as offsets into the excerpt."""
    waiting = iter(spans)
    first = next(waiting, (0, 0))
    return shown(text, first, chain([first], waiting), width)


def richest_excerpt(text: str, spans: Iterable[Span], width: int = WIDTH) -> tuple[str, tuple[Span, ...]]:
    """The same around the match after which most different ones follow: where any word counts, the first may say least."""
    looked_at = list(islice(spans, LOOKED_AT))
    return shown(text, max(looked_at, key=lambda first: _different(text, looked_at, first, width // 2), default=(0, 0)), looked_at, width)


def shown(text: str, centre: Span, spans: Iterable[Span], width: int) -> tuple[str, tuple[Span, ...]]:
    """The stretch around a match, with all of the matches in it."""
    start, end = window(len(text), centre, width)
    before, after = CUT if start else "", CUT if end < len(text) else ""
    shift = len(before) - start
    return before + text[start:end] + after, tuple((a + shift, b + shift) for a, b in clipped(spans, start, end))


def window(length: int, first: Span, width: int) -> Span:
    """The stretch of a text that is shown: the first match in its middle, or at its beginning where it is long."""
    middle = (first[0] + min(first[1], first[0] + width)) // 2
    start = max(0, min(middle - width // 2, length - width))
    return start, min(length, start + width)


def clipped(spans: Iterable[Span], start: int, end: int) -> Iterator[Span]:
    """The spans, as far as they are inside; they come in order."""
    for a, b in spans:
        if a >= end:
            return
        if b > max(a, start):
            yield max(a, start), min(b, end)


def _different(text: str, spans: list[Span], first: Span, reach: int) -> int:
    return len({text[a:b].casefold() for a, b in spans if first[0] <= a < first[0] + reach})


def shortened(text: str, width: int = LINE_WIDTH) -> str:
    """The beginning of a text."""
    return text if len(text) <= width else text[:width] + CUT
