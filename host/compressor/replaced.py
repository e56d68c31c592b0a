"""What a later statement of the user replaced: left out where the later one says all of it again, else marked beside the new value."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from host.compressor.marks import MARK, as_it_holds, is_marked, marked, marking, renewed, without_marks, word
from host.compressor.series import NUMBER, Series
from host.compressor.sources import Turns, sentences
from host.compressor.standing import Standing, told_by_user
from host.compressor.template import Section
from host.messages.facts import Fact, FactKind, Told
from host.messages.facts.sentences import reads_as_prose
from host.messages.facts.statements import restated, restatements
from host.messages.facts.topics import topic_of

SAME = 0.8  # share of an item's words that another one has to hold to say the same
OF_SAME = 0.6  # share of the words that a sentence is of which another one has to name to stand for it
WORD = re.compile(r"\w+")
SAID_BY_USER = (Section.ASKS, Section.CONSTRAINTS, Section.TASK)
"""Sections of a summary that hold the user's own words; the last one holds the newest."""


class Replaced:
    """What the user replaced by something said in these turns: of what the user began with, of an earlier summary, of the turns.

    Values and rules hold as everywhere (``Standing``); names and days, which are no values there, until a later sentence gives
    them otherwise.
    """

    def __init__(self, earlier: Mapping[Section, Sequence[str]], turns: Turns, opening: str = "") -> None:
        items = dict.fromkeys(text for section in SAID_BY_USER for text in reversed(earlier.get(section, ())))
        known, said = [opening, *map(as_it_holds, items)], list(turns.said_by_user())[::-1]
        before, after = _sentences_in(known), _sentences_in(said)
        self._standing = Standing(known, said)
        self._series = Series([*before, *after])
        self._names, self._whole = self._restated(before, after)

    def still(self, text: str) -> str:
        """What of a text of the user still holds.

        Sentences at its end of which nothing does are left out. One that others follow may be what those are of: the values in it
        that were replaced are marked.
        """
        for part in reversed(list(sentences(text))):
            if _on_one_line(as_it_holds(part)) not in self._whole:
                break
            text = text[: text.rindex(part)]
        return self._with_marks(text, in_place_of_rule=lambda rule: "")

    def beside_new(self, text: str) -> str:
        """The text as a whole, with all that was replaced marked."""
        return self._with_marks(text, in_place_of_rule=lambda rule: marked(as_it_holds(rule), None))

    def _with_marks(self, text: str, in_place_of_rule: Callable[[str], str]) -> str:
        text = renewed(text, self._standing.current)
        for part in list(sentences(text)):
            for name in self._names.get(_on_one_line(as_it_holds(part)), ()):
                text = text.replace(part, marking(part, word(name)))
        if self._standing.may_concern(text):
            text = self._with_marked_facts(text, in_place_of_rule)
        return _on_one_line(text)

    def _with_marked_facts(self, text: str, in_place_of_rule: Callable[[str], str]) -> str:
        marks, rules = self._marks_in(text)
        for rule in rules:
            is_followed = bool(text[rule.end :].strip())
            if not (is_followed and any(rule.start <= value.start and value.end <= rule.end for value in marks)):
                marks[rule] = in_place_of_rule(rule.text)
        end = len(text)
        for fact in sorted(marks, key=lambda fact: (-fact.end, fact.start)):
            if fact.end <= end:
                text, end = text[: fact.start] + marks[fact] + text[fact.end :], fact.start
        return text

    def _marks_in(self, text: str) -> tuple[dict[Fact, str], list[Fact]]:
        """The marks for the replaced values of a text, and the rules in it that hold no more."""
        taken = [mark.span() for mark in MARK.finditer(text)]
        told = told_by_user(text)
        values = [one for one in told if not any(start < one.fact.end and one.fact.start < stop for start, stop in taken)]
        marks = {one.fact: mark for one in values if (mark := self._mark_of(one)) is not None}
        return marks, [one.fact for one in told if one.fact.kind is FactKind.constraint and self._standing.is_gone(one.fact.text)]

    def _mark_of(self, one: Told) -> str | None:
        by = self._standing.replacement_of(one)
        if by is None or self._series.has_both(one.around, by.around):
            return None
        return marked(one.fact.text, self._standing.newest_for(one.fact.text))

    def _restated(self, before: Sequence[str], after: Sequence[str]) -> tuple[dict[str, set[str]], set[str]]:
        """Sentences with the names that a later one gives otherwise, and those of which nothing holds any more."""
        told = [*before, *after]
        newest = {text: index for index, text in enumerate(told)}  # what is said again holds again
        names: defaultdict[str, set[str]] = defaultdict(set)
        gone: set[str] = set()
        kept: set[str] = set()
        pairs = restatements(told)
        for one in pairs:
            old, new = told[one.old], told[one.new]
            if one.new < len(before) or newest[old] != one.old or not self._gives_way(one.value, old, new):
                kept.add(old)
                continue
            if _is_of_same(old, new):
                gone.add(old)
            if not self._standing.knows(one.value):
                names[old].add(one.value)
        concerned = [told[index] for index in sorted({index for one in pairs for index in (one.old, one.new)})]
        return names, {concerned[index] for index in restated(concerned)} & (gone - kept)

    def _gives_way(self, value: str, old: str, new: str) -> bool:
        """Whether two sentences of prose differ in this value alone, as far as numbers tell, and what holds does not say otherwise."""
        said_again = {*NUMBER.findall(new), *NUMBER.findall(value)}
        if not all(number in said_again for number in NUMBER.findall(old)) or self._series.has_both(old, new):
            return False
        return not self._standing.still_holds(value, old) and reads_as_prose(old) and reads_as_prose(new)


def said_once(texts: Sequence[str]) -> Iterator[str]:
    """The items, newest first; one with a replaced value only where a newer one does not say the rest of it."""
    newer: list[frozenset[str]] = []
    for text in texts:
        words = frozenset(WORD.findall(without_marks(text).casefold()))
        if not is_marked(text) or not any(len(words & other) >= len(words) * SAME for other in newer):
            yield text
        newer.append(words)


def _sentences_in(texts: Sequence[str]) -> list[str]:
    return [_on_one_line(part) for text in texts for part in sentences(text)]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _is_of_same(old: str, new: str) -> bool:
    """Whether a newer sentence says what an older one is of, so that nothing is lost with the older one."""
    words = topic_of(old).words
    return len(words & topic_of(new).words) >= len(words) * OF_SAME
