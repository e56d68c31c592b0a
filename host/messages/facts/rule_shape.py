"""What a rule says apart from how it binds: its words in their order, the exact names among them, and what it is of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from host.messages.facts.order_words import (
    BELONGS,
    BINDING,
    BINDING_WORDS,
    BOUND_AFTER,
    BOUND_BEFORE,
    CHANGES,
    CHOICES,
    DENIED,
    FORBIDS,
    FURTHER,
    JOINS,
    KINDS,
    REASON,
    RIVAL_ROWS,
    RIVALS,
    SAYING_NOTHING,
    SETS,
    SWAPS,
    TAKEN,
    UNIT,
    USES,
    WAITS,
    WAIVES,
)
from host.messages.facts.rule_words import IS_RESUMED, PART_END

HAN = r"\u3400-\u9fff\u30a0-\u30ffー々"
LATIN = rf"[^\W\u3040-\u30ff{HAN}]"
PIECE = re.compile(
    rf"""(?P<quoted>`[^`]*`|"[^"]*"|“[^”]*”|「[^」]*」)
      | (?P<latin>(?:[/~@$€£¥.]|--?(?=\w))*{LATIN}(?:[\w./:@\#~+%$€£¥\\*'’-]*(?:(?<=[/*%])|(?<={LATIN})))?(?<![\u3040-\u9fff])
        | {LATIN})
      | (?P<choice>{CHOICES}) | (?P<han>(?:(?!{CHOICES})[{HAN}])+) | (?P<kana>から|まで|より|だけ|のみ|なし)
    """,
    re.VERBOSE,
)
HAN_RUN = re.compile(rf"[\u3040-\u30ff{HAN}]")
SIGN = re.compile(r"[^A-Za-z0-9\s.,;:!?'\"()…、。，；：！？「」『』“”‘’`–—-]|(?<!\w)-(?!\w)")
"""What is neither word nor punctuation, and the endings of Japanese: two rules that differ in it do not say the same."""

NAME = re.compile(r"\d|[/\\_@:*.]|^-|[a-z][A-Z]")
"""What makes a word exact: a numeral, a sign of paths and code, a capital inside."""

AS_NUMBER = re.compile(r"[$€£¥v]?\d[\d.,:]*[A-Za-z%]{0,3}")
HOST = re.compile(r"\d+\.\d+\.\d+\.\d+")
ENDING = re.compile(r"(?:ings?|ed|es|s|e)$")
GAP = "\0"


class Subject(NamedTuple):
    """The words that say what a sentence is of: in Latin letters without their endings, in Han characters by pairs of characters."""

    latin: frozenset[str]
    han: frozenset[str]

    @property
    def weight(self) -> float:
        """How many words there are, three pairs of characters counted as one word."""
        return len(self.latin) + len(self.han) / 3


class Choice(NamedTuple):
    """The things of a known kind that an order chooses: the rows of ``RIVALS`` they stand in, and what else the order is of."""

    rows: frozenset[int]
    rest: frozenset[str]


@dataclass(frozen=True, slots=True)
class Shape:
    """A rule by what it says. ``settings`` tells of each of ``names`` whether another value can take its place.

    ``is_joined``: one clause that is of several things or acts; ``words`` are all that it is said with. ``awaited`` are those of
    what a ban waits for, ``scope`` of what ``denied`` is no longer for.
    Of a sentence that takes a rule back: ``waives`` says that a duty ends, ``resumes`` that a ban does.
    """

    forbids: bool
    changes: bool
    is_single: bool  # one clause: what changes or lifts it does so with all of it
    pieces: tuple[str, ...]
    frame: tuple[str, ...]
    names: tuple[str, ...]
    settings: tuple[bool, ...]
    subject: Subject
    denied: frozenset[str]
    scope: frozenset[str]
    swaps: bool
    used: str
    choice: Choice
    words: tuple[str, ...]
    is_joined: bool
    awaited: frozenset[str]
    waives: bool
    resumes: bool

    @property
    def says_something(self) -> bool:
        """Whether it names what it is of."""
        return bool(self.subject.latin or self.subject.han or self.names)


@lru_cache(maxsize=2048)
def shape_of(sentence: str) -> Shape:
    """What a rule, or a sentence that takes one back, says."""
    forbids, denied = forbids_in(sentence), DENIED.search(sentence)
    bare = BINDING.sub(lambda found: " " * len(found[0]), sentence)
    binding = BINDING.sub(lambda found: " " * len(found[0]), without_reason(sentence))
    found = list(filter(_is_said, PIECE.finditer(bare)))
    pieces = tuple("golang" if match[0] == "Go" and match.start() else _spelled(match[0]) for match in found)
    kinds = tuple(_kind_of(match) for match in found)
    signs = tuple(SIGN.findall(PIECE.sub(" ", bare)))
    both = list(zip(pieces, kinds, strict=True))
    subject = _subject([piece for match, (piece, kind) in zip(found, both, strict=True) if not kind and match.end() <= len(binding)])
    used, awaited = USES.search(sentence), WAITS.search(bare)
    return Shape(
        forbids=forbids,
        changes=CHANGES.search(sentence) is not None,
        is_single=sum(1 for part in PART_END.split(binding) if not BELONGS.match(part) and any(map(_is_said, PIECE.finditer(part)))) < 2,
        pieces=pieces + signs,
        frame=tuple(kind or piece for piece, kind in both) + signs,
        names=tuple(piece for piece, kind in both if kind),
        settings=tuple(_is_set(sentence, match, kind, forbids) for match, kind in zip(found, kinds, strict=True) if kind),
        subject=subject,
        denied=_denied(denied["after"] or denied["behind"] or denied["before"]) if denied else frozenset(),
        scope=_all_words(denied["scope"] or "") if denied else frozenset(),
        swaps=SWAPS.search(sentence) is not None,
        used=stem(_spelled(used["thing"])) if used else "",
        choice=_choice(sentence, found, subject),
        words=(*subject.han, *signs, *(stem(piece) for piece in pieces if not HAN_RUN.match(piece) and not JOINS.fullmatch(piece))),
        is_joined=JOINS.search(bare) is not None,
        awaited=_all_words(awaited["thing"]) if awaited else frozenset(),
        waives=WAIVES.search(sentence) is not None,
        resumes=IS_RESUMED.search(sentence) is not None,
    )


def without_reason(sentence: str) -> str:
    """A rule up to where it only says why ("don't reboot it, tessa is in calls all day")."""
    reason = REASON.search(sentence)
    return sentence[: reason.start()] if reason and not BINDING.search(sentence, reason.start() + 1) else sentence


@lru_cache(maxsize=2048)
def forbids_in(text: str) -> bool:
    """Whether a sentence, or the part of it before a value, forbids something."""
    return FORBIDS.search(text) is not None


def is_bound(text: str, start: int, end: int) -> bool:
    """Whether a place in a text is the figure of a bound ("before 19:00", "more than 3", 不超过 3)."""
    is_number = AS_NUMBER.fullmatch(text, start, end) is not None or text[start:end][:1].isdigit()
    return is_number and (BOUND_BEFORE.search(text[max(0, start - 24) : start]) is not None or BOUND_AFTER.match(text, end) is not None)


def are_apart(mine: Subject, theirs: Subject) -> bool:
    """Whether two subjects name two things: each has words that the other has not; of Han characters no more than half is shared."""
    if not (mine.latin <= theirs.latin or theirs.latin <= mine.latin):
        return True
    if set("".join(mine.han)) <= set("".join(theirs.han)) or set("".join(theirs.han)) <= set("".join(mine.han)):
        return False
    smaller = min(len(mine.han), len(theirs.han))
    return smaller > 0 and 2 * len(mine.han & theirs.han) <= smaller


def shared_words(mine: Subject, theirs: Subject) -> int:
    """How many words two subjects have in common."""
    return len(mine.latin & theirs.latin) + len(mine.han & theirs.han)


def is_within(mine: Subject, theirs: Subject) -> bool:
    """Whether a subject is named by the other too, with nothing of its own."""
    return mine.latin <= theirs.latin and shared_words(mine, theirs) > 0 and not are_apart(mine, theirs)


def subject_in(text: str) -> Subject:
    """What a text is of, exact names left out."""
    return shape_of(text).subject


def names_in(text: str) -> frozenset[str]:
    """The exact names of a text."""
    return frozenset(shape_of(text).names)


def _is_said(match: re.Match[str]) -> bool:
    return match[0] == "A" or match[0].lower() not in BINDING_WORDS


def _spelled(piece: str) -> str:
    return piece if NAME.search(piece) or piece[0] in '`"“「' else piece.lower()


def _kind_of(match: re.Match[str]) -> str:
    """Empty for a word; what stands in its place in a frame for an exact name, or for one of several alternatives."""
    if match["quoted"] or (match["latin"] and NAME.search(match["latin"])):
        return GAP
    kind = KINDS.get(match[0].lower())
    return f"{GAP}{kind}" if kind else ""


def _is_set(sentence: str, match: re.Match[str], kind: str, forbids: bool) -> bool:
    """Whether a name is a setting, so that another one takes its place; what is forbidden is none unless it is a bound."""
    start, end = match.span()
    if forbids:
        return is_bound(sentence, start, end) or (kind == f"{GAP}count" and BOUND_BEFORE.search(sentence[:start]) is not None)
    if kind != GAP:
        return True
    if SETS.search(sentence[max(0, start - 16) : start]) or is_bound(sentence, start, end):
        return True
    text = match[0]
    is_number = AS_NUMBER.fullmatch(text) is not None and not HOST.fullmatch(text)
    return is_number and ("." in text or not text[-1].isdigit() or UNIT.match(sentence, end) is not None)


def _subject(pieces: Sequence[str]) -> Subject:
    han = [piece for piece in pieces if HAN_RUN.match(piece)]
    return Subject(
        latin=frozenset(stem(piece) for piece in pieces if len(piece) > 1 and piece not in SAYING_NOTHING and not HAN_RUN.match(piece)),
        han=frozenset(piece[place : place + 2] for piece in han for place in range(max(1, len(piece) - 1))),
    )


def _choice(sentence: str, found: Sequence[re.Match[str]], subject: Subject) -> Choice:
    chosen = [
        word
        for match in found
        if (word := match[0].lower()) in RIVAL_ROWS
        and TAKEN.search(sentence[: match.start()])
        and not FURTHER.search(sentence, match.end())
    ]
    rows = frozenset(row for word in chosen for row in RIVAL_ROWS[word])
    saying_as_much = {stem(word) for row in rows for word in RIVALS[row][0].split()} | set(map(stem, chosen))
    return Choice(rows, (subject.latin | subject.han) - saying_as_much)


def _denied(text: str) -> frozenset[str]:
    """The words of what an order calls old."""
    named = filter(_is_said, PIECE.finditer(BINDING.sub(" ", text)))
    return frozenset(stem(_spelled(match[0])) for match in named if match[0].lower() not in SAYING_NOTHING)


def _all_words(text: str) -> frozenset[str]:
    return frozenset(stem(_spelled(match[0])) for match in filter(_is_said, PIECE.finditer(text)))


def stem(word: str) -> str:
    """A word without its ending: "add", "adds" and "adding" are one."""
    short = ENDING.sub("", word) if len(word) > 3 and not word.endswith("ss") else word.removesuffix("e")
    return short[:-1] if len(short) > 2 and short[-1] == short[-2] else short
