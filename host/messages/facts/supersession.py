"""Which of the facts that were said still hold: the newer one of a subject, and everything that nothing replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import itemgetter

from host.messages.facts.change_words import OLD_AFTER
from host.messages.facts.crowds import Crowd, crowds_of
from host.messages.facts.fact import FactKind, Told
from host.messages.facts.grounds import BY_NAME, rank
from host.messages.facts.holding import OF_NOTHING, Bounded, Held, Holding, Of
from host.messages.facts.likeness import MEASURED, are_comparable
from host.messages.facts.records import Records
from host.messages.facts.rule_shape import names_in, shape_of
from host.messages.facts.said import PEOPLE, Key, Said
from host.messages.facts.subjects import is_marked_old, is_remembered
from host.messages.facts.topics import Topic, are_qualified_apart

VERSION = re.compile(r"v?\d+(?:\.\d+)+[\w.+-]*")

MOST_WORDS = 24
"""Words that a value keeps of all that it was said of."""


def current(told: Sequence[Told]) -> list[Told]:
    """What still holds of what was told, in the order in which it was last said; equal values once.

    A value gives way to a later one of its kind and form where the user's words say that something changed and both are said of
    the same subject, where the same is said again with another value, where the user answers with little but a value
    (``grounds.GROUNDS``), where its own words call it old ("instead of X", "旧的 X", "X ではなく"), or where a tool reports it again
    under the same label or in the same record. A rule gives way to one of the same words that requires another value and to a
    sentence that takes it back (``Rules``); what is forbidden adds up, and a value that is forbidden is no old value of another.
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
        self._records = Records()
        self._replaced = Bounded[Told]()
        self._retired: Said | None = None
        self._called_old: list[Said] = []

    def hear(self, told: Sequence[Told]) -> None:
        """Take in what was told next, in the order in which it was said."""
        heard = list(map(Said, told, crowds_of(told)))
        self._called_old = [
            said for said in heard if said.role == "user" and not said.key[0] and is_marked_old(said.told) and not _is_history(said)
        ]
        for said in heard:
            if said.kind is FactKind.release:
                self._drop(*self._held.rules.lifted_by(said), by=said)
            elif said.kind is FactKind.constraint:
                self._drop(*self._held.rules.replaced_by(said), by=said)
                self._hold(said)
            else:
                self._hear_value(said)

    def holding(self) -> list[Told]:
        """What holds, in the order in which it was last said."""
        return self._held.told()

    def replaced(self) -> Mapping[Key, Told]:
        """What was replaced and by what: the value or sentence that took its place, or its own mention that calls it old."""
        return {key: by for key, by in self._replaced.items() if isinstance(key, tuple)}

    def _hear_value(self, one: Said) -> None:
        if is_marked_old(one.told) and not (one.is_forbidden or one.is_reported) and self._has_successor(one):
            self._retire(one)
        elif one.key not in self._replaced or (one.role == "user" and not self._is_only_explained(one)):
            replaced = self._replaced_values(one) if self._says_more(one) and not is_marked_old(one.told) else []
            instead_of = self._make_room(one, replaced[0]) if replaced else None
            self._drop(*replaced[1:], by=one)
            self._hold(one, instead_of)
            self._succeed(one)

    def _is_only_explained(self, one: Said) -> bool:
        """Whether its own sentence has just named what takes its place ("take 12 instead, 15 is too much")."""
        by = self._replaced.get(one.key)
        return by is not None and by.row == one.row and by.around == one.around and by is not one.told and not one.is_correction

    def _has_successor(self, one: Said) -> bool:
        """Whether an old value was known before, or what takes its place stands in the same sentence."""
        if one.role not in PEOPLE and not one.label:
            return False
        if is_remembered(one.told) and one.role == "assistant":
            return self._beside(one) is not None
        if any(key in self._replaced or self._held.get(key) for key in self._spellings(one)):
            return True
        return self._beside(one) is not None and not _is_history(one)

    def _beside(self, one: Said) -> Said | None:
        """Another value of its kind that holds and stands in the same sentence."""
        beside = (held.newest for held in self._held.newest() if held.newest.around == one.around)
        return next((other for other in beside if _is_of_kind(other, one) and other.key != one.key), None)

    def _retire(self, one: Said) -> None:
        """Drop a value that is called old."""
        by = self._beside(one) or one
        self._drop(*self._spellings(one), by=by)
        self._replaced[one.key] = self._replaced.get(one.key) or by.told
        self._retired = one

    def _spellings(self, one: Said) -> list[Key]:
        """The texts of a value that is called old: also the one that has the number with its unit or name ("not 15" of "15 kg")."""
        if not one.is_plain or one.role != "user" or is_remembered(one.told) or self._held.get(one.key):
            return _spellings(one)
        ended = re.compile(rf"(?:[A-Za-z][\w.+-]* )?{re.escape(one.text)}(?: ?[^\W\d_]\S*)?")
        whole = [held.newest.key for held in self._held.newest() if held.is_of_people and ended.fullmatch(held.newest.text)]
        return whole if len(whole) == 1 else _spellings(one)

    def _succeed(self, one: Said) -> None:
        """Where the sentence has just called a value old and named no other, this one is what it says instead."""
        old = self._retired
        if old is not None and old.around == one.around and self._replaced.get(old.key) is old.told and _is_of_kind(one, old):
            self._replaced[old.key] = one.told

    def _says_more(self, one: Said) -> bool:
        """Whether a mention can be the one that replaces: the first of all, the first in words, the first by the user."""
        held = self._held.get(one.key)
        return held is None or held.spoken is None or (one.role == "user" and not held.by_user)

    def _make_room(self, one: Said, key: Key) -> Of | None:
        """Drop a replaced value, and the rule that it was said in where the new one is said in a rule too; what it was of."""
        held = self._held.get(key)
        if held is None:
            return None
        rule = self._held.get((True, one.around))
        if rule and shape_of(held.said.around).is_single:
            self._drop((True, held.said.around), by=rule.newest)
        self._drop(key, by=one)
        return Of(held.topic, held.wide)

    def _replaced_values(self, one: Said) -> list[Key]:
        """The value whose place one takes, and those that say the same number in other words."""
        if one.role == "tool":
            before = self._records.reported_before(one, self._held)
            return [before] if before else []
        if one.crowd is Crowd.sentence or one.kind in BY_NAME or one.is_kept or one.is_forbidden or one.is_unsure:
            return []
        old = [old for old in self._called_old if old.around == one.around and old.key != one.key and _is_of_kind(one, old)]
        called = [key for each in old if are_comparable(one, each) for key in _spellings(each) if self._held.get(key)]
        if called or any(OLD_AFTER.match(each.around, each.told.at + len(each.text)) for each in old):
            return called  # what the sentence calls old is all that it replaces
        others = self._comparable_with(one)
        if one.role != "user":
            again = (held.newest.key for held in others if one.is_in_words and measures_again(one, held.said))
            return [*islice(again, 1)]
        is_only = self._held.count(one.kind, one.form) == 1
        ranked = sorted(((found, held) for held in others if (found := rank(one, held, is_only=is_only))), key=itemgetter(0), reverse=True)
        best = ranked[0][1].said.number if ranked else None
        twins = [held.newest.key for _, held in ranked[1:] if best is not None and held.said.number == best]
        return [ranked[0][1].newest.key, *twins] if ranked else []

    def _comparable_with(self, one: Said) -> list[Held]:
        """What a value is held against: in a log or a table, where nobody says that something changed, the one that has its label."""
        if one.crowd is Crowd.none or (one.is_changed and one.is_in_words):
            return self._held.comparable_with(one)
        if one.label is None:
            return []
        labelled = [held for held in self._held.comparable_with(one) if held.said.label == one.label]
        return labelled if len(labelled) == 1 else []

    def _hold(self, one: Said, instead_of: Of | None = None) -> None:
        before = self._held.get(one.key)
        of = _of(one)
        spoken = one if one.is_in_words else None
        if before is not None:
            of = Of(_joined(of.topic, before.topic), _joined(of.wide, before.wide))
            spoken = one if one.is_in_words and (one.role == "user" or not before.by_user) else before.spoken
        if instead_of is not None:
            of = Of(_joined(of.topic, instead_of.topic), _joined(of.wide, instead_of.wide))
        is_of_people = one.is_in_words or one.role == "user" or (before is not None and before.is_of_people)
        self._held.add(one, spoken, of, is_of_people=is_of_people)
        self._replaced.pop(one.key, None)

    def _drop(self, *keys: Key, by: Said) -> None:
        for key in keys:
            held = self._held.pop(key)
            if held is None:
                continue
            self._replaced[key] = by.told
            if not key[0] and by.role == "user":
                self._drop(*self._rules_of(held, by), by=by)
            for part in [] if key[0] else self._held.parts_of(held.newest):
                self._held.pop(part)
                self._replaced[part] = by.told

    def _rules_of(self, held: Held, by: Said) -> list[Key]:
        """The rules of earlier rows that say nothing but the value that is dropped: without it they would still ask for it."""
        said = {mention.around for mention in (held.said, held.newest) if mention.row < by.row and mention.told.at}
        rules = ((True, text) for text in said if len(names_in(text)) == 1 and shape_of(text).is_single)
        return [key for key in rules if self._held.get(key)]


def _is_history(one: Said) -> bool:
    """Whether a value is told of a time past ("last year it was 200"): what is said beside it need not be of the same."""
    return is_remembered(one.told) and one.is_unsure


def _is_of_kind(one: Said, other: Said) -> bool:
    return one.kind is other.kind or (other.is_plain and (one.is_plain or one.kind is FactKind.version))


def _spellings(one: Said) -> list[Key]:
    """The texts of a value: a version with its v, and without."""
    if not VERSION.fullmatch(one.text):
        return [one.key]
    return [one.key, (False, one.text[1:] if one.text[0] == "v" else f"v{one.text}")]


def _of(one: Said) -> Of:
    """What values are compared by; rules are by what they say (``Rules``)."""
    if one.kind is FactKind.constraint or one.crowd is Crowd.sentence:
        return OF_NOTHING
    return Of(one.topic, one.wide_topic) if one.is_in_words else Of(one.topic_of_record, one.topic_of_record)


def _joined(mine: Topic, theirs: Topic) -> Topic:
    return mine | theirs if len(mine.words) + len(theirs.words) <= MOST_WORDS else mine


def measures_again(one: Said, other: Said) -> bool:
    """Whether the assistant says the same of what it measured before: "p95 is 244 ms" after "p95 is 5,440 ms"."""
    if one.kind not in MEASURED or not one.form or one.form != other.form or other.role != one.role or one.row == other.row:
        return False
    if one.words_before == other.words_before != frozenset():
        return True
    common, own = one.topic.words & other.topic.words, one.topic.words - other.topic.words
    if one.is_changed and len(common) > 1:
        return True
    return bool(common) and len(own) <= 1 and not (one.is_kept or are_qualified_apart(one.topic, other.topic))
