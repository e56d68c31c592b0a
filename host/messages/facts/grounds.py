"""Why a value takes the place of one that holds: the signals by which a person reads it, from the surest to the faintest."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from host.messages.facts.fact import FactKind
from host.messages.facts.holding import Held
from host.messages.facts.likeness import FAR, FREE, are_comparable, are_of_one_form, are_of_two, closeness, likeness
from host.messages.facts.said import Said
from host.messages.facts.subjects import turns
from host.messages.facts.topic_words import CHANGE
from host.messages.facts.topics import are_apart, are_qualified_apart, shared

BREATH = 2
"""Rows back in which a bare value answers what was said ("18:30" after "I'd open at 18:00"): the turn before."""

NEAR = 16
"""Rows back in which a bare value with a word of change ("make that 12") finds the value that it is of."""

BY_NAME = frozenset({FactKind.error, FactKind.env, FactKind.hash})
"""Kinds whose values are names of things: another one is another thing, unless the old one is called old."""

MEASURED = frozenset({FactKind.quantity, FactKind.version})
"""Kinds that are measured again: an id or a date under the same label is one more of its list."""

NUMERALS = {
    word: float(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split())
} | {
    word: float(number) for number, word in zip(
        (16, 18, 20, 24, 30, 40, 50, 60, 70, 80, 90, 100),
        "sixteen eighteen twenty twenty-four thirty forty fifty sixty seventy eighty ninety hundred".split(), strict=True)
}
CLOCK_HOUR = re.compile(r"\d{1,2}(?=[:h.]\d\d)")
SPOKEN = re.compile(rf"(?i)\b(?:{'|'.join(NUMERALS)})\b")


COMMON = frozenset({"", "time", "money", "size", "share", "ratio"})
"""Units that many things are counted in."""


class Pair(NamedTuple):
    """A value just said, one that holds, and what their words have in common."""

    one: Said
    held: Held
    is_only: bool

    @property
    def other(self) -> Said:
        """The older value in the mention that it is compared by."""
        return self.held.said

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
        if self.one.amount is None or self.other.amount is None:
            return self.is_of_one_form or (self.one.kind in FREE and not (self.one.is_plain or self.other.is_plain))
        return self.is_of_one_form or self.one.is_plain or (self.other.is_plain and not self.one.is_bare and not self.other.is_bare)


def _leads_over(pair: Pair) -> bool:
    """One sentence leads from the older value to the newer: "from 5 to 8", "X 改成 Y"."""
    one, newest = pair.one, pair.held.newest
    if newest.around != one.around or newest.row != one.row or newest.told.at > one.told.at:
        return False
    end = newest.told.at + len(newest.text)
    is_led = one.is_changed or "->" in one.around or "→" in one.around
    return is_led and turns(one.around[: newest.told.at], one.around[end : one.told.at])


def _recalls(pair: Pair) -> bool:
    """The older value, known from before, is named again right before the newer: "30 s is burnt, thats 5000 ms", "forty is too much, 25"."""
    one = pair.one
    if pair.held.first_row >= one.row or not (one.is_changed or one.is_bare) or one.label or one.is_one_of_many:
        return False
    before = (f"{one.told.lead} " if one.is_bare else "") + one.around[: one.told.at]
    if named := re.search(rf"(?<![\w.]){re.escape(pair.other.text)}(?!\.?\w)", before):
        is_in_lead = named.start() < len(before) - one.told.at
        is_led = (one.is_bare and (is_in_lead or one.is_changed)) or CHANGE.search(before, named.end()) is not None
        return pair.is_alike and is_led
    if pair.other.form == "clock":
        hour = CLOCK_HOUR.match(pair.other.text)
        return hour is not None and any(int(hour[0]) % 12 == NUMERALS[word.lower()] % 12 for word in SPOKEN.findall(before))
    return pair.other.amount is not None and any(NUMERALS[word.lower()] == pair.other.amount for word in SPOKEN.findall(before))


def _corrects(pair: Pair) -> bool:
    """The older value was said in the same breath and is taken back: "150 V. no sorry, 140"."""
    one, newest = pair.one, pair.held.newest
    is_just_said = newest.row == one.row and (newest.around == one.told.lead or newest.around == one.around or len(one.told.lead) < NEAR)
    return is_just_said and one.is_bare and one.is_correction and newest.told.fact.end <= one.told.fact.start


def _repeats_the_bound(pair: Pair) -> bool:
    """Both stand behind the same word of a bound, and are of one subject: "before 19:00", "before 20:00"."""
    one, other = pair.one, pair.other
    return one.bound == other.bound != "" and one.form == other.form and bool(one.wide_topic.words & pair.held.wide.words)


def _limits_again(pair: Pair) -> bool:
    """Two rules bound the same from the same side: "never younger than 90 days", "keep at least 30 days"."""
    one, other = pair.one, pair.other
    is_same_side = one.limit == other.limit != "" and one.form == other.form and one.is_ruled and other.is_ruled
    mine, theirs = one.topic.words, other.topic.words
    return is_same_side and bool(mine & theirs) and (mine <= theirs or theirs <= mine)


def _changes(pair: Pair) -> bool:
    """Its words say that something changed, and name what the older value is of."""
    return pair.one.is_changed and pair.is_alike and _are_of_one(pair)


def _says_again(pair: Pair) -> bool:
    """It says the same as the older one, but for the value."""
    one, held = pair.one, pair.held
    if not pair.is_alike or (one.is_ruled and pair.other.is_ruled and one.form != pair.other.form):
        return False
    if one.label and one.label == pair.other.label:
        return True
    if not one.is_in_words:
        return False
    mine, theirs = one.topic, held.topic
    if one.counted.words & theirs.words or pair.other.counted.words & mine.words:
        return not (are_qualified_apart(mine, theirs) or are_of_two_items(one, pair.other))
    has_all = mine.words <= theirs.words or theirs.words <= mine.words
    return has_all and _are_of_one(pair) and (not one.is_bare or pair.is_of_one_form)


def _answers(pair: Pair) -> bool:
    """It is all that the user says to what the assistant has just said of that kind."""
    one, newest = pair.one, pair.held.newest
    is_answer = one.is_bare or (one.points and one.own_topic.weight <= 1)
    is_of_its_kind = pair.is_of_one_form or (pair.leaves_unit_out and not one.wide_topic.words)
    return is_answer and newest.role != "user" and pair.age <= BREATH and is_of_its_kind and _may_point(pair)


def _points(pair: Pair) -> bool:
    """It says that something changed and names nothing: the value of that kind that was last spoken of."""
    one = pair.one
    is_pointed = one.is_changed and (one.is_bare or one.points) and pair.age <= NEAR
    return is_pointed and (pair.is_of_one_form or pair.leaves_unit_out) and _may_point(pair)


def _is_put_in_its_place(pair: Pair) -> bool:
    """A verb of change leads to it ("raise the timeout to 45 s"), and the last value of that kind was said of nothing else."""
    one, held = pair.one, pair.held
    is_last = pair.age <= NEAR and not held.topic.words and held.newest.role != "user" and not held.by_user
    return one.is_put and is_last and pair.is_of_one_form and one.form != "" and _may_point(pair)


def _may_point(pair: Pair) -> bool:
    """Whether a value that names no subject can be a new one of an older: no list, about as large, and in the direction asked for."""
    one, other = pair.one, pair.other
    if _names_another(one, pair.held):
        return False
    if one.is_one_of_many or (one.bound != other.bound and not one.is_put) or (other.is_kept and pair.held.newest.role == "user"):
        return False
    if one.kind is FactKind.path:
        return likeness(one, other) > 0 or (_ending(one) == _ending(other) and one.text[0] == other.text[0])
    if one.kind is FactKind.id or (one.kind is FactKind.quoted and one.is_name):
        return likeness(one, other) > 0
    if FactKind.address in (one.kind, other.kind):
        return True
    return closeness(one, other) * FAR >= 1 and _is_as_asked(one, other)


def _names_another(one: Said, held: Held) -> bool:
    """Whether its words name something else than the older value is of ("raise it to 8 for worker", "the outro is shorter, 12 s")."""
    mine, theirs = one.own_topic.qualifying, held.topic.qualifying
    if mine and theirs and mine.isdisjoint(theirs):
        return True
    named = one.subject_before
    return bool(named.words) and named.words.isdisjoint(held.topic.words | held.wide.words)


def _ending(one: Said) -> str:
    return one.text.rpartition("/")[2].rpartition(".")[2] if "." in one.text.rpartition("/")[2] else ""


def _is_as_asked(one: Said, other: Said) -> bool:
    if not one.trend or one.amount is None or other.amount is None:
        return True
    return (one.amount - other.amount) * one.trend > 0 or one.is_plain != other.is_plain


def _is_a_newer_one(pair: Pair) -> bool:
    """Its text goes on from the older one's ("v3", "v3.1"), and something changed."""
    is_text = pair.one.kind not in (FactKind.quantity, FactKind.date) and not pair.one.is_plain
    is_newer = is_text and pair.one.is_changed and likeness(pair.one, pair.other) == 1
    return is_newer and (pair.one.kind is FactKind.quoted or not _names_another(pair.one, pair.held))


def _is_the_only_one(pair: Pair) -> bool:
    """Nothing else that was said has this unit, and it names nothing, or hardly anything where its words say that something changed."""
    one = pair.one
    if one.kind is not FactKind.quantity or not pair.is_only or one.form in ("", "ratio") or one.form != pair.other.form:
        return False
    is_led = one.is_bare or (one.is_changed and one.form not in COMMON and one.own_topic.weight <= 1 and not one.items)
    return is_led and pair.age <= NEAR and _may_point(pair)


def _changes_widely(pair: Pair) -> bool:
    """Its words say that something changed, and its sentence names what the older value is of."""
    one, held = pair.one, pair.held
    if not one.is_changed or one.own_topic.weight > 1 or are_apart(one.own_topic, held.topic) or are_of_two_items(one, pair.other):
        return False
    common = one.wide_topic.words & (held.wide | held.topic).words
    return bool(common) and _may_point(pair) and (pair.is_of_one_form or one.is_bare or bool(common & pair.other.counted.words))


GROUNDS: tuple[tuple[str, int, Callable[[Pair], bool]], ...] = (
    ("leads over", 9, _leads_over),
    ("corrects", 8, _corrects),
    ("recalls", 8, _recalls),
    ("limits again", 8, _limits_again),
    ("repeats the bound", 7, _repeats_the_bound),
    ("changes", 6, _changes),
    ("says again", 6, _says_again),
    ("is a newer one", 6, _is_a_newer_one),
    ("answers", 5, _answers),
    ("is the only one", 4, _is_the_only_one),
    ("changes widely", 4, _changes_widely),
    ("points", 3, _points),
    ("is put in its place", 2, _is_put_in_its_place),
)
"""What each ground is called, how sure it is, and whether a pair has it."""

SURE = 8
"""Grounds from which it counts too that both stand in one message, or that the sentence of one is a rule."""

NOT_FAR = 0.25
"""Share of the larger number from which two are about as large."""

Rank = tuple[float, float, bool, bool, bool, int]


def rank(one: Said, held: Held, *, is_only: bool = False) -> Rank | None:
    """How surely a value takes the place of one that holds; None where nothing says so.

    ``is_only``: no other value that is at hand is of its unit.
    """
    pair = Pair(one, held, is_only)
    if not are_comparable(one, held.said):
        return None
    if one.is_one_of_many and not one.topic_before.words and not _leads_over(pair):
        return None
    is_beside = held.first_row == one.row or (held.newest.row == one.row and one.is_bare)
    least = SURE if is_beside or are_of_two(one, held.said) else 0
    sure = next((sure for _, sure, has in GROUNDS if sure >= least and has(pair)), None)
    if sure is None:
        return None
    common = shared(one.topic, held.topic) + shared(one.wide_topic, held.wide) / 4
    return sure, common, closeness(one, held.said) > NOT_FAR, pair.age <= BREATH, pair.is_of_one_form, held.order


def _are_of_one(pair: Pair) -> bool:
    """Whether the newer names what the older is of; what a bare one's sentence says besides tells no two things apart."""
    one, theirs = pair.one, pair.held.topic
    if not shared(one.topic, theirs) or are_of_two_items(one, pair.other):
        return False
    if one.is_bare:
        return True
    if pair.other.is_bare and len(one.topic.words & theirs.words) > 1:
        return not are_qualified_apart(one.topic, theirs)
    return one.is_bare or (pair.age <= BREATH and pair.held.newest.role == "assistant") or not are_apart(one.topic, theirs)


def are_of_two_items(one: Said, other: Said) -> bool:
    """Whether two clauses tell by a number which of a kind they are of ("mic 1", "mic 2")."""
    return any(other.items.get(word, number) != number for word, number in one.items.items())
