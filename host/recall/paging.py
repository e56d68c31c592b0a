"""Messages as pages of a bounded size: every page gets further, and the pages together hold every character."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from host.messages.types import JSON
from host.recall.answers import as_text
from host.recall.fields import Field, fields_of
from host.store.values import Row

LONGEST_ROLE = 40
LEAST_PIECE = 40  # characters: a page does not end with less of a field
PER_TOKEN = 8  # characters of one token that are hoped for: more are not looked at for one page
SHRINK = 0.97
FULL = 0.9  # of a page, from which a field that was cut ends it
NEWLINE = 1  # tokens of what stands between two entries


@dataclass(frozen=True)
class Beginning:
    """Where a page begins: a position, a field of that message, a character of that field."""

    position: int
    field: int = 0
    character: int = 0


@dataclass
class Opening:
    """One page while it is filled, up to ``room`` tokens. A page on which nothing stands takes at least one character."""

    room: int
    count: Callable[[str], int]
    raw: bool = False
    told: list[JSON] = field(default_factory=list)
    spent: int = 0

    def fill(self, rows: Iterable[Row], start: Beginning) -> Beginning | None:
        """Take in the rows from a place on; where the next page begins, None where everything is told."""
        for row in rows:
            begin = start if row.position == start.position else Beginning(row.position)
            stopped = self._take(row, begin)
            if stopped is not None:
                return stopped
        return None

    def _take(self, row: Row, begin: Beginning) -> Beginning | None:
        head = headed(row)
        cost = self._cost(head)
        if self.told and self.spent + cost > self.room:
            return begin
        entries: list[JSON] = []
        self.spent += cost
        stopped = self._take_fields(row, begin, entries)
        if stopped != begin or not self.told:
            self.told.append({**head, "fields": entries} if row.message is not None else head)
        return stopped

    def _take_fields(self, row: Row, begin: Beginning, entries: list[JSON]) -> Beginning | None:
        """Add the fields of a message; where it had to stop."""
        fields = fields_of(row.message, head_role(row), raw=self.raw) if row.message is not None else []
        start = begin.character
        for index in range(begin.field, len(fields)):
            one = fields[index]
            start = min(start, len(one.text))
            while True:
                stop = self._stop(one, start, is_first=not self.told and not entries)
                if stop is None:
                    return Beginning(row.position, index, start)
                entries.append(one.piece(start, stop))
                self.spent += self._cost(entries[-1])
                if one.left_out or stop >= len(one.text):
                    break
                start = stop
                if self.spent > self.room * FULL:
                    return Beginning(row.position, index, start)
            start = 0
        return None

    def _stop(self, one: Field, start: int, *, is_first: bool) -> int | None:
        """How far a field fits; None where nothing of it does."""
        room, last = self.room - self.spent, one.longest_stop(start)
        if one.left_out:
            return len(one.text) if is_first or self._cost(one.whole()) <= room else None
        wanted = min(last - start, max(room, 1) * PER_TOKEN)
        while wanted > 0 and (cost := self._cost(one.piece(start, start + wanted))) > room:
            wanted = min(wanted - 1, int(wanted * room / cost * SHRINK)) if room > 0 else 0
        if is_first:
            return start + max(wanted, min(1, last - start))
        is_worth_it = wanted >= min(LEAST_PIECE, last - start) and (wanted > 0 or (last == start and self._cost(one.whole()) <= room))
        return start + wanted if is_worth_it else None

    def _cost(self, told: JSON) -> int:
        return self.count(as_text(told)) + NEWLINE


def head_role(row: Row) -> str:
    """The role as it heads a message."""
    return row.role[:LONGEST_ROLE]


def headed(row: Row) -> JSON:
    """Which message it is, who said it and when; and what is to be known of one that is not there any more."""
    head: JSON = {"message": f"{row.conversation}:{row.position}", "time": f"{row.time:%Y-%m-%dT%H:%M:%SZ}", "role": head_role(row)}
    if row.damaged:
        return {**head, "damaged": "its bytes cannot be read; `ctxhost archive verify` says more"}
    if row.message is None:
        return {**head, "erased": "its content was erased for good with `ctxhost archive forget`"}
    return {**head, "superseded": "a newer version of this message exists"} if row.superseded else head
