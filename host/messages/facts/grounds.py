"""Why a value takes the place of one that holds: the signals by which a person reads it, from the surest to the faintest."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from host.messages.facts.fact import FactKind
from host.messages.facts.holding import Held
from host.messages.facts.likeness import (
    FAR,
    FREE,
    HOSTS,
    are_comparable,
    are_hosts_alike,
    are_of_one_file,
    are_of_one_form,
    are_of_two,
    are_of_two_items,
    are_of_two_people,
    closeness,
    is_as_asked,
    is_permitted,
    is_spoken,
    likeness,
)
from host.messages.facts.listing import are_of_a_list, differ_in_numbers
from host.messages.facts.rule_shape import is_bound
from host.messages.facts.said import Said
from host.messages.facts.subjects import turns
from host.messages.facts.topic_words import CHANGE, MOVED
from host.messages.facts.topics import are_apart, are_qualified_apart, names_more, shared, topic_of

BREATH = 2
"""Rows back in which a bare value answers what was said ("18:30" after "I'd open at 18:00"): the turn before."""

NEAR = 16
"""Rows back in which a bare value with a word of change ("make that 12") finds the value that it is of."""

SHORT = 16
"""Characters of a sentence between two values that only says that the first was wrong ("no, that's his.")."""

BY_NAME = frozenset({FactKind.error, FactKind.env, FactKind.hash})
"""Kinds whose values are names of things: another one is another thing, unless the old one is called old."""

COMMON = frozenset({"time", "money", "size", "share"})
"""Units that many things are counted in."""

BUDGET = "budget"
"""What the bound of a sum of money is called, in all languages (``CONCEPTS``)."""

UP_TO = "up to"
"""A bound, or where something is raised to."""

JUDGED = re.compile(r"(?i)\s(?:looks?|feels?|seems?|sounds?|lets?|makes?|gives?|causes?|breaks?|is|was)\b")
"""What leads from an older value to what is wrong with it ("18 pt looks tiny, 28 pt please")."""


class Pair(NamedTuple):
    """A value just said, one that holds, that one's mention to compare by, and whether no other value has its unit."""

    one: Said
    held: Held
    other: Said
    is_only: bool

    @property
    def age(self) -> int:
        """Rows since the older value was last mentioned."""
        return self.one.row - self.held.newest.row

    @property
    def is_of_one_form(self) -> bool:
        """Whether both are of one unit or written alike."""
        return are_of_one_form(self.one, self.other)

    @property
    def leaves_unit_out(self) -> bool:
        """Whether the newer is a bare number, and the older a quantity ("make that 12" of "8 GB")."""
        return self.one.is_plain and self.other.amount is not None

    @property
    def is_alike(self) -> bool:
        """Whether both are of one form, or numbers of which one has no unit; for other kinds, whether both can be of one thing."""
        one, other = self.one, self.other
        if one.amount is None or other.amount is None:
            return self.is_of_one_form or (one.kind in FREE and not (one.is_plain or other.is_plain))
        return one.is_plain or self.is_of_one_form or (other.is_plain and not one.is_bare and not other.is_bare)


def _leads_over(pair: Pair) -> bool:
    """One sentence leads from the older value to the newer: "from 5 to 8", "X 改成 Y"."""
    one, newest = pair.one, pair.held.newest
    if newest.row != one.row or newest.around != one.around or newest.told.at > one.told.at:
        return False
    end = newest.told.at + len(newest.text)
    is_led = one.is_changed or "->" in one.around or "→" in one.around
    return is_led and turns(one.around[: newest.told.at], one.around[end : one.told.at])


def _corrects(pair: Pair) -> bool:
    """The older value was said in the same breath and is taken back: "150 V. no sorry, 140"."""
    one, newest = pair.one, pair.held.newest
    if newest.row != one.row or newest.told.fact.end > one.told.fact.start:
        return False
    is_just_said = newest.around in (one.told.lead, one.around) or len(one.told.lead) < SHORT
    return is_just_said and one.is_bare and one.is_correction


def _recalls(pair: Pair) -> bool:
    """An older value, known from before, is named right before the newer: "30 s is burnt, thats 5000 ms", "forty is too much, 25"."""
    one, other = pair.one, pair.other
    if pair.held.first_row >= one.row or not (one.is_changed or one.is_bare) or one.label or one.is_one_of_many:
        return False
    if other.text in one.said_before and (named := re.search(rf"(?<![\w.]){re.escape(other.text)}(?!\.?\w)", one.said_before)):
        is_in_lead = named.start() < len(one.said_before) - one.told.at
        is_left = is_in_lead or one.is_changed or JUDGED.match(one.said_before, named.end()) is not None
        return pair.is_alike and ((one.is_bare and is_left) or CHANGE.search(one.said_before, named.end()) is not None)
    return bool(one.spoken_before) and is_spoken(other, one.spoken_before)


def _limits_again(pair: Pair) -> bool:
    """Two rules bound the same from the same side ("never younger than 90 days", "keep at least 30 days"), or one lets it go further."""
    one, other = pair.one, pair.other
    if not (one.form == other.form and one.limit == other.limit != "" and other.is_ruled and (one.is_ruled or is_permitted(one))):
        return False
    if is_permitted(one) and one.is_bare and one.counted.words:
        return one.counted.words == other.counted.words
    mine, theirs = one.topic.words, other.topic.words
    return bool(mine & theirs) and (mine <= theirs or theirs <= mine)


def _repeats_the_bound(pair: Pair) -> bool:
    """Both stand behind the same word of a bound, and are of one subject: "before 19:00", "before 20:00"."""
    one, other = pair.one, pair.other
    return one.bound == other.bound != "" and one.form == other.form and bool(one.wide_topic.words & pair.held.wide.words)


def _changes(pair: Pair) -> bool:
    """Its words say that something changed, and name what the older value is of."""
    return pair.one.is_changed and pair.is_alike and _are_of_one(pair)


def _says_again(pair: Pair) -> bool:
    """It says the same as the older one, but for the value."""
    one, other = pair.one, pair.other
    if not pair.is_alike or (one.is_ruled and other.is_ruled and one.form != other.form):
        return False
    mine, theirs = one.topic, pair.held.topic
    if one.label and one.label == other.label and topic_of(one.label).words:
        return not are_qualified_apart(mine, theirs)
    if not one.is_in_words or are_of_two_items(one, other):
        return False
    if one.counted.words & theirs.words or other.counted.words & mine.words:
        return not are_qualified_apart(mine, theirs)
    is_told_alike = (mine.words <= theirs.words or theirs.words <= mine.words) and (not one.is_bare or pair.is_of_one_form)
    return is_told_alike and _are_of_one(pair)


def _is_a_newer_one(pair: Pair) -> bool:
    """Its text goes on from the older one's ("v3", "v3.1"), and something changed."""
    one, other = pair.one, pair.other
    if one.is_plain or one.kind in (FactKind.quantity, FactKind.date) or not one.is_changed or likeness(one, other) < 1:
        return False
    return one.kind is FactKind.quoted or not _names_another(pair)


def _moves(pair: Pair) -> bool:
    """Everything moved to a host that is named like the one of the older value (an image, a repository), or a file to another folder."""
    one, other = pair.one, pair.other
    if MOVED.search(one.around[: one.told.at]) is None:
        return False
    return (one.kind in HOSTS and are_hosts_alike(one, other)) or are_of_one_file(one, other)


def _answers(pair: Pair) -> bool:
    """It is all that the user says to what the assistant has just said of that kind."""
    one, newest = pair.one, pair.held.newest
    if pair.age > BREATH or newest.role == "user" or not (one.is_bare or (one.points and one.own_topic.weight <= 1)):
        return False
    return (pair.is_of_one_form or (pair.leaves_unit_out and not one.wide_topic.words)) and _may_point(pair)


def _is_the_only_one(pair: Pair) -> bool:
    """Nothing else that was said has this unit, and it names nothing, or hardly anything where its words say that something changed."""
    one = pair.one
    if not pair.is_only or pair.age > NEAR or one.kind is not FactKind.quantity or one.form in ("", "ratio") or one.form != pair.other.form:
        return False
    is_led = one.is_bare or (one.is_changed and one.form not in COMMON and one.own_topic.weight <= 1 and not one.items)
    named = one.own_topic.words - one.own_topic.speakers
    if is_led and named and one.form.isascii() and not one.counted.words:  # a unit, which says nothing of what has it
        is_led = not named.isdisjoint(pair.held.topic.words | pair.held.wide.words)
    if not is_led and one.is_changed and one.form == "money" and BUDGET in one.own_topic.words:
        other = pair.other
        is_led = is_bound(other.around, other.told.at, other.told.at + len(other.text))
    return is_led and _may_point(pair)


def _changes_widely(pair: Pair) -> bool:
    """Its words say that something changed, and its sentence names what the older value is of."""
    one, held = pair.one, pair.held
    common = one.wide_topic.words & (held.wide.words | held.topic.words)
    if not common or not one.is_changed or one.own_topic.weight > 1 or are_of_two_items(one, pair.other):
        return False
    is_of_its_kind = pair.is_of_one_form or one.is_bare or bool(common & pair.other.counted.words)
    return is_of_its_kind and not are_apart(one.own_topic, held.topic) and _may_point(pair)


def _points(pair: Pair) -> bool:
    """It says that something changed and names nothing: the value of that kind that was last spoken of."""
    one = pair.one
    if pair.age > NEAR or not one.is_changed or not (one.is_bare or one.points):
        return False
    return (pair.is_of_one_form or pair.leaves_unit_out) and _may_point(pair)


def _is_put_in_its_place(pair: Pair) -> bool:
    """A verb of change leads to it ("raise the timeout to 45 s"), and the last value of that kind was said of nothing at all."""
    one, held = pair.one, pair.held
    is_last = one.is_put and pair.age <= NEAR and not held.topic.words and held.newest.role != "user" and not held.by_user
    return is_last and one.form != "" and pair.is_of_one_form and _may_point(pair)


class Ground(NamedTuple):
    """A signal: how sure it is, and whether a pair has it."""

    sure: int
    has: Callable[[Pair], bool]


GROUNDS: tuple[Ground, ...] = (
    Ground(9, _leads_over),
    Ground(8, _corrects),
    Ground(8, _recalls),
    Ground(8, _limits_again),
    Ground(7, _repeats_the_bound),
    Ground(6, _changes),
    Ground(6, _says_again),
    Ground(6, _is_a_newer_one),
    Ground(6, _moves),
    Ground(5, _answers),
    Ground(4, _is_the_only_one),
    Ground(4, _changes_widely),
    Ground(3, _points),
    Ground(2, _is_put_in_its_place),
)
"""The signals, the surest first."""

SURE = 8
"""Grounds from which it counts too that both stand in one message, or that the sentence of one is a rule."""

NOT_FAR = 0.25
"""Share of the larger number from which two are about as large."""

Rank = tuple[int, float, bool, bool, bool, bool, int]


def rank(one: Said, held: Held, *, is_only: bool = False) -> Rank | None:
    """How surely a value takes the place of one that holds; None where nothing says so.

    ``is_only``: no other value that is at hand is of its unit. Of equally sure grounds the one with more words in common counts,
    then that the numbers are about as large, then what the user said, then what was said last.
    """
    other = held.said
    if (
        held.newest.row > one.row
        or (held.is_listed and other.text not in one.said_before)
        or (other.row != one.row and are_of_two_items(one, other))
        or not _may_be_of(one, held, is_only)
        or not are_comparable(one, other)
    ):
        return None
    pair = Pair(one, held, other, is_only)
    is_listed = one.is_one_of_many and not one.topic_before.words and not _leads_over(pair)
    sure = 0 if is_listed else _how_sure(pair)
    if not sure:
        return None
    common = shared(one.topic, held.topic) + shared(one.wide_topic, held.wide) / 4
    return sure, common, closeness(one, other) > NOT_FAR, pair.age <= BREATH, held.by_user, pair.is_of_one_form, held.order


def _how_sure(pair: Pair) -> int:
    sure = next((ground.sure for ground in GROUNDS if ground.has(pair)), 0)
    if sure and (_are_two_entries(pair) or are_of_two_people(pair.one, pair.other)):
        return 0
    if 0 < sure < SURE and (_stand_side_by_side(pair) or are_of_two(pair.one, pair.other)):
        return 0
    return sure


def _are_two_entries(pair: Pair) -> bool:
    """Whether both are said in entries of a list, or the newer names a word more of what it is of."""
    one, held, other = pair.one, pair.held, pair.other
    if other.row != one.row and (are_of_a_list(one.rest, other.rest) or differ_in_numbers(one.around, other.around)):
        return True
    mine, theirs = one.around[: one.told.at], other.around[: other.told.at]
    return names_more(mine, theirs, held.topic.words, is_changed=one.is_changed)


def _stand_side_by_side(pair: Pair) -> bool:
    """Whether both are said in one message, and the older not before it in words of its own."""
    one, held = pair.one, pair.held
    return held.first_row == one.row or (held.newest.row == one.row and one.is_bare)


def _may_be_of(one: Said, held: Held, is_only: bool) -> bool:
    """Whether it is worth to look closer: most values share no word, and what names its subject is of no other."""
    if is_only or one.is_loose or not one.all_words.isdisjoint(held.topic.words) or not one.all_words.isdisjoint(held.wide.words):
        return True
    return held.said.text in one.said_before or (one.kind is not FactKind.quantity and one.is_changed)


def _may_point(pair: Pair) -> bool:
    """Whether a value that names no subject can be a new one of an older: no list, about as large, and in the direction asked for."""
    one, other = pair.one, pair.other
    if one.is_one_of_many or (other.is_kept and pair.held.newest.role == "user") or _names_another(pair):
        return False
    if one.bound not in (other.bound, UP_TO) and not one.is_put:
        return False
    if one.kind is FactKind.path:
        return likeness(one, other) > 0 or (one.ending == other.ending and one.text[0] == other.text[0])
    if one.kind is FactKind.id or (one.kind is FactKind.quoted and one.is_name):
        return likeness(one, other) > 0
    is_address = FactKind.address in (one.kind, other.kind)
    return is_address or (closeness(one, other) * FAR >= 1 and is_as_asked(one, other))


def _names_another(pair: Pair) -> bool:
    """Whether its words name something else than the older is of ("raise it to 8 for worker", "the outro is shorter, 12 s")."""
    one, held = pair.one, pair.held
    mine, theirs = one.own_topic.qualifying, held.topic.qualifying
    if mine and theirs and mine.isdisjoint(theirs):
        return True
    named = one.subject_before.words
    return bool(named) and named.isdisjoint(held.topic.words) and named.isdisjoint(held.wide.words)


def _are_of_one(pair: Pair) -> bool:
    """Whether the newer names what the older is of; what a bare one's sentence says besides tells no two things apart."""
    one, theirs = pair.one, pair.held.topic
    common = one.topic.words & theirs.words
    if not common or are_of_two_items(one, pair.other):
        return False
    if one.is_bare or (pair.age <= BREATH and pair.held.newest.role == "assistant"):
        return True
    if pair.other.is_bare and len(common) > 1:
        return not are_qualified_apart(one.topic, theirs)
    return not are_apart(one.topic, theirs)
