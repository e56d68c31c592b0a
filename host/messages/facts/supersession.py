"""Which of the facts that were said still hold: the newer one of a subject, and everything that nothing replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from host.messages.facts.change_words import STATUS
from host.messages.facts.constraints import QUOTED
from host.messages.facts.fact import RULES, FactKind, Told
from host.messages.facts.likeness import (
    MEASURED,
    are_comparable,
    form_of,
    go_together,
    have_same_bound,
    is_plain,
    likeness,
    say_the_same,
    turns_into,
    words_of,
    words_of_record,
)
from host.messages.facts.rule_words import TAKEN_BACK
from host.messages.facts.sentences import reads_as_prose
from host.messages.facts.subjects import is_kept, is_marked_old, is_new, key_of, subject_of, subject_words

REACH = 400
"""Values that a new one is held against, newest first; what was said longer ago is replaced only under its own label."""

ENOUGH = 1.0
"""Score from which a value gives way: one shared word, or the same letters, with a word of change."""

SURE = 1.0
"""What the sentence itself is worth where it leads from the old value to the new one or repeats its bound."""

POINTED = 0.75
"""What nearness is worth where the new value is said with a word of change and hardly any subject of its own ("make it 60")."""

NEAR = 16
"""Rows in which nearness counts."""

MANY = 5
"""Subject words from which a sentence names its own subject, so that nearness says nothing."""

NEVER = float("-inf")

BY_NAME = frozenset({FactKind.error, FactKind.env, FactKind.hash})
"""Kinds whose values are names of things: another one is another thing, unless the old one is called old."""

LIKE_RULES = {True: (2, 0.5), False: (3, 0.6)}
"""Shared words, and their share of the shorter rule, from which a rule takes another's place: with a word of change, without."""

PEOPLE = frozenset({"user", "assistant"})

Key = tuple[bool, str]


def current(told: Sequence[Told]) -> list[Told]:
    """What still holds of what was told, in the order in which it was last said; equal values once.

    A value gives way to a later one of its kind and form where the later one's words say that something changed and both are
    said of the same subject, where its own words call it old ("instead of X", "旧的 X", "X ではなく"), or where a tool reports
    it again under the same label. A rule gives way to a rule of mostly the same words and to a sentence that takes it back.
    In doubt both are kept. Of equal values the user's own mention stands for all, else the newest.
    """
    live = _Live()
    for one in told:
        live.hear(one)
    return live.holding()


@dataclass(frozen=True)
class _Held:
    """A fact that holds: its newest mention, the best one in a person's own words, and all words that it was said with."""

    newest: Told
    spoken: Told | None
    words: frozenset[str]

    @property
    def by_user(self) -> bool:
        return self.spoken is not None and self.spoken.role == "user"

    def told(self) -> Told:
        return self.spoken if self.spoken is not None and self.by_user else self.newest


class _Live:
    """What holds up to here, by its text; a text that was replaced comes back only by the user's word."""

    def __init__(self) -> None:
        self._held: dict[Key, _Held] = {}
        self._labels: dict[str, Key] = {}
        self._replaced: set[Key] = set()

    def hear(self, one: Told) -> None:
        """Take in what was told next."""
        if one.fact.kind is FactKind.release:
            self._drop(self._taken_back(one))
        elif one.fact.kind is FactKind.constraint:
            self._drop(self._replaced_rule(one))
            self._hold(one)
        else:
            self._hear_value(one)

    def holding(self) -> list[Told]:
        """What holds, in the order in which it was last said."""
        return [held.told() for held in self._held.values()]

    def _hear_value(self, one: Told) -> None:
        key = _key(one)
        if is_marked_old(one) and self._has_successor(one):
            self._drop(key)
            self._replaced.add(key)
        elif key not in self._replaced or one.role == "user":
            if self._says_more(one):
                self._make_room(one, self._replaced_value(one))
            self._hold(one)

    def _has_successor(self, one: Told) -> bool:
        """Whether an old value was known before, or what takes its place stands in the same sentence."""
        if one.role not in PEOPLE and not key_of(one):
            return False
        if _key(one) in self._held or _key(one) in self._replaced:
            return True
        beside = (held.newest for held in self._newest() if held.newest.around == one.around)
        return any(other.fact.kind is one.fact.kind or (is_plain(other) and is_plain(one)) for other in beside)

    def _says_more(self, one: Told) -> bool:
        """Whether a mention can be the one that replaces: the first of all, the first in words, the first by the user."""
        held = self._held.get(_key(one))
        return held is None or held.spoken is None or (one.role == "user" and not held.by_user)

    def _make_room(self, one: Told, key: Key | None) -> None:
        """Drop a replaced value, and the rule that it was said in where the new one is said in a rule too."""
        held = self._held.get(key) if key else None
        if held and (True, one.around) in self._held:
            self._drop((True, (held.spoken or held.newest).around))
        self._drop(key)

    def _replaced_value(self, one: Told) -> Key | None:
        if one.role == "tool":
            return self._measured_before(one)
        if one.fact.kind in BY_NAME or one.role not in PEOPLE or is_kept(one) or not reads_as_prose(one.around):
            return None
        scored = [(_score(one, held), -age, _key(held.newest)) for age, held in enumerate(self._newest())]
        best = max(scored, default=None)
        return best[2] if best and best[0] >= ENOUGH else None

    def _measured_before(self, one: Told) -> Key | None:
        """The value that a tool reported in an earlier row under the same label and with the same unit."""
        label = key_of(one)
        if label is None or one.fact.kind not in MEASURED:
            return None
        before, self._labels[label] = self._labels.get(label), _key(one)
        held = self._held.get(before) if before and before != _key(one) else None
        if held is None or held.newest.row >= one.row or form_of(held.newest) != form_of(one):
            return None
        return before if form_of(one) or STATUS.search(label) else None

    def _replaced_rule(self, one: Told) -> Key | None:
        words = subject_words(QUOTED.sub(" ", one.fact.text))
        count, share = LIKE_RULES[is_new(one)]
        for rule in self._rules():
            shared = len(words & rule.words)
            if rule.newest.row != one.row and shared >= max(count, share * min(len(words), len(rule.words))):
                return _key(rule.newest)
        return None

    def _taken_back(self, one: Told) -> Key | None:
        words = subject_words(TAKEN_BACK.sub(" ", one.fact.text))
        scored = [(len(words & rule.words), -age, _key(rule.newest)) for age, rule in enumerate(self._rules())]
        best = max(scored, default=None)
        return best[2] if best and best[0] else None

    def _rules(self) -> Iterator[_Held]:
        return (held for (is_rule, _), held in reversed(self._held.items()) if is_rule)

    def _newest(self) -> Iterator[_Held]:
        values = (held for (is_rule, _), held in reversed(self._held.items()) if not is_rule)
        return (held for _, held in zip(range(REACH), values, strict=False))

    def _hold(self, one: Told) -> None:
        key = _key(one)
        before = self._held.pop(key, None)
        is_spoken = one.role in PEOPLE and reads_as_prose(one.around)
        words = subject_of(one) if is_spoken else words_of_record(one)
        if before is None:
            self._held[key] = _Held(one, one if is_spoken else None, words)
        else:
            spoken = one if is_spoken and (one.role == "user" or not before.by_user) else before.spoken
            self._held[key] = _Held(one, spoken, words | before.words)
        self._replaced.discard(key)

    def _drop(self, key: Key | None) -> None:
        held = self._held.pop(key, None) if key else None
        if held is None or key is None:
            return
        self._replaced.add(key)
        is_rule, _ = key
        for part in [other for other, that in self._held.items() if not (is_rule or other[0]) and go_together(that.newest, held.newest)]:
            del self._held[part]
            self._replaced.add(part)


def _key(told: Told) -> Key:
    return told.fact.kind in RULES, told.fact.text


def _score(one: Told, held: _Held) -> float:
    """How surely a value takes the place of one that holds; below ``ENOUGH`` it does not."""
    other = held.spoken or held.newest
    if not are_comparable(one, other):
        return 0.0
    if other.around == one.around:
        return ENOUGH + SURE if turns_into(other, one) else 0.0
    shared, alike = len(words_of(one) & held.words), likeness(one, other)
    if shared and have_same_bound(one, other):
        return alike + shared + SURE
    if one.role == "user" and is_new(one):
        return alike + shared + _nearness(one, other, shared)
    return alike + shared if say_the_same(one, other) else 0.0


def _nearness(one: Told, other: Told, shared: int) -> float:
    """What it adds that the user said a new value soon after an older one; what takes away that they are unlike."""
    if other.role == "tool":
        return 0.0 if shared and (key_of(other) or other.fact.kind is FactKind.version) else NEVER
    if one.fact.kind is FactKind.path and not likeness(one, other):
        return NEVER
    if is_plain(one) != is_plain(other) or is_kept(other):
        return -SURE
    is_pointed = shared or _weight(words_of(one)) < MANY
    return POINTED if is_pointed and one.row - other.row <= NEAR else 0.0


def _weight(words: frozenset[str]) -> float:
    """How many words there are, three pairs of characters counted as one word."""
    return sum(1.0 if word.isascii() else 1 / 3 for word in words)
