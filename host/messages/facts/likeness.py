"""Whether one value is said of the same thing as another, pair by pair."""

from __future__ import annotations

from dataclasses import replace

from host.messages.facts.fact import FactKind, Told
from host.messages.facts.subjects import bound_of, clause_of, form, is_new, key_of, noun_of, subject_of, subject_words, turns

MEASURED = frozenset({FactKind.quantity, FactKind.version})
"""Kinds that are measured again: an id or a date under the same label is one more of its list."""

FREE = frozenset({FactKind.url, FactKind.address, FactKind.path, FactKind.version, FactKind.email})
"""Kinds whose values may look quite different and still be of one subject."""

HOSTS = frozenset({FactKind.url, FactKind.address})

FEW = 2
"""Subject words below which a sentence is of what the sentence before is of."""

DAY_OR_MOMENT = frozenset({"day", "dayclock"})


def form_of(told: Told) -> str:
    """How the value looks (``form``)."""
    return form(told.fact.kind, told.fact.text)


def are_comparable(one: Told, other: Told) -> bool:
    """Whether a value could take an older one's place at all: alike in kind and unit, and not beside it in another sentence."""
    if one.fact.text == other.fact.text or (one.row == other.row and (one.around != other.around or other.at > one.at)):
        return False
    if one.fact.kind is not other.fact.kind:
        return {one.fact.kind, other.fact.kind} <= HOSTS or (is_plain(one) and is_plain(other))
    mine, theirs = form_of(one), form_of(other)
    if one.fact.kind is FactKind.address:
        return mine[:1].isdigit() == theirs[:1].isdigit()
    if one.fact.kind in (FactKind.quantity, FactKind.date):
        return mine == theirs or is_plain(one) or is_plain(other) or {mine, theirs} == DAY_OR_MOMENT
    if one.fact.kind is FactKind.quoted:
        return _is_name(one) == _is_name(other)
    return mine == theirs or one.fact.kind in FREE or _same_noun(one, other)


def is_plain(told: Told) -> bool:
    """Whether a value is a number without unit: a port, a setting."""
    return told.fact.text.isdigit()


def likeness(one: Told, other: Told) -> float:
    """How much two values look like one another, 0 to 1; plain numbers all look alike, which says nothing."""
    if _same_noun(one, other):
        return 0.75
    mine, theirs = form_of(one), form_of(other)
    if one.fact.kind is FactKind.version and _series(one) == _series(other) != "":
        return 1.0
    if one.fact.kind in (FactKind.quantity, FactKind.date):
        return 0.25 if mine and (mine == theirs or one.fact.kind is FactKind.date) else 0.0
    if one.fact.text.startswith(other.fact.text) or other.fact.text.startswith(one.fact.text):
        return 1.0
    if (one.fact.kind is FactKind.quoted and not _is_name(one)) or one.fact.kind is FactKind.email:
        return 0.25
    return 0.5 if mine and mine[:4] == theirs[:4] else 0.0


def turns_into(other: Told, one: Told) -> bool:
    """Whether a sentence that holds both leads from the older value to the newer ("from 5 to 8", "X 改成 Y")."""
    end = other.at + len(other.fact.text)
    return is_new(one) and turns(one.around[: other.at], one.around[end : one.at])


def have_same_bound(one: Told, other: Told) -> bool:
    """Whether both stand behind the same word of a bound, the newer in the user's words ("before 19:00", "before 20:00")."""
    return one.role == "user" and bound_of(one) == bound_of(other) != "" and form_of(one) == form_of(other)


def say_the_same(one: Told, other: Told) -> bool:
    """Whether two values fill the same gap in what is said: "p95 is 244 ms" after "p95 is 5,440 ms"."""
    if form_of(one) != form_of(other):
        return False
    if is_new(replace(one, lead="")) and len(subject_of(one) & subject_of(other)) >= FEW:
        return True
    is_measured = one.fact.kind in MEASURED and form_of(one) != ""
    before = subject_words(clause_of(one)[0])
    return before == subject_words(clause_of(other)[0]) != frozenset() and one.role == other.role and (is_measured or one.role == "user")


def go_together(one: Told, other: Told) -> bool:
    """Whether a value is part of another of its row, is tagged with it (``image:2.14.0``), or names the same host."""
    if one.row == other.row and other.fact.start <= one.fact.start and one.fact.end <= other.fact.end:
        return True
    if one.fact.text.endswith(f":{other.fact.text}"):
        return other.fact.kind is FactKind.version
    return {one.fact.kind, other.fact.kind} <= HOSTS and not is_plain(one) and _host(one) == _host(other)


def words_of(told: Told) -> frozenset[str]:
    """The subject of a value in a person's words: of its sentence, or of the one before where that has hardly any."""
    words = subject_of(told)
    return words if len(words) >= FEW else words | subject_words(told.lead)


def words_of_record(told: Told) -> frozenset[str]:
    """What a record says its value is of: the label, and the name in a version (``unbound-1.19``)."""
    name = form_of(told) if told.fact.kind is FactKind.version else ""
    return subject_words(f"{key_of(told) or ''} {name}")


def _same_noun(one: Told, other: Told) -> bool:
    return noun_of(one) == noun_of(other) != ""


def _is_name(told: Told) -> bool:
    return " " not in told.fact.text and told.fact.text.isascii()


def _series(told: Told) -> str:
    """The version without its last part (``2.14`` of ``v2.14.1``)."""
    return told.fact.text.lstrip("v").rpartition(".")[0]


def _host(told: Told) -> str:
    text = told.fact.text
    return (text.partition("://")[2] or text).partition("/")[0].partition(":")[0]
