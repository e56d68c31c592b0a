"""The sentences of a user that bind what comes after, and those that take such a sentence back."""

from __future__ import annotations

import re
from functools import lru_cache

from host.messages.facts.fact import Fact, FactKind
from host.messages.facts.rule_words import CJK_RULE, ENGLISH_RULES, PART_END, releases, without_idle
from host.messages.facts.sentences import LONGEST, sentences

QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|(?<!\w)'[^']*'(?!\w)""")
QUOTES = frozenset("`\"“「『'")
ASKED = re.compile(r"[?？]\W*$|(?:です|ます|でしょう|ません)か。?$|[吗呢]。?$|のか、")
HASTY_HINT = re.compile(r"nt\b|pls|Pls")
HASTY = re.compile(r"(?i)\b(?:(?:do|must|should|does|is|are|would|could)nt|cant|wont|pls)\b")
SPELLED = {"cant": "can't", "wont": "won't", "pls": "please"}
COMMENTS = ("//", "/*", "<!--")


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
        if len(sentence.text) <= LONGEST
        for kind in _kinds_of(sentence.text)
    ]


@lru_cache(maxsize=1024)
def binds(sentence: str) -> bool:
    """Whether a sentence of a user states a rule."""
    return FactKind.constraint in _kinds_of(sentence)


def _kinds_of(sentence: str) -> list[FactKind]:
    """A sentence that permits one thing and forbids another is of both kinds."""
    if _is_asked(sentence) or sentence.startswith(COMMENTS):
        return []
    bare = _spelled(sentence if QUOTES.isdisjoint(sentence) else QUOTED.sub("_", sentence)).lower()
    if not releases(bare):
        return [FactKind.constraint] if _binds(bare) else []
    has_rule = any(not releases(part) and _binds(part) for part in PART_END.split(bare))
    return [FactKind.constraint, FactKind.release] if has_rule else [FactKind.release]


def _is_asked(sentence: str) -> bool:
    return ("?" in sentence or not sentence.isascii()) and ASKED.search(sentence) is not None


def _spelled(sentence: str) -> str:
    """A sentence with the signs that people leave out when they type ("dont", "cant", "pls")."""
    return HASTY.sub(lambda word: SPELLED.get(word[0].lower(), f"{word[0][:-2]}n't"), sentence) if HASTY_HINT.search(sentence) else sentence


def _binds(sentence: str) -> bool:
    return _has_words_of_a_rule(sentence) and _has_words_of_a_rule(without_idle(sentence))


def _has_words_of_a_rule(sentence: str) -> bool:
    return ENGLISH_RULES.has(sentence) or (not sentence.isascii() and CJK_RULE.search(sentence) is not None)
