"""Who is who in a message list: rows and kinds beside the messages, which themselves carry no key of the host."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import overload

from host.messages.canonical import identity
from host.messages.types import Message


class Kind(StrEnum):
    """What a message of the window is to the archive."""

    ORIGINAL = "original"  # as archived
    SUMMARY = "summary"  # an engine's words for the rows it covers
    MERGED = "merged"  # a summary in front of an original, in one message
    STUB = "stub"  # stands in for a tool result that is missing
    DIGEST = "digest"  # a shortened original
    FACTS = "facts"  # the host's: exact values of what left the window, where the engine wrote no summary
    FOREIGN = "foreign"  # came back from an engine or caller, nobody knows from where


@dataclass(frozen=True)
class Entry:
    """One message of the window with its row in the archive (None: not archived) and the rows it covers."""

    message: Message
    row: int | None = None
    kind: Kind = Kind.ORIGINAL
    covers: tuple[range, ...] = ()


class Ledger(Sequence[Entry]):
    """The entries of a window, in order; a value that never changes.

    ``append`` gives a new ledger at constant cost: both share one growing list, of which each sees its own length.
    Only a second ``append`` to the same ledger copies. Reading is safe from any thread; appending belongs to the one
    owner of the conversation.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._shared = list(entries)
        self._length = len(self._shared)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """All entries; the first look at each ledger costs its length, an index or a loop over the ledger does not."""
        return tuple(self._shared[: self._length])

    def append(self, entry: Entry) -> Ledger:
        """The ledger with one more entry."""
        if len(self._shared) != self._length:
            return Ledger([*self, entry])
        self._shared.append(entry)
        longer = Ledger.__new__(Ledger)
        longer._shared, longer._length = self._shared, self._length + 1
        return longer

    def messages(self) -> list[Message]:
        """The messages as the window shows them, the very objects."""
        return [entry.message for entry in self]

    def rows(self) -> list[int | None]:
        """The archive's row per position."""
        return [entry.row for entry in self]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Entry]:
        return (self._shared[index] for index in range(self._length))

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        if isinstance(index, slice):
            return [self._shared[at] for at in range(*index.indices(self._length))]
        return self._shared[range(self._length)[index]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self.entries == other.entries

    __hash__ = None  # type: ignore[assignment]  # messages are dicts

    def __repr__(self) -> str:
        return f"Ledger({list(self)!r})"


Pair = tuple[int, int]
"""Position in the messages, index in the ledger."""


def align(ledger: Ledger, messages: Sequence[Message]) -> list[int | None]:
    """Per message the index of the ledger's entry it is, None for one that somebody made.

    Each entry is used once at most. The rules, in this order:

    1. The same object is the same message, wherever it was moved to; only what is left is compared by content.
    2. Contents found once on each side are the same message, as long as they keep their order among themselves and
       with the objects: of pairs that cross, as many stay as can.
    3. Between two of these pairs, equal contents adjoin them: the longer run first, from the left or the right.
    4. What is still left takes the next equal content to the right. Content never matches out of order.
    """
    entries = [entry.message for entry in ledger]
    found = _same_objects(entries, messages)
    if len(found) < min(len(entries), len(messages)):
        found.update(_same_contents(entries, messages, found))
    return [found.get(position) for position in range(len(messages))]


def _same_objects(entries: Sequence[Message], messages: Sequence[Message]) -> dict[int, int]:
    """Pairs of one object; an object that occurs more than once takes its next occurrence, else its first free one."""
    free: defaultdict[int, list[int]] = defaultdict(list)
    for index, entry in enumerate(entries):
        free[id(entry)].append(index)
    found: dict[int, int] = {}
    last = -1
    for position, message in enumerate(messages):
        indices = free.get(id(message))
        if indices:
            after = bisect_right(indices, last)
            last = found[position] = indices.pop(after if after < len(indices) else 0)
    return found


def _same_contents(entries: Sequence[Message], messages: Sequence[Message], found: dict[int, int]) -> list[Pair]:
    """Pairs of equal content among what the objects left over (rules 2 to 4)."""
    used = set(found.values())
    ours = {index: identity(entry) for index, entry in enumerate(entries) if index not in used}
    theirs = {position: identity(message) for position, message in enumerate(messages) if position not in found}
    certain = _in_order(sorted([*found.items(), *_unique_on_both_sides(theirs, ours)]))
    pairs = [pair for pair in certain if pair[0] not in found]
    for (left, low), (right, high) in _between(certain, len(messages), len(entries)):
        gap = _Gap(
            [(at, theirs[at]) for at in range(left + 1, right) if at in theirs],
            [(at, ours[at]) for at in range(low + 1, high) if at in ours],
        )
        pairs.extend(gap.pairs(from_right=left < 0 and right < len(messages)))
    return pairs


def _unique_on_both_sides(theirs: dict[int, bytes], ours: dict[int, bytes]) -> list[Pair]:
    here, there = Counter(theirs.values()), Counter(ours.values())
    at = {content: index for index, content in ours.items() if there[content] == 1}
    return [(position, at[content]) for position, content in theirs.items() if here[content] == 1 and content in at]


def _in_order(pairs: Sequence[Pair]) -> list[Pair]:
    """The longest choice of pairs whose indices rise (patience sorting)."""
    tops: list[int] = []  # per length, the smallest index that a choice of it ends with
    ends: list[int] = []  # and which pair that is
    before: list[int] = []
    for at, (_, index) in enumerate(pairs):
        length = bisect_left(tops, index)
        before.append(ends[length - 1] if length else -1)
        tops[length : length + 1] = [index]
        ends[length : length + 1] = [at]
    chosen: list[Pair] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


def _between(certain: Sequence[Pair], positions: int, indices: int) -> Iterator[tuple[Pair, Pair]]:
    """Neighbouring pairs with room between them, the two ends included."""
    fences = [(-1, -1), *certain, (positions, indices)]
    for left, right in pairwise(fences):
        if right[0] - left[0] > 1 and right[1] - left[1] > 1:
            yield left, right


@dataclass(frozen=True)
class _Gap:
    """What lies between two certain pairs: on each side (place, content)."""

    theirs: list[tuple[int, bytes]]
    ours: list[tuple[int, bytes]]

    def pairs(self, *, from_right: bool) -> list[Pair]:
        """The equal contents in order; of two runs of one length the one at the right goes first where that is wished."""
        left, right = self._run(1), self._run(-1)
        from_right = right > left or (right == left and from_right)
        limit = min(len(self.theirs), len(self.ours))
        left, right = (min(left, limit - right), right) if from_right else (left, min(right, limit - left))
        until = (len(self.theirs) - right, len(self.ours) - right)
        runs = [*zip(self.theirs[:left], self.ours[:left], strict=True)]
        runs += zip(self.theirs[until[0] :], self.ours[until[1] :], strict=True)
        return [(a, b) for (a, _), (b, _) in runs] + _next_equal(self.theirs[left : until[0]], self.ours[left : until[1]])

    def _run(self, step: int) -> int:
        length = 0
        for (_, theirs), (_, ours) in zip(self.theirs[::step], self.ours[::step], strict=False):
            if theirs != ours:
                break
            length += 1
        return length


def _next_equal(theirs: Sequence[tuple[int, bytes]], ours: Sequence[tuple[int, bytes]]) -> list[Pair]:
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for index, content in reversed(ours):
        places[content].append(index)
    pairs: list[Pair] = []
    last = -1
    for position, content in theirs:
        free = places.get(content, [])
        while free and free[-1] < last:
            free.pop()
        if free:
            last = free.pop()
            pairs.append((position, last))
    return pairs
