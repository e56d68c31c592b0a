"""The user's rules that hold, found by what they say, so that a new one is not held against all."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice

from host.messages.facts.order_words import OCCASION
from host.messages.facts.rule_shape import Shape, are_apart, is_within, shape_of, shared_words, stem
from host.messages.facts.rule_words import parts_that_release
from host.messages.facts.said import Key, Said

LOOKED_AT = 64
"""Rules with shared words, newest first, that are held against one that changes or lifts a rule: beyond them both are kept."""

SO = re.compile(r"(?i)^.*\b(?:so|then|therefore|hence)\s+(?=(?:you|we)\s+(?:can|may)\b|feel\b)")
"""What leads to a permission and is no part of it."""

MOST_NEW_WORDS = 1
"""Words of a rule that takes another's place which name what is to be used instead; more would say that it is only for some cases."""

MOST_SETTINGS = 8
"""Settings of one rule that are looked at."""

Index = defaultdict[Hashable, dict[Key, None]]


class Rules:
    """Rules by their text, and by what they say.

    A rule takes another's place where it says the same, or the opposite, in the same words; where all words are the same but the
    value that is required or bounded; where it calls the old one's value old; and where it has a word of change, requires another
    value or another thing of the same kind, and names nothing that the other does not. Whatever else is alike, both are kept: what
    is forbidden adds up, and a rule of several things stays whole until all of them are named.
    """

    def __init__(self) -> None:
        self._shapes: dict[Key, tuple[Shape, int]] = {}
        self._same: Index = defaultdict(dict)
        self._framed: Index = defaultdict(dict)
        self._worded: Index = defaultdict(dict)

    def add(self, rule: Said) -> None:
        """Take in a rule."""
        shape = shape_of(rule.text)
        self._shapes[rule.key] = shape, rule.row
        for index, place in self._places(shape):
            index[place][rule.key] = None

    def pop(self, key: Key) -> None:
        """Take a rule out."""
        shape, _ = self._shapes.pop(key)
        for index, place in self._places(shape):
            del index[place][key]
            if not index[place]:
                del index[place]

    def replaced_by(self, rule: Said) -> list[Key]:
        """The rules of earlier rows whose place a new one takes."""
        new = shape_of(rule.text)
        keys = [*self._same.get(new.pieces, ())] if new.pieces else []
        keys += [key for frame in _frames(new) for key in self._framed.get(frame, ())]
        if new.denied:
            keys += [key for key in self._with_words_of(new) if _denies(new, self._shapes[key][0])]
        if new.changes:
            keys += self._nearest(new, _changes)
        return [key for key in dict.fromkeys(keys) if key != rule.key and self._shapes[key][1] < rule.row]

    def lifted_by(self, release: Said) -> list[Key]:
        """The one rule that a permission or withdrawal is of; none where it could be of several, or stands in the same sentence.

        A rule of several things or acts is lifted only by a sentence that names all of them.
        """
        parts = (OCCASION.sub(" ", SO.sub("", part)) for part in parts_that_release(release.text))
        named = (part if shape_of(part).says_something else release.text for part in parts)
        keys = [key for part in named for key in self._nearest(shape_of(part), _lifts)]
        keys += self._nearest(shape_of(OCCASION.sub(" ", release.text)), _lifts_all)
        return [key for key in dict.fromkeys(keys) if key != release.key]

    def _nearest(self, new: Shape, fits: Callable[[Shape, Shape], bool]) -> list[Key]:
        """The rule that fits and is nearest in its words; none where several are."""
        fitting = [(_nearness(new, old), key) for key in self._with_words_of(new) if fits(new, old := self._shapes[key][0])]
        best = max((nearness for nearness, _ in fitting), default=0)
        keys = [key for nearness, key in fitting if nearness == best]
        return keys if len(keys) == 1 else []

    def _with_words_of(self, new: Shape) -> list[Key]:
        """Rules that share a word or a name with a new one: those of rare words first, as many as are looked at."""
        indexes = sorted((self._worded[word] for word in _handles(new) if word in self._worded), key=len)
        newest = (key for index in indexes for key in islice(reversed(index), LOOKED_AT))
        return _first_of(newest, LOOKED_AT)

    def _places(self, shape: Shape) -> Iterator[tuple[Index, Hashable]]:
        yield self._same, shape.pieces
        for frame in _frames(shape):
            yield self._framed, frame
        for word in _handles(shape):
            yield self._worded, word


def _frames(shape: Shape) -> list[Hashable]:
    """All that a rule says but one setting, for each of its settings: rules that share one differ in that setting alone."""
    places = islice((place for place, is_set in enumerate(shape.settings) if is_set), MOST_SETTINGS)
    return [(shape.forbids, shape.frame, place, shape.names[:place] + shape.names[place + 1 :]) for place in places]


def _handles(shape: Shape) -> frozenset[Hashable]:
    return shape.subject.latin | shape.subject.han | shape.denied | shape.choice.rows | frozenset(shape.names)


def _denies(new: Shape, old: Shape) -> bool:
    """Whether a rule names the value that an older one required as the one that no longer counts, and is of the same."""
    words = _all_words(old)
    if not old.is_single or old.forbids:
        return False
    if new.swaps and new.denied == {old.used}:
        return True
    mine = _all_words(new)
    is_no_narrower = bool(mine & words - new.denied) and len(mine - new.denied - words) <= MOST_NEW_WORDS
    is_all_said = words - new.denied <= mine and new.scope <= words
    return new.denied <= words and (is_all_said or is_no_narrower)


def _changes(new: Shape, old: Shape) -> bool:
    """Whether a rule with a word of change ends what an older one required, or requires another value of the same."""
    if old.forbids or not old.is_single:
        return False
    if new.forbids:
        is_of_all = not old.is_joined or _has_words_of(new, old)
        return is_of_all and is_within(new.subject, old.subject) and set(new.names) <= set(old.names)
    if new.choice.rows & old.choice.rows and new.choice.rest <= old.choice.rest:
        return True
    is_other_value = bool(new.names) and bool(old.names) and new.names != old.names
    return is_other_value and shared_words(new.subject, old.subject) > 0 and not are_apart(new.subject, old.subject)


def _lifts(lifting: Shape, old: Shape) -> bool:
    """Whether a permission is of all that a rule forbids: one of a part of it is an exception."""
    if not old.is_single or old.is_joined or not _can_lift(lifting, old):
        return False
    if lifting.names:
        return set(lifting.names) <= set(old.names) and not are_apart(lifting.subject, old.subject)
    return is_within(lifting.subject, old.subject)


def _lifts_all(lifting: Shape, old: Shape) -> bool:
    """Whether a permission names each thing and act of a rule that is of several."""
    is_permitted = not lifting.forbids or lifting.waives
    return old.is_single and old.is_joined and is_permitted and _can_lift(lifting, old) and _has_words_of(lifting, old)


def _has_words_of(new: Shape, old: Shape) -> bool:
    """Whether all words of an older rule are said, each as often: of "C or C++" one C is a part."""
    return not Counter(old.words) - Counter(new.words)


def _can_lift(lifting: Shape, old: Shape) -> bool:
    """What need not be done may still be forbidden; what is asked for again was forbidden in the same words."""
    if lifting.resumes:
        return old.forbids and lifting.subject == old.subject and lifting.names == old.names
    return not lifting.waives or not old.forbids or bool(_all_words(lifting) & old.awaited)


def _nearness(one: Shape, other: Shape) -> int:
    return 3 * shared_words(one.subject, other.subject) - sum(map(len, one.subject + other.subject))


def _all_words(shape: Shape) -> frozenset[str]:
    return shape.subject.latin | shape.subject.han | frozenset(map(stem, shape.names))


def _first_of(keys: Iterable[Key], most: int) -> list[Key]:
    """Each key once, up to so many."""
    found: dict[Key, None] = {}
    for key in keys:
        found[key] = None
        if len(found) == most:
            break
    return list(found)
