"""What a query asks for: one way to look, or several in order, the next where the one before found nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from host.store.query import Mode, Query
from host.store.searching.folding import fold
from host.store.searching.matching import Matcher, Pattern, Words, literal
from host.store.searching.ranking import CJK, Terms, terms_of

OR_WORD, AND_WORD = "OR", "AND"
QUOTED = re.compile(r'"([^"]+)"', re.DOTALL)
ASCII_SYMBOLS = frozenset("$+<=>^`|~")


@dataclass(frozen=True)
class Attempt:
    """One way to look: by a matcher newest first, or by terms best first."""

    mode: Mode
    how: Matcher | Terms


def attempts_of(query: Query) -> tuple[Attempt, ...]:
    """The ways to look that a query asks for, none for a blank one. UsageError for a bad pattern."""
    if not query.text.strip():
        return ()
    return {
        Mode.AUTO: automatic,
        Mode.LITERAL: lambda text: (Attempt(Mode.LITERAL, literal(text)),),
        Mode.WORDS: lambda text: (Attempt(Mode.WORDS, Words((tuple(fold(text).split()),))),),
        Mode.REGEX: lambda text: (Attempt(Mode.REGEX, Pattern(text)),),
        Mode.RANKED: best_first,
    }[query.mode](query.text)


def automatic(text: str) -> tuple[Attempt, ...]:
    """As it stands where it is quoted or holds punctuation or CJK; else, or then, by words; then any of them (design, The store)."""
    text = text.strip()
    if (quoted := QUOTED.fullmatch(text)) and quoted[1].strip():
        return (Attempt(Mode.LITERAL, literal(quoted[1])),)
    groups = alternatives(text)
    return (
        *((Attempt(Mode.LITERAL, literal(text)),) if is_to_the_letter(text) else ()),
        *((Attempt(Mode.WORDS, Words(groups)),) if groups else ()),
        *best_first(text),
    )


def best_first(text: str) -> tuple[Attempt, ...]:
    """Any of the words; nothing where there is no word."""
    terms = terms_of(text)
    return () if terms is None else (Attempt(Mode.RANKED, terms),)


def is_to_the_letter(text: str) -> bool:
    """Whether somebody who writes this means the characters, not only the words."""
    return bool(CJK.search(text)) or any(not (c.isalnum() or c.isspace() or c == "_" or unicodedata.combining(c)) for c in text)


def alternatives(text: str) -> tuple[tuple[str, ...], ...]:
    """Groups of folded words: ``OR`` and ``|`` part them, ``AND`` and punctuation at the ends of words are nothing."""
    groups: list[list[str]] = [[]]
    for word in text.replace("|", f" {OR_WORD} ").split():
        if word == OR_WORD:
            groups.append([])
        elif word != AND_WORD and (bare := without_edges(word)):
            groups[-1].append(fold(bare))
    return tuple(dict.fromkeys(tuple(dict.fromkeys(group)) for group in groups if group))


def without_edges(word: str) -> str:
    """The word without the punctuation before and after it."""
    start, end = 0, len(word)
    while start < end and is_edge(word[start]):
        start += 1
    while end > start and is_edge(word[end - 1]):
        end -= 1
    return word[start:end]


def is_edge(character: str) -> bool:
    """Punctuation, straight or curly; pictures and letters are not."""
    return character in ASCII_SYMBOLS or (unicodedata.category(character)[0] == "P" and character != "_")
