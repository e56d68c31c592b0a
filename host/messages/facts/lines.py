"""Whether a place of a text stands among the words of a person."""

from __future__ import annotations

from host.messages.facts.fact import FactKind
from host.messages.facts.sentences import reads_as_prose

LONGEST_PROSE = 2000
"""Characters of a line; a longer one is data."""

Found = tuple[FactKind, int, int]
"""A kind, and where its text begins and ends."""


class Lines:
    """The lines of a text, asked about in rising order: each is looked at once."""

    def __init__(self, text: str) -> None:
        self._text, self._end, self._prose = text, -1, False

    def is_prose(self, place: int) -> bool:
        """Whether the line around a place is prose rather than code, a record or a command."""
        if place >= self._end:
            start = self._text.rfind("\n", max(0, self._end), place) + 1 or max(0, self._end)
            end = self._text.find("\n", place)
            self._end = len(self._text) if end < 0 else end
            self._prose = self._end - start <= LONGEST_PROSE and reads_as_prose(self._text[start : self._end])
        return self._prose
