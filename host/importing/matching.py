"""Which messages of a recording are archived already: by their content, equal ones by how often they came."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from host.formats.feeds.events import Event, TakenBack
from host.messages.canonical import identity
from host.messages.types import Message
from host.store.readings import Entry
from host.store.values import Row


class Archived:
    """The messages of one conversation, each to be recognised once. A former version of a message counts as that message."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._places: dict[bytes, deque[int]] = defaultdict(deque)
        self._recognised: set[int] = set()
        for row in rows:
            if row.message is not None:
                self._places[identity(row.message)].append(row.place)

    def place_of(self, message: Message) -> int | None:
        """The place of the first such message that was not asked for yet; None where there is none."""
        places = self._places.get(identity(message))
        while places:
            place = places.popleft()
            if place not in self._recognised:
                self._recognised.add(place)
                return place
        return None


def marked(entries: Sequence[Entry], archived: Archived) -> list[Entry]:
    """The entries, with the places of those that are archived. What the user took back before the last of these was seen then."""
    placed = [entry if entry.message is None else replace(entry, at=archived.place_of(entry.message)) for entry in entries]
    last = max((index for index, entry in enumerate(placed) if entry.at is not None), default=-1)
    return [entry for index, entry in enumerate(placed) if entry.message is not None or index > last]


def is_same(rows: Sequence[Row], entries: Sequence[Entry]) -> bool:
    """Whether two conversations begin alike as far as the shorter one goes: one is a copy of the other, or what came of it."""
    said = [entry.message for entry in entries if entry.message is not None]
    pairs = [(row.message, message) for row, message in zip(rows, said, strict=False) if row.message is not None]
    return bool(pairs) and all(identity(one) == identity(other) for one, other in pairs)


def entries_by_chain(events: Iterable[Event]) -> dict[str, list[Entry]]:
    """What was said, chain by chain in its order; a message that grew meanwhile once, as it was last."""
    chains: dict[str, list[Entry]] = {}
    places: dict[str, dict[str, int]] = defaultdict(dict)
    for event in events:
        entries, known = chains.setdefault(event.chain, []), places[event.chain]
        if isinstance(event, TakenBack):
            entries.append(Entry(event.key, None))
            known.clear()  # said again after it was taken back it is not what it was
        elif (at := known.get(event.key)) is not None:
            entries[at] = replace(entries[at], message=event.message)
        else:
            known[event.key] = len(entries)
            entries.append(Entry(event.key, event.message, event.time, event.compaction))
    return chains
