"""The exact values and rules of a conversation that still hold."""

from __future__ import annotations

from host.messages.facts import Live, Told, decoded, facts_of, kept, told
from host.messages.searchable import searchable
from host.store.protocols import Archive
from host.store.values import Row

ROWS = 20_000  # the newest: what was said longer ago is found by search, and no restart waits for it
WHOLE = 2_000  # of these, the ones that are heard whoever spoke; before them the user alone, whose rules hold for long


class Heard:
    """Hears each row once. After an edit or an erasure all is heard anew: what was taken away holds no longer."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._live = Live()
        self._upto = 0
        self._erasures = -1

    def holding(self) -> list[Told]:
        """What holds now."""
        pulse = self._archive.pulse()
        rows = list(self._archive.rows(max(self._upto, pulse.last - ROWS) + 1, pulse.last)) if pulse.erasures == self._erasures else None
        if rows is None or any(row.place != row.position for row in rows):
            self._live, self._erasures = Live(), pulse.erasures
            rows = [row for row in self._archive.rows(max(1, pulse.last - ROWS + 1), pulse.last) if _counts(row, pulse.last)]
        for row in rows:
            self._hear(row)
        self._upto = pulse.last
        return self._live.holding()

    def _hear(self, row: Row) -> None:
        if row.message is None:
            return
        text = searchable(row.message)
        facts = kept(facts_of(row.message)) if row.facts is None else decoded(row.facts, text)
        self._live.hear(told(facts, text, row=row.position, role=row.role))


def _counts(row: Row, last: int) -> bool:
    return not row.superseded and (row.role == "user" or row.position > last - WHOLE)
