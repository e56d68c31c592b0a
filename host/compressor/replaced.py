"""What a later statement of the user replaced is told no longer: "port 8080", then "use 9090 instead"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from host.compressor.sources import Turns, sentences
from host.compressor.template import Section
from host.messages.facts import FactKind, Live, Told, facts_of, told
from host.messages.facts.sentences import reads_as_prose
from host.messages.facts.statements import restated, restatements
from host.messages.types import Message

REPLACED = "[replaced since]"
SAME = 0.8  # share of an item's words that another one has to hold to say the same
WORD = re.compile(r"\w+")
NUMBER = re.compile(r"\d+")
APART = 100
"""Rows between two items of an earlier summary: that they stand close in it says nothing of how soon after one another they were said."""
SAID_BY_USER = (Section.ASKS, Section.CONSTRAINTS, Section.TASK)
"""Sections of a summary that hold the user's own words; the last one holds the newest."""


class Replaced:
    """What the user replaced by something said in these turns: of an earlier summary, and in the turns themselves.

    The items of the earlier summary replace one another no more: that was done when they were said, and they lost their order.
    """

    def __init__(self, earlier: Mapping[Section, Sequence[str]], turns: Turns) -> None:
        known = list(dict.fromkeys(text for section in SAID_BY_USER for text in reversed(earlier.get(section, ()))))
        said = [turns.text(message) for message in reversed(list(turns.of_user()))]
        self._facts = _replaced_facts(known, said)
        self._values, self._whole = _restated(known, said)

    def still(self, text: str) -> str:
        """What of a text of the user still holds: values that were replaced go, and a text that has nothing else goes as a whole."""
        parts = list(sentences(text))
        if parts and all(_on_one_line(part) in self._whole for part in parts):
            return ""
        for part in parts:
            if values := self._values.get(_on_one_line(part)):
                text = text.replace(part, _without(part, values))
        return self._without_facts(text)

    def _without_facts(self, text: str) -> str:
        if not any(gone in text for _, gone in self._facts):
            return text
        for fact in facts_of(_as_user(text)):
            is_rule = fact.kind is FactKind.constraint
            if (is_rule, fact.text) in self._facts:
                text = text.replace(fact.text, "" if is_rule else REPLACED)
        return text.strip()


def said_once(texts: Sequence[str]) -> Iterator[str]:
    """The items, newest first; one that lost a value only where a newer one does not say the rest of it."""
    newer: list[frozenset[str]] = []
    for text in texts:
        words = frozenset(WORD.findall(text.replace(REPLACED, "").casefold()))
        if REPLACED not in text or not any(len(words & other) >= len(words) * SAME for other in newer):
            yield text
        newer.append(words)


def _replaced_facts(known: Sequence[str], said: Sequence[str]) -> frozenset[tuple[bool, str]]:
    """Rules and values that something in ``said`` replaced: whether it is a rule, and its text."""
    live = Live()
    since = len(known) * APART
    live.hear(chain.from_iterable(_told(text, row * APART) for row, text in enumerate(known)))
    live.hear(chain.from_iterable(_told(text, row) for row, text in enumerate(said, since)))
    return frozenset(key for key, by in live.replaced().items() if by.row >= since)


def _restated(known: Sequence[str], said: Sequence[str]) -> tuple[dict[str, set[str]], set[str]]:
    """Sentences with the values that a later one gives otherwise, and those of which nothing else is left."""
    before = [_on_one_line(part) for text in known for part in sentences(text)]
    told = [*before, *(_on_one_line(part) for text in said for part in sentences(text))]
    newest = {text: index for index, text in enumerate(told)}  # what is said again holds again
    values: defaultdict[str, set[str]] = defaultdict(set)
    kept: set[str] = set()
    for one in restatements(told):
        old = told[one.old]
        if one.new >= len(before) and newest[old] == one.old and _is_plain(one.value, old, told[one.new]):
            values[old].add(one.value)
        else:
            kept.add(old)
    return values, {told[index] for index in restated(told)} & (values.keys() - kept)


def _is_plain(value: str, old: str, new: str) -> bool:
    """Whether two sentences of prose differ in this value alone, as far as numbers tell ("port 8001 of host 1", "port 8002 of host 2")."""
    said_again = {*NUMBER.findall(new), *NUMBER.findall(value)}
    return all(number in said_again for number in NUMBER.findall(old)) and reads_as_prose(old) and reads_as_prose(new)


def _told(text: str, row: int) -> list[Told]:
    return told(facts_of(_as_user(text)), text, row=row, role="user")


def _as_user(text: str) -> Message:
    return {"role": "user", "content": text}


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _without(sentence: str, values: Collection[str]) -> str:
    """The sentence with these values, in any case, marked as replaced."""
    sought = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    return re.sub(rf"(?i)(?<![\w/-])(?:{sought})(?![\w/-])", REPLACED, sentence)
