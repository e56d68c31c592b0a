"""The sentences of a user that bind what comes after, and those that take such a sentence back."""

from __future__ import annotations

import re
from functools import lru_cache

from host.messages.facts.fact import Fact, FactKind
from host.messages.facts.remembered import remembered
from host.messages.facts.rule_words import ENGLISH_RULES, PART_END, binds_in_cjk, releases, without_idle
from host.messages.facts.sentences import sentences

QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|《[^》]*》|‘[^’]*’(?!\w)|„[^“”]*[“”]|'(?<!\w')[^']*'(?!\w)""")
QUOTES = re.compile(r"""[`"“„「『《‘']""")
ASKED = re.compile(r"[?？]\W*$|(?:です|ます|でしょう|ません)か。?$|[吗呢]。?$|のか、")
HASTY = re.compile(r"\b(?:(?:do|must|should|does|is|are|would|could)nt|cant|wont|pls)\b")
SPELLED = {"cant": "can't", "wont": "won't", "pls": "please"}
COLON = re.compile(r"[:：](?=[ \t]*\n)")
REPORTS = re.compile(
    r"(?<!\bi )\b(?:says?|said|reads|wrote|writes|states|stated|(?:told|tells) (?:me|us)|replied|answered)\b[^.!?:]{0,40}$"
    r"|(?:[他她里上]|人家|老板|房东|客户|老师|医生|邮件|信|通知|公告|手册|合同|牌子?|说明书?)[^。，我]{0,4}(?:说|写道|写着|写的是|回复)[^。]{0,4}$"
    r"|と?(?:書いてあ|書かれてい|言っ|言い)[^。]{0,8}$"
)
"""A line that ends in a colon behind what leads to another's words: the paragraph after it is theirs."""
PARAGRAPH = re.compile(r"\s*(?:[^\n]*\S[^\n]*(?:\n|$))*")
LOOKBACK = 80
"""Characters before a colon that can say whose words come after it."""
COMMENTS = ("//", "/*", "<!--")
LONGEST_RULE = 1200
"""Characters of a rule; what goes on longer without an end is no sentence of a person."""


def constraints_in(text: str) -> list[Fact]:
    """The sentences of a user's text that state a rule, rising and whole, without list mark.

    Questions, memories, irony, sayings, code fences and other people's words are none.
    """
    return [fact for fact in rules_in(text) if fact.kind is FactKind.constraint]


@remembered
def rules_in(text: str) -> list[Fact]:
    """The sentences of a user's text that state a rule, and those that permit something or take a rule back (``release``)."""
    others = _of_others(text)
    return [
        Fact(kind, sentence.start, sentence.end, sentence.text)
        for sentence in sentences(text)
        if len(sentence.text) <= LONGEST_RULE and not any(start <= sentence.start < end for start, end in others)
        for kind in _kinds_of(sentence.text)
    ]


def _of_others(text: str) -> list[tuple[int, int]]:
    """The paragraphs that a line before them says are another's words."""
    found: list[tuple[int, int]] = []
    for colon in COLON.finditer(text):
        end = colon.start()
        line = text[max(text.rfind("\n", max(0, end - LOOKBACK), end) + 1, end - LOOKBACK) : end].lower()
        if (not found or end >= found[-1][1]) and REPORTS.search(line) and (paragraph := PARAGRAPH.match(text, colon.end())):
            found.append(paragraph.span())
    return found


def binds(sentence: str) -> bool:
    """Whether a sentence of a user states a rule."""
    return FactKind.constraint in _kinds_of(sentence)


@lru_cache(maxsize=1024)
def _kinds_of(sentence: str) -> tuple[FactKind, ...]:
    """A sentence that permits one thing and forbids another is of both kinds."""
    if _is_asked(sentence) or sentence.startswith(COMMENTS):
        return ()
    bare = _spelled((QUOTED.sub("_", sentence) if QUOTES.search(sentence) else sentence).lower())
    if not releases(bare):
        return (FactKind.constraint,) if _binds(bare) else ()
    has_rule = any(not releases(part) and _binds(part) for part in PART_END.split(bare))
    return (FactKind.constraint, FactKind.release) if has_rule else (FactKind.release,)


def _is_asked(sentence: str) -> bool:
    return ("?" in sentence or not sentence.isascii()) and ASKED.search(sentence) is not None


def _spelled(sentence: str) -> str:
    """A sentence in small letters with the signs that people leave out when they type ("dont", "cant", "pls")."""
    if "nt" not in sentence and "pls" not in sentence:
        return sentence
    return HASTY.sub(lambda word: SPELLED.get(word[0], f"{word[0][:-2]}n't"), sentence)


def _binds(sentence: str) -> bool:
    if not _has_words_of_a_rule(sentence):
        return False
    rest = without_idle(sentence)
    return rest == sentence or _has_words_of_a_rule(rest)


def _has_words_of_a_rule(sentence: str) -> bool:
    return ENGLISH_RULES.has(sentence) or (not sentence.isascii() and binds_in_cjk(sentence))
