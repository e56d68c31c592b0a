"""Whether one value is said of the same thing as another, pair by pair."""

from __future__ import annotations

from host.messages.facts.fact import FactKind
from host.messages.facts.rule_shape import are_apart
from host.messages.facts.said import FEW, Said
from host.messages.facts.subjects import turns

MEASURED = frozenset({FactKind.quantity, FactKind.version})
"""Kinds that are measured again: an id or a date under the same label is one more of its list."""

FREE = frozenset({FactKind.url, FactKind.address, FactKind.path, FactKind.version, FactKind.email})
"""Kinds whose values may look quite different and still be of one subject."""

HOSTS = frozenset({FactKind.url, FactKind.address})

DAY_OR_MOMENT = frozenset({"day", "dayclock"})


def kinds_alike(said: Said) -> tuple[str, ...]:
    """The kinds in which a value can have its like: its own (URLs and addresses are one), and that of plain numbers."""
    kind: str = "host" if said.kind in HOSTS else said.kind
    return (kind, "plain") if said.is_plain else (kind,)


def are_comparable(one: Said, other: Said) -> bool:
    """Whether a value could take an older one's place at all: alike in kind and unit, and not beside it in another sentence."""
    if one.text == other.text or (one.row == other.row and (one.around != other.around or other.told.at > one.told.at)):
        return False
    if one.kind is not other.kind:
        return not set(kinds_alike(one)).isdisjoint(kinds_alike(other))
    mine, theirs = one.form, other.form
    if one.kind is FactKind.address:
        return mine[:1].isdigit() == theirs[:1].isdigit()
    if one.kind in (FactKind.quantity, FactKind.date):
        return mine == theirs or one.is_plain or other.is_plain or {mine, theirs} == DAY_OR_MOMENT
    if one.kind is FactKind.quoted:
        return one.is_name == other.is_name
    return mine == theirs or one.kind in FREE or _same_noun(one, other)


def are_of_two(one: Said, other: Said) -> bool:
    """Whether a rule keeps two values apart: one is forbidden, or their clauses name two things.

    A newer clause that is no rule and has hardly any subject ("make it 60") may still be of a rule's value.
    """
    if one.is_forbidden or other.is_forbidden:
        return True
    if one.is_ruled and other.is_ruled and one.bound != other.bound:
        return True
    is_bound_to_its_own = one.is_ruled or (other.is_ruled and one.clause_subject.weight >= FEW)
    return is_bound_to_its_own and (_name_two(one.beside, other.beside) or are_apart(one.clause_subject, other.clause_subject))


def _name_two(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def likeness(one: Said, other: Said) -> float:
    """How much two values look like one another, 0 to 1; plain numbers all look alike, which says nothing."""
    if _same_noun(one, other):
        return 0.75
    mine, theirs = one.form, other.form
    if one.kind is FactKind.version and one.series == other.series != "":
        return 1.0
    if one.kind in (FactKind.quantity, FactKind.date):
        return 0.25 if mine and (mine == theirs or one.kind is FactKind.date) else 0.0
    if one.text.startswith(other.text) or other.text.startswith(one.text):
        return 1.0
    if (one.kind is FactKind.quoted and not one.is_name) or one.kind is FactKind.email:
        return 0.25
    return 0.5 if mine and mine[:4] == theirs[:4] else 0.0


def turns_into(other: Said, one: Said) -> bool:
    """Whether a sentence that holds both leads from the older value to the newer ("from 5 to 8", "X 改成 Y")."""
    end = other.told.at + len(other.text)
    return one.is_new and turns(one.around[: other.told.at], one.around[end : one.told.at])


def have_same_bound(one: Said, other: Said) -> bool:
    """Whether both stand behind the same word of a bound, the newer in the user's words ("before 19:00", "before 20:00")."""
    return one.role == "user" and one.bound == other.bound != "" and one.form == other.form


def may_say_the_same(one: Said, other: Said) -> bool:
    """Whether it is worth to look closer at two values of which the newer is not said as changed; most are told apart by this."""
    if one.around == other.around:
        return True
    return one.form == other.form and (one.is_new_in_itself or one.words_before == other.words_before or one.bound == other.bound != "")


def say_the_same(one: Said, other: Said) -> bool:
    """Whether two values fill the same gap in what is said: "p95 is 244 ms" after "p95 is 5,440 ms"."""
    if one.form != other.form:
        return False
    if one.is_new_in_itself and len(one.subject & other.subject) >= FEW:
        return True
    is_measured = one.kind in MEASURED and one.form != ""
    return one.role == other.role and (is_measured or one.role == "user") and one.words_before == other.words_before != frozenset()


def go_together(one: Said, other: Said) -> bool:
    """Whether a value is part of another of its row, is tagged with it (``image:2.14.0``), or names the same host."""
    mine, theirs = one.told.fact, other.told.fact
    if one.row == other.row and theirs.start <= mine.start and mine.end <= theirs.end:
        return True
    if one.text.endswith(f":{other.text}"):
        return other.kind is FactKind.version
    return {one.kind, other.kind} <= HOSTS and not one.is_plain and one.host == other.host


def ties(said: Said) -> tuple[int | str, ...]:
    """By what a value can go with another (``go_together``): its row, the tag at its end, its host."""
    tag = (f":{said.text.rpartition(':')[2]}",) if ":" in said.text else ()
    return (said.row, *tag, f"//{said.host}") if said.kind in HOSTS else (said.row, *tag)


def ties_sought(said: Said) -> tuple[int | str, ...]:
    """The ties by which others can go with a value: those of its row, those tagged with a version, those of its host."""
    if said.kind in HOSTS:
        return said.row, f"//{said.host}"
    return (said.row, f":{said.text}") if said.kind is FactKind.version else (said.row,)


def _same_noun(one: Said, other: Said) -> bool:
    return one.noun == other.noun != ""
