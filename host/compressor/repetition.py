"""Whether a text says the same again and again, as a model does that has lost its thread."""

from __future__ import annotations

import zlib

LEAST = 1_200  # bytes of a text of which its compressed size tells something
TAIL = 3_000  # bytes at the end: a model that runs in circles does so to the end
SAID_ONCE = 1 / 16  # of its bytes: dense prose is a third, long lists of like items a tenth
FEW_WORDS, OFTEN = 12, 4  # words of a short text, and how often each of them comes


def runs_in_circles(text: str) -> bool:
    """Whether nearly all of a text, or of its end, is repetition."""
    written = text.encode("utf-8", "replace")
    return any(len(part) >= LEAST and len(zlib.compress(part)) < len(part) * SAID_ONCE for part in (written, written[-TAIL:]))


def repeats_a_phrase(text: str) -> bool:
    """Whether a short text is a few words, said several times."""
    words = text.casefold().split()
    return len(words) >= FEW_WORDS and len(set(words)) * OFTEN <= len(words)
