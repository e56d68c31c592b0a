"""What the events of a recording say, chain by chain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from host.formats.feeds.events import Event, TakenBack
from host.store.readings import KEYS, Entry, Returned, Told


def entries_by_chain(events: Iterable[Event]) -> dict[str, list[Entry]]:
    """What was said, chain by chain in its order; a message that grew meanwhile once, as it was last."""
    chains: dict[str, list[Entry]] = {}
    places: dict[str, dict[str, int]] = defaultdict(dict)
    for event in events:
        entries, known = chains.setdefault(event.chain, []), places[event.chain]
        if isinstance(event, TakenBack):
            entries.append(Returned(event.after))
            known.clear()  # said again after it was taken back it is not what it was
            continue
        told = Told(event.key, event.message, event.time, event.compaction)
        if (at := known.get(event.key)) is not None and isinstance(first := entries[at], Told):
            entries[at] = replace(first, message=told.message)
        else:
            known[event.key] = len(entries)
            entries.append(told)
            if len(known) > KEYS:
                del known[next(iter(known))]
    return chains


def timed(entries: Sequence[Entry], before: Callable[[], datetime | None], otherwise: datetime) -> list[Entry]:
    """The entries, each message with a time: where none is recorded that of the message before it, else of the next that has one.

    ``before`` is asked for the time of the message before the first; where nothing tells it is ``otherwise``.
    """
    if all(entry.time is not None for entry in entries if isinstance(entry, Told)):
        return [*entries]
    recorded = (entry.time for entry in entries if isinstance(entry, Told) and entry.time is not None)
    last = before() or next(recorded, otherwise)
    found: list[Entry] = []
    for entry in entries:
        last = (entry.time or last) if isinstance(entry, Told) else last
        found.append(replace(entry, time=last) if isinstance(entry, Told) else entry)
    return found
