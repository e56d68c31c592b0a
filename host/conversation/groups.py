"""Messages that stand together in the archive: a call with its results, in their newest versions."""

from __future__ import annotations

from collections.abc import Iterator

from host.messages.reading import call_id, calls_of, tool_call_id
from host.messages.types import Message
from host.store.protocols import Archive
from host.store.values import Row

CHUNK = 16  # rows that are read at once: most groups are shorter
REACH = 512  # rows between a call and its result; what stands further apart is not taken for one group


class Groups:
    """Reads rows of one conversation as they are at this moment; made anew for each look."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.places = archive.places()
        self._newest: dict[int, int] = {}
        for row, place in self.places.items():
            self._newest[place] = max(row, self._newest.get(place, 0))

    def row(self, position: int) -> Row | None:
        """The newest version of a message, by the position of any version; None where there is no such row."""
        place = self.places.get(position, position)
        newest = self._newest.get(place, place)
        return next(iter(self._archive.rows(newest, newest)), None)

    def of(self, row: Row) -> list[Row]:
        """The whole group of a message, in order; a message that calls nothing is alone.

        Empty for a result whose call is not there. Members that were erased are left out.
        """
        message = row.message
        if message is None:
            return []
        if message.get("role") != "tool":
            return [row, *self._results(row.place, message)]
        caller = self._caller(row.place, tool_call_id(message))
        if caller is None or caller.message is None:
            return []
        return [caller, *self._results(caller.place, caller.message)]

    def _caller(self, place: int, called: str) -> Row | None:
        for row in self._backwards(place):
            if row.message is not None and any(call_id(call) == called for call in calls_of(row.message)):
                return row
        return None

    def _results(self, place: int, caller: Message) -> Iterator[Row]:
        """The first result of each call, up to where one of the ids is called anew."""
        open_calls = {call_id(call) for call in calls_of(caller)}
        for row in self._forwards(place) if open_calls else ():
            message = row.message
            if message is None:
                continue
            if open_calls & {call_id(call) for call in calls_of(message)}:
                return
            if message.get("role") == "tool" and tool_call_id(message) in open_calls:
                open_calls.remove(tool_call_id(message))
                yield row
                if not open_calls:
                    return

    def _backwards(self, place: int) -> Iterator[Row]:
        for end in range(place - 1, max(0, place - REACH), -CHUNK):
            yield from reversed(list(self._read(max(1, end - CHUNK + 1), end)))

    def _forwards(self, place: int) -> Iterator[Row]:
        last = self._archive.range()[1]
        for start in range(place + 1, min(last, place + REACH) + 1, CHUNK):
            yield from self._read(start, min(last, start + CHUNK - 1))

    def _read(self, first: int, last: int) -> Iterator[Row]:
        """Messages whose first version stands here, in their newest."""
        for row in self._archive.rows(first, last):
            if row.place == row.position:
                newest = self.row(row.position) if row.position in self._newest else row
                if newest is not None:
                    yield newest
