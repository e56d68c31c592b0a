"""What was read in a short text is kept: what a user says is archived, heard and summarised, and each asks for the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps

from host.messages.facts.fact import Fact

SHORT = 1_000  # characters; a longer text is read anew
TEXTS = 2_048


def remembered(read: Callable[[str], list[Fact]]) -> Callable[[str], list[Fact]]:
    """The same reading, which takes no time for the ``TEXTS`` short texts that it was last asked of."""
    kept = lru_cache(maxsize=TEXTS)(lambda text: tuple(read(text)))

    @wraps(read)
    def found(text: str) -> list[Fact]:
        return list(kept(text)) if len(text) <= SHORT else read(text)

    return found
