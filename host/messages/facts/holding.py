"""What holds, by its text: the newest values at hand, the older ones by who said them, the user's rules."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from host.messages.facts.crowds import Crowd
from host.messages.facts.fact import FactKind, Told
from host.messages.facts.likeness import go_together, kinds_alike, ties, ties_sought
from host.messages.facts.rules import Rules
from host.messages.facts.said import Key, Said
from host.messages.facts.topics import EMPTY, Topic

V = TypeVar("V")

REACH = 400
"""Values that a new one is held against, newest first; what was said longer ago is replaced only under its own label."""

KEPT_OF_TOOLS = 10_000
"""Older values, beyond ``REACH``, that only tools and records gave: more than any window takes, and logs have no end."""

NEAREST = 32
"""Values of a kind, the newest, that a new one is held against, and as many that share a word with it."""

MOST_PIECES = 40
"""Pieces of a sentence in which values that are named there are looked for."""

PIECE = re.compile(r"[^\s,;!?()\"'`。，；：、「」“”]+")
PARTS_OF_VALUE = 3

REMEMBERED = 20_000
"""Labels, and replaced texts, that are remembered, newest first."""


@dataclass(frozen=True, slots=True)
class Held:
    """A fact that holds: its newest mention, the best one in a person's own words, and what it was said of.

    ``topic`` is that of its clauses, and of the values whose place it took; ``wide`` that of the whole sentences.
    """

    newest: Said
    spoken: Said | None
    topic: Topic
    wide: Topic
    first_row: int
    order: int
    is_of_people: bool

    @property
    def by_user(self) -> bool:
        """Whether the user said it in words."""
        return self.spoken is not None and self.spoken.role == "user"

    @property
    def said(self) -> Said:
        """The mention that others are compared with."""
        return self.spoken or self.newest

    @property
    def is_listed(self) -> bool:
        """Whether its sentence lists many of its kind."""
        return self.said.crowd is Crowd.sentence

    @property
    def handles(self) -> frozenset[str]:
        """The words that it is of, and the numbers by which its clause tells one of a kind from another."""
        said_of = self.topic.words | self.wide.words
        return said_of if self.is_listed else said_of | self.said.numbered

    def told(self) -> Told:
        """The mention that stands for all."""
        return self.spoken.told if self.spoken is not None and self.by_user else self.newest.told


class Of(NamedTuple):
    """What a value was said of: in its clauses, and in the whole sentences."""

    topic: Topic
    wide: Topic


OF_NOTHING = Of(EMPTY, EMPTY)


class Holding:
    """The facts that hold, each text once, in the order in which they were last said.

    Finding, adding and taking out cost the same however many there are. The newest ``reach`` values are at hand. Of the older
    ones that only tools and records gave the newest ``kept_of_tools`` are kept; what a person said in words or the user gave,
    and the user's rules, are kept for good; the rules are found by what they say (``Rules``).
    """

    def __init__(self, reach: int = REACH, kept_of_tools: int = KEPT_OF_TOOLS) -> None:
        self._reach = reach
        self._kept_of_tools = kept_of_tools
        self._held: dict[Key, Held] = {}
        self.rules = Rules()
        self._near: OrderedDict[Key, Held] = OrderedDict()
        self._far: dict[bool, OrderedDict[Key, Held]] = {True: OrderedDict(), False: OrderedDict()}  # by ``is_of_people``
        self._worded: defaultdict[tuple[str, str], dict[Key, Held]] = defaultdict(dict)  # those of ``_near``, by what they are of
        self._formed: Counter[tuple[FactKind, str]] = Counter()  # how many there are of each unit
        self._alike: defaultdict[str, dict[Key, Held]] = defaultdict(dict)  # those of ``_near``
        self._tied: defaultdict[int | str, set[Key]] = defaultdict(set)
        self._said = 0

    def get(self, key: Key | None) -> Held | None:
        """What holds under a key."""
        return self._held.get(key) if key else None

    def add(self, said: Said, spoken: Said | None, of: Of = OF_NOTHING, *, is_of_people: bool) -> None:
        """Hold a mention as the newest of its text."""
        before = self._take_out(said.key)
        first_row = before.first_row if before else said.row
        self._said += 1
        held = self._held[said.key] = Held(said, spoken, of.topic, of.wide, first_row, self._said, is_of_people)
        if said.key[0]:
            self.rules.add(said)
            return
        for tie in ties(said):
            self._tied[tie].add(said.key)
        self._take_near(held)
        if len(self._near) > self._reach:
            self._put_away()

    def pop(self, key: Key) -> Held | None:
        """Take out what holds under a key."""
        held = self._take_out(key)
        if len(self._near) < self._reach:
            self._fetch_back()
        return held

    def newest(self) -> Iterator[Held]:
        """The newest values, as many as are at hand, newest first."""
        return reversed(self._near.values())

    def comparable_with(self, said: Said) -> list[Held]:
        """Those of the values at hand that are alike in kind (of one kind, two hosts, two plain numbers) and could be of one subject.

        These are the newest of the kind, the newest that share a word with it, and those that its sentence names.
        """
        kinds = kinds_alike(said)
        shelves = [self._alike[kind] for kind in kinds]
        shelves += [self._worded[kind, word] for kind in kinds for word in said.handles if (kind, word) in self._worded]
        found = dict(chain.from_iterable(islice(reversed(shelf.items()), NEAREST) for shelf in shelves))
        named = (held for text in _names_of_values(said.said_before) if (held := self._near.get((False, text))) is not None)
        found |= {held.newest.key: held for held in named if not set(kinds).isdisjoint(kinds_alike(held.said))}
        return list(found.values())

    def count(self, kind: FactKind, unit: str) -> int:
        """How many values at hand are of a kind and unit."""
        return self._formed[kind, unit]

    def parts_of(self, said: Said) -> list[Key]:
        """The values that go with one that is dropped."""
        tied = {key for tie in ties_sought(said) for key in self._tied.get(tie, ())}
        return [key for key in tied if go_together(self._held[key].newest, said)]

    def told(self) -> list[Told]:
        """All that holds, in the order in which it was last said."""
        return [held.told() for held in sorted(self._held.values(), key=lambda held: held.order)]

    def _take_out(self, key: Key) -> Held | None:
        held = self._held.pop(key, None)
        if held is None:
            return None
        if key[0]:
            self.rules.pop(key)
            return held
        self._untie(held)
        if key in self._near:
            self._leave_near(held)
        else:
            del self._far[held.is_of_people][key]
        return held

    def _take_near(self, held: Held) -> None:
        self._near[held.newest.key] = held
        self._formed[held.said.kind, held.said.form] += 1
        for kind in kinds_alike(held.said):
            self._alike[kind][held.newest.key] = held
            for word in held.handles:
                self._worded[kind, word][held.newest.key] = held

    def _leave_near(self, held: Held) -> None:
        del self._near[held.newest.key]
        self._formed[held.said.kind, held.said.form] -= 1
        for kind in kinds_alike(held.said):
            del self._alike[kind][held.newest.key]
            for word in held.handles:
                del self._worded[kind, word][held.newest.key]
                if not self._worded[kind, word]:
                    del self._worded[kind, word]

    def _put_away(self) -> None:
        """Move the oldest value at hand to those of its kind, and let the oldest of a tool go where there are too many."""
        held = next(iter(self._near.values()))
        self._leave_near(held)
        shelf = self._far[held.is_of_people]
        shelf[held.newest.key] = held
        if not held.is_of_people and len(shelf) > self._kept_of_tools:
            self.pop(next(iter(shelf)))

    def _fetch_back(self) -> None:
        """Put the newest of the older values at hand again, before all that are."""
        filled = [shelf for shelf in self._far.values() if shelf]
        if filled:
            key, held = max(filled, key=lambda shelf: shelf[next(reversed(shelf))].order).popitem()
            self._take_near(held)
            self._near.move_to_end(key, last=False)

    def _untie(self, held: Held) -> None:
        for tie in ties(held.newest):
            self._tied[tie].discard(held.newest.key)
            if not self._tied[tie]:
                del self._tied[tie]


def _names_of_values(text: str) -> Iterator[str]:
    """What could be a value in a text: up to so many pieces in a row, as they stand there."""
    if not any(map(str.isalnum, text)):
        return
    pieces = list(islice(PIECE.finditer(text), MOST_PIECES))
    for first, start in enumerate(pieces):
        for end in pieces[first : first + PARTS_OF_VALUE]:
            yield text[start.start() : end.end()].rstrip(".:")


class Bounded(OrderedDict[str | Key, V]):
    """A memory of ``REMEMBERED`` entries: the one that was written longest ago goes first."""

    def __setitem__(self, key: str | Key, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > REMEMBERED:
            self.popitem(last=False)
