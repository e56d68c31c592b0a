"""The sentences of a user that bind what comes after, and those that take such a sentence back."""

from __future__ import annotations

import re

from host.messages.facts.fact import Fact, FactKind
from host.messages.facts.rule_words import CJK_RULE, CJK_TAKEN_BACK, ENGLISH_RELEASES, ENGLISH_RULES, IDLE
from host.messages.facts.sentences import LONGEST, sentences

QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|(?<!\w)'[^']*'(?!\w)""")
ASKED = re.compile(r"[?？]\W*$|(?:です|ます|でしょう|ません)か。?$|[吗呢]。?$|のか、")


def constraints_in(text: str) -> list[Fact]:
    """The sentences of a user's text that state a rule, rising and whole, without list mark.

    Questions, memories, irony, sayings, code fences and other people's words are none.
    """
    return [fact for fact in rules_in(text) if fact.kind is FactKind.constraint]


def rules_in(text: str) -> list[Fact]:
    """The sentences of a user's text that state a rule, and those that permit something or take a rule back (``release``)."""
    return [
        Fact(kind, sentence.start, sentence.end, sentence.text)
        for sentence in sentences(text)
        if len(sentence.text) <= LONGEST and (kind := _kind_of(sentence.text))
    ]


def _kind_of(sentence: str) -> FactKind | None:
    if ASKED.search(sentence):
        return None
    bare = QUOTED.sub("_", sentence)
    if ENGLISH_RELEASES.has(bare) or (not bare.isascii() and CJK_TAKEN_BACK.search(bare)):
        return FactKind.release
    return FactKind.constraint if _binds(bare) and _binds(IDLE.sub("_", bare)) else None


def _binds(sentence: str) -> bool:
    return ENGLISH_RULES.has(sentence) or (not sentence.isascii() and CJK_RULE.search(sentence) is not None)
