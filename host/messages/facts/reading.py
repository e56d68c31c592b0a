"""The facts of a message, and those of an archived row with the words around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from host.messages.facts.constraints import rules_in
from host.messages.facts.fact import Fact, FactKind, Told
from host.messages.facts.sentences import Surroundings
from host.messages.facts.values import values_in
from host.messages.searchable import searchable
from host.messages.types import Message

VALUE = re.compile(r"[A-Za-z_][\w.-]{1,40}(?: ?= ?|: )[\"']?(?=.)")
"""What stands before the value of a setting."""

READ = 100_000
"""Characters that are read at the beginning and again at the end of a message: a log of megabytes keeps 200 facts anyway."""


def facts_of(message: Message) -> list[Fact]:
    """The facts of a message, rising, with their places in its searchable text.

    Values of every role; rules, and the sentences that take rules back, of the user alone. Of a text of more than twice
    ``READ`` characters the beginning and the end are read. Never raises, whatever the text holds.
    """
    text = searchable(message)
    found = values_in(text) if len(text) <= 2 * READ else _of_both_ends(text)
    if message.get("role") == "user":
        found += rules_in(text[:READ])
        found.sort(key=lambda fact: (fact.start, fact.end))
    return found


def _of_both_ends(text: str) -> list[Fact]:
    later = len(text) - READ
    moved = [Fact(fact.kind, fact.start + later, fact.end + later, fact.text) for fact in values_in(text[later:])]
    return values_in(text[:READ]) + moved


def told(facts: Sequence[Fact], text: str, *, row: int, role: str) -> list[Told]:
    """The facts of one archived row with the words around each, in the order in which they are said.

    ``text`` is the searchable text that the facts' places are counted in. Of a setting (``pool_size=12``) that has a value of
    its own the value is told: the words around it hold the name.
    """
    surroundings = Surroundings(text) if facts else None
    said = _without_settings(facts)
    return [Told(fact, row, role, *surroundings.at(fact.start, fact.end)) for fact in said] if surroundings else []


def _without_settings(facts: Sequence[Fact]) -> list[Fact]:
    starts = {fact.start for fact in facts}
    return [fact for fact in facts if not ((name := _name_of_setting(fact)) and fact.start + len(name) in starts)]


def _name_of_setting(fact: Fact) -> str:
    name = VALUE.match(fact.text) if fact.kind is FactKind.quoted else None
    return name[0] if name else ""
