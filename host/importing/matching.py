"""Which messages of a recording are archived already: by their content, equal ones by how often they came."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from host.formats.feeds.facts import UUID
from host.messages.canonical import identity
from host.messages.types import Message
from host.store.readings import KEYS, Entry, Recognised, Returned, Told
from host.store.values import Row

FEW = 2  # messages that two sessions may have in common


class Left(NamedTuple):
    """An archived message that a recording does not say any more, or not in these words."""

    place: int
    role: str
    is_erased: bool


class Archived:
    """The messages of one conversation, each to be recognised once. A former version of a message counts as that message."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._places: dict[bytes, deque[int]] = defaultdict(deque)
        self._recognised: set[int] = set()
        self._times: set[tuple[int, datetime]] = set()
        self._is_sure = False  # that one of them came: in the same words at the same time
        self._all: dict[int, Left] = {}
        for row in rows:
            self._all[row.place] = Left(row.place, row.role, is_erased=row.message is None and not row.damaged)
            if row.message is not None:
                self._places[identity(row.message)].append(row.place)
                self._times.add((row.place, row.time))

    def place_of(self, message: Message, time: datetime | None = None) -> int | None:
        """The place of the first such message that was not asked for yet; None where there is none."""
        places = self._places.get(identity(message))
        while places:
            place = places.popleft()
            if place not in self._recognised:
                self._recognised.add(place)
                self._is_sure = self._is_sure or (time is not None and (place, time) in self._times)
                return place
        return None

    def is_told(self, count: int) -> bool:
        """Whether the ``count`` messages that were asked for are of this conversation: one was said at the same time, or most came.

        A greeting, or what a client says in every session, is not enough. Where all was erased it may be.
        """
        held = sum(not left.is_erased for left in self._all.values())
        came = len(self._recognised)
        return not self._places or self._is_sure or (came > FEW and 2 * came > min(count, held))

    def left(self, after: int, before: int) -> list[Left]:
        """Those between two places that nobody asked for."""
        return [self._all[place] for place in range(after + 1, before) if place in self._all and place not in self._recognised]

    def end(self) -> int:
        """The first place behind all of them."""
        return max(self._all, default=0) + 1


def marked(entries: Sequence[Entry], archived: Archived) -> list[Entry]:
    """The entries, with the places of those that are archived. What the user took back before the last of these was seen then."""
    placed = [_recognised(entry, archived) for entry in entries]
    last = max((index for index, entry in enumerate(placed) if isinstance(entry, Recognised)), default=-1)
    found: list[Entry] = []
    before = 0
    for new, known in _stretches([entry for index, entry in enumerate(placed) if not isinstance(entry, Returned) or index > last]):
        until = known.position if known is not None else archived.end()
        found += [*_placed(new, archived.left(before, until)), *([known] if known is not None else ())]
        before = until
    return found


def telling_keys(known: Sequence[Entry]) -> list[str]:
    """The newest keys that may tell whose the entries are: another session has none of these ids, but lines of the same numbers."""
    keyed = [(entry, entry.key) for entry in known if not isinstance(entry, Returned) and entry.key is not None]
    return [key for entry, key in keyed if isinstance(entry, Recognised) or UUID.match(key)][-KEYS:]


def is_same(rows: Sequence[Row], entries: Sequence[Entry]) -> bool:
    """Whether two conversations begin alike as far as the shorter one goes: one is a copy of the other, or what came of it."""
    said = [entry.message for entry in entries if isinstance(entry, Told)]
    pairs = [(row.message, message) for row, message in zip(rows, said, strict=False) if row.message is not None]
    return bool(pairs) and all(identity(one) == identity(other) for one, other in pairs)


def is_named_only(entry: Entry) -> bool:
    """Whether an entry of a recording without keys only says which message the next one is a version of."""
    return isinstance(entry, Recognised) and entry.key is not None


def _recognised(entry: Entry, archived: Archived) -> Entry:
    if isinstance(entry, Told) and (place := archived.place_of(entry.message, entry.time)) is not None:
        return Recognised(entry.key, place)
    return entry


def _stretches(entries: Sequence[Entry]) -> Iterator[tuple[list[Entry], Recognised | None]]:
    """What is new, up to each that is archived, and up to the end."""
    new: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Recognised):
            yield new, entry
            new = []
        else:
            new.append(entry)
    yield new, None


def _placed(new: list[Entry], left: Sequence[Left]) -> list[Entry]:
    """The new ones in the places of those that are left, where they correspond. Behind what was erased there may be more.

    What has a key of its own is no other message's new version.
    """
    told = [entry for entry in new if isinstance(entry, Told)]
    roles = [str(entry.message.get("role") or "") for entry in told]
    is_edit = len(new) == len(left) and all(entry.key is None for entry in told)
    fits = len(told) == len(new) and (is_edit or all(each.is_erased for each in left))
    if not left or not fits or roles[: len(left)] != [each.role for each in left]:
        return new
    return [*(version for entry, each in zip(told, left, strict=False) for version in _version(entry, each)), *new[len(left) :]]


def _version(entry: Told, left: Left) -> Iterator[Entry]:
    if left.is_erased:
        yield Recognised(entry.key, left.place)
        return
    key = f"edited {left.place} {identity(entry.message).hex()}"  # names the place first, then what stands there now
    yield Recognised(key, left.place)
    yield replace(entry, key=key)
