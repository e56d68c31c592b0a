"""Long lists of words in any case, made quick for the many texts that hold none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property


class AnyCase:
    """A pattern with ``re.IGNORECASE``, written in small letters; it finds what that finds.

    With the flag every alternative is tried at every word. Without it those that begin with another letter are passed over, so a
    text in ASCII is searched in small letters first: where nothing is found, which is nearly always, it costs a third.
    """

    def __init__(self, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._pattern, self._flags = pattern, flags

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """The pattern as it is."""
        return re.compile(self._pattern, self._flags | re.IGNORECASE)

    @cached_property
    def _small(self) -> re.Pattern[str]:
        return re.compile(self._pattern, self._flags)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first match at or after ``start``."""
        if text.isascii() and self._small.search(text.lower(), start) is None:
            return None
        return self.whole.search(text, start)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches."""
        if text.isascii() and self._small.search(text.lower()) is None:
            return iter(())
        return self.whole.finditer(text)
