"""Whether a place of a text stands among the words of a person."""

from __future__ import annotations

from host.messages.facts.fact import FactKind
from host.messages.facts.sentences import reads_as_prose

LONGEST_PROSE = 2000
"""Characters of a line; a longer one is data."""

KEY_ENDS = ('":', "':", '" :', '\\":')
"""What follows the name of a field: its value may be a fact, its name is none."""

Found = tuple[FactKind, int, int]
"""A kind, and where its text begins and ends."""


class Lines:
    """The lines of a text. Asked about in rising order, as often as wished, each is looked for quickly and looked at once."""

    def __init__(self, text: str) -> None:
        self._text, self._start, self._end, self._is_prose = text, 0, -1, False
        self._known: dict[int, bool] = {}

    def is_prose(self, place: int) -> bool:
        """Whether the line around a place is prose rather than code, a record or a command."""
        if self._start <= place < self._end:
            return self._is_prose
        before = max(0, self._end) if place >= self._end else 0  # a new round begins where the text does
        self._start = self._text.rfind("\n", before, place) + 1 or before
        end = self._text.find("\n", place)
        self._end = len(self._text) if end < 0 else end
        if (known := self._known.get(self._end)) is None:
            is_short = self._end - self._start <= LONGEST_PROSE
            known = self._known[self._end] = is_short and reads_as_prose(self._text[self._start : self._end])
        self._is_prose = known
        return known
