"""What a value is said of: the words around it, the form it has, and the words that mark it as new, old or kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from host.messages.facts.change_words import (
    BOUNDS,
    CONCEPTS,
    FROM,
    KEPT_WORDS,
    NEW,
    OLD_AFTER,
    OLD_BEFORE,
    STOP,
    TURN,
    UNITS,
)
from host.messages.facts.fact import RULES, FactKind, Told

WORDS = re.compile(r"[A-Za-z][A-Za-z0-9]+|[\u4e00-\u9fff\u30a0-\u30ffー]{2,}")
CLAUSE_END = re.compile(r"[;:；：。，、(（)）\n]|,(?=\s)|\s[–—-]\s|\.\s|\b(?:but|and|while|whereas)\b")
STEM = 6  # letters: "restart", "restarted" and "restarting" are one subject
DAY = re.compile(r"[A-Za-z]{3}|月|\d-\d|/")
CLOCK = re.compile(r":|[时時点]|[ap]m|o['’]")
VERSION = re.compile(r"[\d.]+.*")
TO = re.compile(r"\W{0,3}to\b")
NOUN = re.compile(r"([A-Za-z][A-Za-z_-]+|[\u3040-\u9fff]{2})(?:\s(?:is|to|at|of|now)|[:=是为はを])?[\s`\"'「“]{0,2}$")
NAMED = re.compile(r"([A-Za-z][A-Za-z0-9_.-]{1,30})[ :@]v?$")
LABEL = re.compile(r"([A-Za-z][A-Za-z0-9_. -]{1,40}|[\u3040-\u9fff]{2,10})[\"']?\s?[:=]\s?[\"'`v]?$")
SET_OFF = 4
"""Characters between a label and its value: the sign that sets it, blanks, a quote."""
NUMERALS = re.compile(r"\d+")


@lru_cache(maxsize=2048)
def subject_words(text: str) -> frozenset[str]:
    """The words of a text that can name a subject: small letters, singular, known terms of three languages made one."""
    words: set[str] = set()
    for word in WORDS.findall(text.replace("_", " ")):
        if word.isascii():
            small = word.lower()
            if small not in STOP:
                words.add((small[:-1] if len(small) > 3 and small.endswith("s") and not small.endswith("ss") else small)[:STEM])
        else:
            words.update(word[place : place + 2] for place in range(len(word) - 1))
    small = text.lower()
    words.update(name for name, spellings in CONCEPTS if any(spelling in small for spelling in spellings))
    return frozenset(words)


def subject_of(told: Told) -> frozenset[str]:
    """The words that a value is said with in its own sentence, without the value."""
    around = told.around if told.fact.kind in RULES else told.around[: told.at] + " " + told.around[told.at + len(told.fact.text) :]
    return subject_words(around)


def clause_of(told: Told) -> tuple[str, str]:
    """What the clause of a value says before and after it."""
    before, after = told.around[: told.at], told.around[told.at + len(told.fact.text) :]
    breaks = [match.end() for match in CLAUSE_END.finditer(before)]
    end = CLAUSE_END.search(after)
    return before[breaks[-1] if breaks else 0 :], after[: end.start() if end else len(after)]


def is_marked_old(told: Told) -> bool:
    """Whether the words beside a value say that it no longer holds."""
    before, after = told.around[max(0, told.at - 40) : told.at], told.around[told.at + len(told.fact.text) :][:40]
    if FROM.search(before) and NEW.search(told.around) and TO.match(after):
        return True
    return OLD_BEFORE.search(before) is not None or OLD_AFTER.match(after) is not None


@lru_cache(maxsize=1024)
def says_new(sentence: str) -> bool:
    """Whether a sentence says that something changed."""
    return NEW.search(sentence) is not None


def is_new(told: Told, subject: frozenset[str]) -> bool:
    """Whether the sentence of a value, or the one before it where that has hardly any subject, says that something changed."""
    return says_new(told.around) or (len(subject) < 2 and len(told.lead) < 80 and says_new(told.lead))


def is_kept(told: Told) -> bool:
    """Whether the clause of a value says that it stays as it was, or is of something else."""
    return any(KEPT_WORDS.search(part) for part in clause_of(told))


@lru_cache(maxsize=4096)
def form(kind: FactKind, text: str) -> str:
    """How a value looks: its unit, its parts of a date, its name; for other kinds its text with the numerals left out."""
    return FORMS.get(kind, _without_numerals)(text)


def _unit(text: str) -> str:
    unit = text.lstrip("0123456789.,:' _").strip()
    known = (name for pattern, name in UNITS if pattern.match(unit))
    return next(known, unit) if text[:1].isdigit() else "money"


def _parts_of_date(text: str) -> str:
    has_day, has_clock = DAY.search(text.replace("UTC", "")), CLOCK.search(text)
    return ("day" if has_day else "") + ("clock" if has_clock else "")


def _name_of_version(text: str) -> str:
    return VERSION.sub("", text).strip().lower().removesuffix("v")


def _without_scheme(text: str) -> str:
    return _without_numerals(text.partition("://")[2] or text)


def _without_numerals(text: str) -> str:
    return NUMERALS.sub("0", text)


FORMS: dict[FactKind, Callable[[str], str]] = {
    FactKind.quantity: _unit,
    FactKind.date: _parts_of_date,
    FactKind.version: _name_of_version,
    FactKind.url: _without_scheme,
    FactKind.address: _without_scheme,
}


def key_of(told: Told) -> str | None:
    """The label that a record puts before a value (``Execution Time: ``, ``"price": ``), numerals left out; None without one."""
    before = told.around[max(0, told.at - 48) : told.at]
    is_set = ":" in before[-SET_OFF:] or "=" in before[-SET_OFF:]
    label = (LABEL.search(before) if is_set else None) or (NAMED.search(before) if told.fact.kind is FactKind.version else None)
    return NUMERALS.sub("0", label[1]).lower() if label else None


def bound_of(told: Told) -> str:
    """The word of a bound that stands right before a value (``before``, ``at most``, ``不超过``); empty without one."""
    found = BOUNDS.search(told.around[max(0, told.at - 24) : told.at])
    return found[0].strip().lower() if found else ""


def noun_of(told: Told) -> str:
    """The word right before a value (``room B-204``, ``端口 8443``); empty where none stands there."""
    found = NOUN.search(told.around[max(0, told.at - 32) : told.at])
    return found[1].lower() if found and found[1].lower() not in STOP else ""


def turns(before: str, between: str) -> bool:
    """Whether the words between two values of one sentence lead from an old one to a new one."""
    if len(between) > 60:
        return False
    return TURN.search(between) is not None or (FROM.search(before) is not None and TO.match(between) is not None)
