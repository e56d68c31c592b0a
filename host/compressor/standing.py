"""Which of the user's values and rules hold, as ``Live`` has it, and which of them something said in the turns replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from host.compressor.marks import as_it_holds, word
from host.messages.facts import FactKind, Live, Told, facts_of, kept, told
from host.messages.facts.said import Said
from host.messages.facts.subjects import is_marked_old
from host.messages.facts.topics import Topic, are_apart
from host.messages.types import Message

APART = 100
"""Rows between two items of an earlier summary: that they stand close in it says nothing of how soon after one another they were said."""


class Standing:
    """What holds of ``known``, texts of an earlier summary, and of ``said``, what the user said since; both in order.

    What a text of ``known`` replaced in another counts for nothing: that was seen to when it was said, and their order is lost.
    """

    def __init__(self, known: Sequence[str], said: Sequence[str]) -> None:
        since = len(known) * APART
        rows = [*range(0, since, APART), *range(since, since + len(said))]
        heard = [one for row, text in zip(rows, [*known, *said], strict=True) for one in told_by_user(text, row)]
        live = Live()
        live.hear(heard)
        holding, replaced = live.holding(), live.replaced()
        self._rules = frozenset(one.fact.text for one in holding if one.fact.kind is FactKind.constraint)
        self._held = frozenset(one.fact.text.casefold() for one in holding)
        self._by = {text: by for (is_rule, text), by in replaced.items() if not is_rule}
        self._gone_values = {text: by for text, by in self._by.items() if by.row >= since}
        self._gone_rules = frozenset(text for (is_rule, text), by in replaced.items() if is_rule and by.row >= since)
        self._known_names = self._held | frozenset(map(str.casefold, self._by))
        self._gone_names = frozenset(map(str.casefold, self._gone_values))
        self._sentences_of = _sentences_of(heard)

    def may_concern(self, text: str) -> bool:
        """Whether a text could hold anything that was replaced."""
        return any(gone in text for gone in self._gone_values) or any(gone in text for gone in self._gone_rules)

    def is_gone(self, rule: str) -> bool:
        """Whether a rule was replaced or taken back."""
        return as_it_holds(rule) in self._gone_rules

    def replacement_of(self, one: Told) -> Told | None:
        """What replaced a value of a sentence; None where it holds, or where the sentence is of another thing or says it itself."""
        value = one.fact.text
        by = self._gone_values.get(value)
        if by is None or is_marked_old(one):
            return None
        new = self.newest_for(value)
        if new is not None and word(new).search(one.around):
            return None
        is_of_several = len(self._sentences_of[value] - {by.around}) > 1
        are_two = are_apart if is_of_several else _are_told_apart
        return None if are_two(Said(one).topic, Said(by).topic) else by

    def newest_for(self, value: str) -> str | None:
        """What holds in a replaced value's place; None where that is no value, or none was told."""
        seen = {value}
        while value in self._by and (by := self._by[value]).fact.kind is not FactKind.constraint:
            value = by.fact.text
            if value in seen:
                return None
            seen.add(value)
        return value if value.casefold() in self._held else None

    def current(self, value: str) -> str:
        """The value itself, or what holds since it was replaced."""
        return (self.newest_for(value) or value) if value in self._gone_values else value

    def knows(self, name: str) -> bool:
        """Whether a name in small letters is a value that was told, so that what holds of it is known."""
        return name in self._known_names

    def still_holds(self, name: str, sentence: str) -> bool:
        """Whether a name in small letters holds, or the sentence that it stands in is a rule that does."""
        return (self.knows(name) and name not in self._gone_names) or any(rule in sentence for rule in self._rules)


def told_by_user(text: str, row: int = 0) -> list[Told]:
    """The values and rules of a text that the user wrote, as many as a row keeps."""
    message: Message = {"role": "user", "content": text}
    return told(kept(facts_of(message)), text, row=row, role="user")


def _sentences_of(heard: Iterable[Told]) -> dict[str, set[str]]:
    """The sentences that each value was said in."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one in heard:
        found[one.fact.text].add(one.around)
    return found


def _are_told_apart(mine: Topic, theirs: Topic) -> bool:
    """Whether each of two topics tells by a word of its own which thing is meant: "read timeout", "write timeout"."""
    own, others = mine.words - theirs.words, theirs.words - mine.words
    return bool(own & mine.qualifying and others & theirs.qualifying)
