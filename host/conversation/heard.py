"""The exact values and rules of the user that still hold: what the block in a window is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from host.messages.facts import Live, Told, decoded, facts_of, kept, told
from host.messages.facts.fact import RULES
from host.messages.masked import Mask
from host.messages.searchable import searchable
from host.recall.leaving import is_of_the_client
from host.store.protocols import Archive
from host.store.values import Row

ROWS = 20_000  # the newest: what was said longer ago is found by search, and no restart waits for it


class Heard:
    """Hears the user's rows, each once. After an edit or an erasure all is heard anew: what was taken away holds no longer.

    What tools and assistants told is the summary's to keep: it is a hundred times as much, and every compaction waits for this.
    """

    def __init__(self, archive: Archive, mask: Mask) -> None:
        self._archive = archive
        self._mask = mask
        self._live = Live()
        self._upto = 0
        self._erasures = -1

    def holding(self) -> list[Told]:
        """What holds now."""
        pulse = self._archive.pulse()
        rows = list(self._archive.rows(max(self._upto, pulse.last - ROWS) + 1, pulse.last)) if pulse.erasures == self._erasures else None
        if rows is None or any(row.place != row.position for row in rows):
            self._live, self._erasures = Live(), pulse.erasures
            rows = [row for row in self._archive.rows(max(1, pulse.last - ROWS + 1), pulse.last) if not row.superseded]
        for row in rows:
            if row.role == "user" and not is_of_the_client(row):
                self._hear(row)
        self._upto = pulse.last
        return self._live.holding()

    def _hear(self, row: Row) -> None:
        if row.message is None:
            return
        text = searchable(row.message)
        facts = kept(facts_of(row.message)) if row.facts is None else decoded(row.facts, text)
        shown = self._mask(text)
        heard = told(facts, text, row=row.position, role=row.role)
        self._live.hear(heard if shown == text else list(without_secrets(heard, shown, self._mask)))


def without_secrets(heard: Sequence[Told], shown: str, mask: Mask) -> Iterator[Told]:
    """Values that the masked text still has, and rules with their secrets masked."""
    for one in heard:
        if one.fact.kind in RULES:
            yield replace(one, fact=replace(one.fact, text=mask(one.fact.text)))
        elif one.fact.text in shown:
            yield one
