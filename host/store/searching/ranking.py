"""Ranking: which words of a question count, what a message scores, and what its neighbours add (search-and-speed 6)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log

import regex

from host.store.searching.folding import Origins, fold
from host.store.searching.matching import Span

CJK = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+")
DENSE_RUN = re.compile("[\u2000-\U0010ffff]+")  # CJK, pictures, symbols: looked up by one and two characters
ACCENT = re.compile("[\u0300-\u036f]")
WORD = regex.compile(r"\w+")
ENDING = re.compile(r"(?<=..[^\W\d_])(?:ings?|edly|ed|ies|es|ers?|ly|ments?|s|e|(?<![aeiou])y)$")
MOST_TERMS = 64
SATURATION, LENGTH_SHARE = 1.2, 0.75  # of bm25: k1 and b
BEST = 1_000  # messages that are put into order; nobody turns so many pages

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can could did do does doing
    down during each few for from further had has have having he her here hers him his how i if in into is it its itself just me more
    most my no nor not now of off on once only or other our ours out over own s same she should so some such t than that the their
    theirs them then there these they this those through to too under until up us very was we were what when where which while who
    whom why will with would you your yours
    """.split()  # noqa: SIM905  words are easier to read than their quotes
)
"""English words that say nothing about what is asked."""


@dataclass(frozen=True)
class Scored:
    """A message and its own score, higher is better."""

    id: int
    conversation: object
    position: int
    score: float


@dataclass(frozen=True)
class Terms:
    """What of a question counts: ``words`` as the word index has them, and ``pairs`` of CJK characters."""

    words: tuple[str, ...]
    pairs: tuple[str, ...]

    def spans(self, text: str) -> Iterator[Span]:
        """Where the text has a pair, or a word that begins like one of these."""
        origins = Origins(text, fold)
        stems = {stem(word) for word in self.words}
        beginnings = [rf"(?<![^\W_])(?:{'|'.join(map(re.escape, stems))})[^\W_]*"] if stems else []
        for found in re.finditer("|".join([*map(re.escape, self.pairs), *beginnings]), fold(text)):
            piece = found.group()
            if piece in self.pairs or stem(without_accents(piece)) in stems:
                yield origins.span(*found.span())


def terms_of(question: str) -> Terms | None:
    """What of a question counts, stop words out unless there is nothing else; None where nothing is left."""
    folded = fold(question)
    words = list(dict.fromkeys(WORD.findall(word_text(folded))))
    pairs = list(dict.fromkeys(pair for run in CJK.findall(folded) for pair in pairs_of(run)))[:MOST_TERMS]
    telling = [word for word in words if word not in STOP_WORDS]
    terms = Terms(tuple((telling or ([] if pairs else words))[:MOST_TERMS]), tuple(pairs))
    return terms if terms.words or terms.pairs else None


def word_text(folded: str) -> str:
    """A folded text as the word index reads it: words of ASCII and other letters, without accents and without CJK."""
    if folded.isascii():
        return folded
    spaced = DENSE_RUN.sub(" ", folded)
    return spaced if spaced.isascii() else " ".join(WORD.findall(without_accents(spaced)))


def without_accents(text: str) -> str:
    """Letters as they are without the marks above and below them."""
    return text if text.isascii() else ACCENT.sub("", unicodedata.normalize("NFD", text))


def pairs_of(run: str) -> list[str]:
    """Each character with the next; one alone is itself."""
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def rarity(holding: int, total: int) -> float:
    """What a term weighs that so many of all messages hold (bm25's idf)."""
    return log(1 + (max(total, holding) - holding + 0.5) / (holding + 0.5))


def score(weight: float, length: int, mean: float) -> float:
    """What a message of this length scores by the weights of its terms (bm25, each term counted once)."""
    return weight * (SATURATION + 1) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / mean))


def stem(word: str) -> str:
    """The word without its English ending, roughly: only for showing where a hit is."""
    return ENDING.sub("", word)


def ranked(scored: Iterable[Scored]) -> list[tuple[int, float]]:
    """Messages with the scores of both neighbours of their conversation added, best first, newest first among equals."""
    own = {(one.conversation, one.position): one for one in scored}
    total = {
        one.id: sum(own[beside].score for beside in ((one.conversation, one.position + step) for step in (-1, 0, 1)) if beside in own)
        for one in own.values()
    }
    return sorted(total.items(), key=lambda pair: (-pair[1], -pair[0]))
