"""Which of the facts that were said still hold: the newer one of a subject, and everything that nothing replaced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from host.messages.facts.change_words import STATUS
from host.messages.facts.fact import FactKind, Told
from host.messages.facts.holding import REACH, Bounded, Held, Holding
from host.messages.facts.likeness import (
    MEASURED,
    are_comparable,
    are_of_two,
    have_same_bound,
    likeness,
    may_say_the_same,
    say_the_same,
    turns_into,
)
from host.messages.facts.rule_shape import shape_of
from host.messages.facts.said import PEOPLE, Key, Said
from host.messages.facts.subjects import is_marked_old

ENOUGH = 1.0
"""Score from which a value gives way: one shared word, or the same letters, with a word of change."""

SURE = 1.0
"""What the sentence itself is worth where it leads from the old value to the new one or repeats its bound."""

POINTED = 0.75
"""What nearness is worth where the new value is said with a word of change and hardly any subject of its own ("make it 60")."""

NEAR = 16
"""Rows in which nearness counts."""

REACH_OF_RULES = 64
"""Values of its kind, the newest, that one said in a rule is held against: rules are many, and beyond them both are kept."""

MANY = 5
"""Subject words from which a sentence names its own subject, so that nearness says nothing."""

NEVER = float("-inf")

BY_NAME = frozenset({FactKind.error, FactKind.env, FactKind.hash})
"""Kinds whose values are names of things: another one is another thing, unless the old one is called old."""


def current(told: Sequence[Told]) -> list[Told]:
    """What still holds of what was told, in the order in which it was last said; equal values once.

    A value gives way to a later one of its kind and form where the later one's words say that something changed and both are
    said of the same subject, where its own words call it old ("instead of X", "旧的 X", "X ではなく"), or where a tool reports
    it again under the same label. A rule gives way to one of the same words that requires another value and to a sentence that
    takes it back (``Rules``); what is forbidden adds up, and a value that is forbidden is no old value of another.
    In doubt both are kept. Of equal values the user's own mention stands for all, else the newest.
    """
    live = Live()
    live.hear(told)
    return live.holding()


class Live:
    """What holds of the facts heard so far (``current``), kept up as more are heard.

    A value costs the same however many were heard, and a rule hardly more: it is held against those that say the same or share
    its words. A text that was replaced comes back only by the user's word. Of values that only tools gave the newest are kept
    (``Holding``).
    """

    def __init__(self) -> None:
        self._held = Holding()
        self._labels = Bounded()
        self._replaced = Bounded()

    def hear(self, told: Iterable[Told]) -> None:
        """Take in what was told next, in the order in which it was said."""
        for said in map(Said, told):
            if said.kind is FactKind.release:
                self._drop(*self._held.rules.lifted_by(said))
            elif said.kind is FactKind.constraint:
                self._drop(*self._held.rules.replaced_by(said))
                self._hold(said)
            else:
                self._hear_value(said)

    def holding(self) -> list[Told]:
        """What holds, in the order in which it was last said."""
        return self._held.told()

    def _hear_value(self, one: Said) -> None:
        if is_marked_old(one.told) and not one.is_forbidden and self._has_successor(one):
            self._drop(one.key)
            self._replaced[one.key] = None
        elif one.key not in self._replaced or one.role == "user":
            if self._says_more(one):
                self._make_room(one, self._replaced_value(one))
            self._hold(one)

    def _has_successor(self, one: Said) -> bool:
        """Whether an old value was known before, or what takes its place stands in the same sentence."""
        if one.role not in PEOPLE and not one.label:
            return False
        if one.key in self._replaced or self._held.get(one.key):
            return True
        beside = (held.newest for held in self._held.newest() if held.newest.around == one.around)
        return any(other.kind is one.kind or (other.is_plain and one.is_plain) for other in beside)

    def _says_more(self, one: Said) -> bool:
        """Whether a mention can be the one that replaces: the first of all, the first in words, the first by the user."""
        held = self._held.get(one.key)
        return held is None or held.spoken is None or (one.role == "user" and not held.by_user)

    def _make_room(self, one: Said, key: Key | None) -> None:
        """Drop a replaced value, and the rule that it was said in where the new one is said in a rule too."""
        held = self._held.get(key)
        if held is None or key is None:
            return
        if self._held.get((True, one.around)) and shape_of(held.said.around).is_single:
            self._drop((True, held.said.around))
        self._drop(key)

    def _replaced_value(self, one: Said) -> Key | None:
        if one.role == "tool":
            return self._measured_before(one)
        if one.kind in BY_NAME or not one.is_in_words or one.is_kept or one.is_forbidden:
            return None
        others = self._held.comparable_with(one, REACH_OF_RULES if one.is_ruled else REACH)
        scored = [(_score(one, held), held.order, held.newest.key) for held in others]
        best = max(scored, default=None)
        return best[2] if best and best[0] >= ENOUGH else None

    def _measured_before(self, one: Said) -> Key | None:
        """The value that a tool reported in an earlier row under the same label and with the same unit."""
        if one.kind not in MEASURED or one.label is None:
            return None
        before, self._labels[one.label] = self._labels.get(one.label), one.key
        held = self._held.get(before) if before != one.key else None
        if held is None or held.newest.row >= one.row or held.newest.form != one.form:
            return None
        return before if one.form or STATUS.search(one.label) else None

    def _hold(self, one: Said) -> None:
        before = self._held.get(one.key)
        words = _words_to_hold(one)
        spoken = one if one.is_in_words else None
        if before is not None:
            words |= before.words
            spoken = one if one.is_in_words and (one.role == "user" or not before.by_user) else before.spoken
        is_of_people = one.is_in_words or one.role == "user" or (before is not None and before.is_of_people)
        self._held.add(one, spoken, words, is_of_people=is_of_people)
        self._replaced.pop(one.key, None)

    def _drop(self, *keys: Key) -> None:
        for key in keys:
            held = self._held.pop(key)
            if held is None:
                continue
            self._replaced[key] = None
            for part in [] if key[0] else self._held.parts_of(held.newest):
                self._held.pop(part)
                self._replaced[part] = None


def _words_to_hold(one: Said) -> frozenset[str]:
    """What values are compared by; rules are by what they say (``Rules``)."""
    if one.kind is FactKind.constraint:
        return frozenset()
    return one.subject if one.is_in_words else one.words_of_record


def _score(one: Said, held: Held) -> float:
    """How surely a value takes the place of one that holds; below ``ENOUGH`` it does not."""
    other = held.said
    if not (one.is_changed or may_say_the_same(one, other)) or not are_comparable(one, other) or are_of_two(one, other):
        return 0.0
    if other.around == one.around:
        return ENOUGH + SURE if turns_into(other, one) else 0.0
    shared, alike = len(one.words & held.words), likeness(one, other)
    if shared and have_same_bound(one, other):
        return alike + shared + SURE
    if one.is_changed:
        return alike + shared + _nearness(one, other, shared)
    return alike + shared if say_the_same(one, other) else 0.0


def _nearness(one: Said, other: Said, shared: int) -> float:
    """What it adds that the user said a new value soon after an older one; what takes away that they are unlike."""
    if other.role == "tool":
        return 0.0 if shared and (other.label or other.kind is FactKind.version) else NEVER
    if one.kind is FactKind.path and not likeness(one, other):
        return NEVER
    if one.is_plain != other.is_plain or other.is_kept:
        return -SURE
    is_pointed = shared or _weight(one.words) < MANY
    return POINTED if is_pointed and one.row - other.row <= NEAR else 0.0


def _weight(words: frozenset[str]) -> float:
    """How many words there are, three pairs of characters counted as one word."""
    return sum(1.0 if word.isascii() else 1 / 3 for word in words)
