"""What a clause is of: its content words by their stems, and which of them tell one thing of a kind from another."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise

from host.messages.facts.change_words import CONCEPTS
from host.messages.facts.topic_words import (
    ARTICLES,
    CHANGERS,
    CJK_IDLE,
    CJK_SAME,
    IDLE,
    JOINS_QUALIFIER,
    KINDS_OF_VALUE,
    OBJECTS,
    REPORTS,
    SAME,
)

WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff](?:[^\W_\u3040-\u30ff\u3400-\u9fff]|['’](?=\w))*")
HAN = re.compile(r"[\u3400-\u9fff\u30a0-\u30ff々ー]+")
NAME_BEFORE = re.compile(r"([\u3400-\u9fff\u30a0-\u30ff々ー]+)[はをがも]?(?:[为是用]|\s|[:：=])*$")
OWNER = re.compile(r"(?:[\u3400-\u9fff\u30a0-\u30ff々ー]+|[A-Za-z][\w-]*)\s?[の的]")
CLAUSE_END = re.compile(
    r"[;；。，、(（)）!！?？\n]|,(?=\s)|\s[–—-]{1,2}\s|\.(?=\s|$)|(?<=[A-Za-z0-9%]) (?:but|while|whereas|because|since|cos|so) "
)
AND = re.compile(r"(?<=[\w%]) and ")
ENDINGS = (("ies", "y"), ("sses", "ss"), ("ings", ""), ("ing", ""), ("ed", ""), ("ers", "er"), ("es", ""), ("s", ""))
LONGEST_QUALIFIER = 3
"""Han characters before a name that are no more than a part of it, where the sentence says that something changed."""
SHORTEST_STEM = 3
MOST_OF_SPEAKER = 5
"""Words within which the clause of somebody who only says what is wanted gets to its verb."""
CHANGED = OBJECTS | {"us", "me", "him", "her"}
SAME_STEMS = {word: name[:-1] if len(name) > SHORTEST_STEM and name.endswith("e") else name for word, name in SAME.items()}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without its ending: "port" and "ports", "retry" and "retries", "load" and "loading" are one."""
    small = word.lower().replace("’", "'").removesuffix("'s").removesuffix("'")
    for ending, instead in ENDINGS:
        if small.endswith(ending) and not small.endswith(("ss", "us")) and len(small) - len(ending) >= SHORTEST_STEM:
            small = small[: -len(ending)] + instead
            if ending.startswith(("ing", "ed")) and small[-1] == small[-2] and small[-1] not in "lse":
                small = small[:-1]
            break
    small = small[:-1] if len(small) > SHORTEST_STEM and small.endswith("e") else small
    return SAME_STEMS.get(small, small)


FIRST_PAIRS = {
    spelling[:2]: [stem(name) for name, others in CONCEPTS if any(other[:2] == spelling[:2] for other in others)]
    for _, spellings in CONCEPTS
    for spelling in spellings
    if not spelling.isascii()
}
"""By the first two Han characters of what has a name in three languages: that name."""


@dataclass(frozen=True, slots=True)
class Topic:
    """The content words of a text, those of them that tell which one is meant ("staging port"), and the first of all."""

    words: frozenset[str] = frozenset()
    qualifying: frozenset[str] = frozenset()
    first: str = ""
    speakers: frozenset[str] = frozenset()  # those of the words that only say who wants it ("Katrin says 95")

    @property
    def weight(self) -> float:
        """How many words there are, three pairs of Han characters counted as one word."""
        return sum(1.0 if word.isascii() else 1 / 3 for word in self.words)

    def __or__(self, other: Topic) -> Topic:
        qualifying, speakers = self.qualifying | other.qualifying, self.speakers | other.speakers
        return Topic(self.words | other.words, qualifying, self.first or other.first, speakers)


EMPTY = Topic()


@lru_cache(maxsize=8192)
def topic_of(text: str) -> Topic:
    """What a text is of. Words that set, change, hedge or point ("make", "now", "rather", "it") say nothing of that."""
    found = list(_content(text))
    words = {word for word, _ in found}
    qualifying = {word for word, part in found if part is Part.qualifier} - KINDS_OF_VALUE
    speakers = frozenset(word for word, part in found if part is Part.speaker)
    first = next((word for word, part in found if part is not Part.speaker), "")
    if not text.isascii():
        pairs = _pairs(text)
        qualifying |= {one for owner in OWNER.finditer(text) for one in (_pairs(owner[0]) or [stem(owner[0].rstrip("の的 "))])}
        words.update(pairs)
        first = first or _concept_of(next(iter(pairs), ""), pairs)
    return Topic(frozenset(words), frozenset(qualifying), first, speakers)


class Part(Enum):
    """What a content word does in its clause."""

    subject = 1
    qualifier = 2
    speaker = 3


def _content(text: str) -> Iterator[tuple[str, Part]]:
    """The stems of the content words in Latin letters, and what each does."""
    words = [(match[0].lower().replace("’", "'").removesuffix("'s"), *match.span()) for match in WORD.finditer(text)]
    is_joined, is_first, spoken = False, True, _end_of_speaker(words)
    for place, (word, start, end) in enumerate(words):
        following, after, _ = words[place + 1] if place + 1 < len(words) else ("", len(text), 0)
        is_next = not text[end:after].strip(" -_'’s")
        if word in IDLE or start == spoken > 0:
            is_joined = word in JOINS_QUALIFIER or (is_joined and word in ARTICLES)
            continue
        is_verb = is_first and is_next and following in OBJECTS and not text[:start].strip(" \0")
        is_first = False
        if end <= spoken:
            yield stem(word), Part.speaker
        elif not is_verb:
            is_qualifier = is_joined or (is_next and bool(following) and following not in IDLE)
            yield stem(word), Part.qualifier if is_qualifier else Part.subject
        is_joined = False


def _end_of_speaker(words: Sequence[tuple[str, int, int]]) -> int:
    """Where the words end that say who wants or changed what is said after them; 0 where none do."""
    for place, (word, start, _) in enumerate(words[:MOST_OF_SPEAKER]):
        is_changer = word in CHANGERS and place + 1 < len(words) and words[place + 1][0] in CHANGED
        if place and (word in REPORTS or is_changer):
            return start
    return 0


def _pairs(text: str) -> dict[str, None]:
    """The pairs of Han characters of a text, and the names of what has one in three languages."""
    bare = CJK_IDLE.sub(" ", text)
    pairs = {run[place : place + 2]: None for run in HAN.findall(bare) for place in range(len(run) - 1)}
    pairs |= {stem(name): None for spelling, name in CJK_SAME if spelling in bare}
    return pairs | {stem(name): None for name, spellings in CONCEPTS if any(not one.isascii() and one in bare for one in spellings)}


def _concept_of(pair: str, found: Container[str]) -> str:
    """What a pair of Han characters begins, by its name in three languages, where that is found too; else the pair."""
    return next((name for name in FIRST_PAIRS.get(pair, ()) if name in found), pair)


def shared(mine: Topic, theirs: Topic) -> float:
    """How many words two topics have in common, pairs of Han characters counted as thirds."""
    return sum(1.0 if word.isascii() else 0.5 for word in mine.words & theirs.words)


def are_apart(mine: Topic, theirs: Topic) -> bool:
    """Whether two topics with a word in common are of two things.

    One tells by a word of its own which thing is meant ("staging port", "the port of guests"), or what each begins with is
    nothing that the other names ("the band costs", "the hall costs").
    """
    if are_qualified_apart(mine, theirs):
        return True
    return bool(mine.first and theirs.first) and mine.first not in theirs.words and theirs.first not in mine.words


def names_more(mine: str, theirs: str, known: frozenset[str], *, is_changed: bool) -> bool:
    """Whether the name of Han characters right before one value is that before another and a word more (数据库端口, 端口)."""
    one, other = (_name_at_end(text) for text in (mine, theirs))
    more = one.removesuffix(other)
    if more == one or len(other) < 2 or (is_changed and len(more) > LONGEST_QUALIFIER):
        return False
    return len(more) > 1 and not _pairs(more).keys() <= known


@lru_cache(maxsize=2048)
def _name_at_end(text: str) -> str:
    named = NAME_BEFORE.search(text)
    return CJK_IDLE.sub(" ", named[1]).strip().rpartition(" ")[2] if named else ""


def are_qualified_apart(mine: Topic, theirs: Topic) -> bool:
    """Whether one of two topics tells by a word of its own which thing is meant."""
    own, others = mine.words - theirs.words - mine.speakers, theirs.words - mine.words
    return bool(own & mine.qualifying) or bool(others & theirs.qualifying and own)


@lru_cache(maxsize=1024)
def clauses(text: str) -> tuple[tuple[int, int], ...]:
    """Where the clauses of a sentence begin and end; one that gives two things a number each is two ("3 s for A and 5 s for B")."""
    edges = [0, *(match.end() for match in CLAUSE_END.finditer(text)), len(text)]
    edges = [edge for start, end in pairwise(edges) for edge in (start, *_joints(text, start, end))] + [len(text)]
    return tuple((start, end) for start, end in pairwise(edges) if text[start:end].strip())


def _joints(text: str, start: int, end: int) -> list[int]:
    """Where a clause gives the next thing its number."""
    joints = [match.end() for match in AND.finditer(text, start, end)]
    parts = [text[one:other] for one, other in pairwise([start, *joints, end])]
    return joints if all(any(map(str.isdigit, part)) and topic_of(part).words for part in parts) else []


def clause_around(text: str, place: int) -> tuple[int, int]:
    """Where the clause around a place of a sentence begins and ends."""
    return next(((start, end) for start, end in clauses(text) if start <= place < end), (0, len(text)))
