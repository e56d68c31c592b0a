"""How archived text, times and sizes are shown: on one line, harmless to a terminal, aligned by what a terminal shows."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime

from host.messages.reading import call_arguments, call_name, calls_of, text_of
from host.messages.types import Message

BLANKS = re.compile(r"\s+")
JOINERS = "\u200c\u200d"  # Persian words and emoji fall apart without them, and a terminal obeys neither
WORDS = 160  # characters of a message that one line has room for
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def plain(text: str) -> str:
    """The text with every run of blanks as one, and escapes for what would command a terminal or cannot be written."""
    if text.isprintable() and "  " not in text:
        return text
    return "".join(
        char if char.isprintable() or char in JOINERS else char.encode("unicode_escape").decode("ascii") for char in BLANKS.sub(" ", text)
    )


def first_words(message: Message) -> str:
    """How a message begins: its words, else its calls, else which parts it has."""
    said = plain(text_of(message)[:WORDS]).strip()
    calls = "; ".join(f"{call_name(call)}({call_arguments(call)[:WORDS]})" for call in calls_of(message))
    content: object = message.get("content")
    parts = content if isinstance(content, list) else []
    kinds = ", ".join(str(part.get("type")) for part in parts if isinstance(part, dict) and part.get("type") != "text")
    return " ".join(filter(None, [said, plain(f"→ {calls}"[:WORDS]) if calls else "", plain(f"[{kinds}]") if kinds else ""]))


def fitted(text: str) -> str:
    """A line cut to the width of the terminal; uncut where it goes elsewhere."""
    return clipped(text, shutil.get_terminal_size().columns) if sys.stdout.isatty() else text


def clipped(text: str, cells: int) -> str:
    """The text within so many cells of a terminal, an ellipsis where it was cut."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= cells else set_cell_size(text, max(0, cells - 1)).rstrip() + "…"


def aligned(rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """Rows of cells as lines, the columns aligned; wide characters count as two. ``right``: columns of numbers."""
    from rich.cells import cell_len

    table, numbers = [list(row) for row in rows], set(right)
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        padded = [
            " " * (width - cell_len(cell)) + cell if at in numbers else cell + " " * (width - cell_len(cell))
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


def local(moment: datetime | None) -> str:
    """A time by the clock of whoever reads it, to the second; by UTC where that clock has no such time (year 1, west of it)."""
    if moment is None:
        return "-"
    try:
        return moment.astimezone().replace(tzinfo=None).isoformat(" ", "seconds")
    except (OverflowError, ValueError, OSError):  # what the C library makes of it
        return f"{moment.replace(tzinfo=None).isoformat(' ', 'seconds')} UTC"


def sized(count: int) -> str:
    """A number of bytes for people."""
    size = float(count)
    for unit in UNITS:
        if size < 1024 or unit == UNITS[-1]:
            break
        size /= 1024
    return counted(count, "byte") if unit == "bytes" else f"{size:,.1f} {unit}"


def spans(ranges: Iterable[range]) -> str:
    """Positions for people: ``2-31, 40``."""
    return ", ".join(f"{span.start:,}" if len(span) == 1 else f"{span.start:,}-{span.stop - 1:,}" for span in ranges if span)


def counted(count: int, what: str) -> str:
    """``1 message``, ``2 messages``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
