"""Whether one value could be of the same thing as another by what both are: their kinds, units and forms."""

from __future__ import annotations

import re

from host.messages.facts.fact import FactKind
from host.messages.facts.rule_shape import are_apart
from host.messages.facts.said import Said
from host.messages.facts.said_words import PERMITS

FREE = frozenset({FactKind.url, FactKind.address, FactKind.path, FactKind.version, FactKind.email, FactKind.id})
"""Kinds whose values may look quite different and still be of one subject."""

MEASURED = frozenset({FactKind.quantity, FactKind.version})
"""Kinds that are measured again: an id or a date under the same label is one more of its list."""

NAMES = frozenset({FactKind.id, FactKind.quoted})
"""Kinds of names that are alike where they are built alike."""

HOSTS = frozenset({FactKind.url, FactKind.address})

DAY_OR_MOMENT = frozenset({"day", "dayclock"})

LABELS_OF_HOST = 3

ON_HOST = re.compile(r"[\w-]+(?:\.[\w-]+){2,}(?::\d+)?/")
"""The host that an image or a repository begins with."""

FEW = 2
"""Subject words of a clause that make of it one of its own beside a rule."""

MINE = re.compile(r"(?i)\b(?:my|mine|our|ours)\b|我")
THEIRS = re.compile(r"(?i)\b(?:his|her|their)\b|[他她]们?的")
FILE = re.compile(r"[^/]+\.\w+$")
"""The name of a file, at the end of its path."""

CLOCK_HOUR = re.compile(r"\d{1,2}(?=[:h.]\d\d)")

HALF_ALIKE = 0.25
"""Share of the pairs of letters from which one text is another wording of an older one."""

FAR = 20.0
"""Times by which a number without unit may differ from the quantity that it is a new one of."""


def kinds_alike(said: Said) -> tuple[str, ...]:
    """The kinds in which a value can have its like: its own (URLs and addresses are one), and that of plain numbers."""
    kind: str = "host" if said.kind in HOSTS else said.kind
    if said.kind is FactKind.path and ON_HOST.match(said.text):
        return kind, "host"
    return (kind, "plain") if said.is_plain else (kind,)


def are_comparable(one: Said, other: Said) -> bool:
    """Whether a value could take an older one's place at all: alike in kind and unit."""
    if one.text == other.text or other.is_counter or one.is_of_birth is not other.is_of_birth:
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
    return mine == theirs or one.kind in FREE or one.noun == other.noun != ""


def are_of_one_form(one: Said, other: Said) -> bool:
    """Whether two comparable values are written alike: of one unit, of one shape, or both texts of a kind that has no shape."""
    if one.is_plain and other.is_plain:
        return True
    if one.kind in (FactKind.quantity, FactKind.date) or one.is_plain or other.is_plain:
        return one.form == other.form or {one.form, other.form} == DAY_OR_MOMENT
    if one.kind is FactKind.version:
        return one.form == other.form or not (one.form and other.form)
    return one.kind not in NAMES or signs_of(one.text) == signs_of(other.text)


def signs_of(text: str) -> frozenset[str]:
    """The signs that a name is built with, and whether it has numerals: "gpu-03" and "gpu-05" are alike, "A-3" and "Aula" are not."""
    return frozenset("0" if sign.isdigit() else sign for sign in text if not sign.isalpha())


def closeness(one: Said, other: Said) -> float:
    """How near two numbers are, 0 to 1: the smaller as a share of the larger; 1 where one is none."""
    mine, theirs = (one.number, other.number) if one.is_plain or other.is_plain else (one.amount, other.amount)
    if mine is None or theirs is None:
        return 1.0
    low, high = sorted((abs(mine), abs(theirs)))
    return low / high if high else 1.0


def likeness(one: Said, other: Said) -> float:
    """How much two texts look like one another, 0 to 1."""
    if one.kind is FactKind.version and one.series == other.series != "":
        return 1.0
    if one.text.startswith(other.text):
        return 0.0 if one.text[len(other.text)] == "/" else 1.0
    if one.kind is FactKind.quoted and not one.is_name:
        return 1.0 if _share_of_pairs(one.text, other.text) >= HALF_ALIKE else 0.0
    if one.form == other.form and any(map(str.isdigit, one.text)) and any(map(str.isalpha, one.text)):
        return 1.0
    if one.kind is FactKind.id:
        return 0.5 if _letters_before(one.text) == _letters_before(other.text) else 0.0
    return 0.5 if one.form and one.form[:4] == other.form[:4] else 0.0


def _letters_before(text: str) -> str:
    if not text[:1].isalnum():
        return text[:1]
    return text[: next((place for place, sign in enumerate(text) if sign.isdigit()), len(text))]


def _share_of_pairs(mine: str, theirs: str) -> float:
    pairs = [{text[place : place + 2] for place in range(len(text) - 1)} for text in (mine, theirs)]
    return len(pairs[0] & pairs[1]) / max(1, min(map(len, pairs)))


def are_of_two(one: Said, other: Said) -> bool:
    """Whether a rule or a bound keeps two values apart: one is forbidden, or their clauses name two things.

    A newer clause that is no rule and has hardly any subject ("make it 60") may still be of a rule's value.
    """
    if one.is_forbidden or other.is_forbidden:
        return True
    if one.bound != other.bound and ((one.is_ruled and other.is_ruled) or (one.bound and other.bound)):
        return True
    is_bound_to_its_own = (one.is_ruled and other.is_ruled) or (other.is_ruled and one.clause_subject.weight >= FEW)
    return is_bound_to_its_own and (_name_two(one.beside, other.beside) or are_apart(one.clause_subject, other.clause_subject))


def _name_two(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def go_together(one: Said, other: Said) -> bool:
    """Whether a value is part of another of its row, is tagged with it (``image:2.14.0``), or names the same host."""
    mine, theirs = one.told.fact, other.told.fact
    if one.row == other.row and theirs.start <= mine.start and mine.end <= theirs.end:
        return True
    if one.text.endswith(f":{other.text}"):
        return other.kind is FactKind.version
    return {one.kind, other.kind} <= HOSTS and not one.is_plain and one.host == other.host


def are_hosts_alike(one: Said, other: Said) -> bool:
    """Whether two hosts are named alike but for one part (``harbor1.example.com``, ``harbor2.example.com``)."""
    mine, theirs = one.host.split("."), other.host.split(".")
    if len(mine) != len(theirs) or len(mine) < LABELS_OF_HOST or mine[-1].isdigit():
        return False
    apart = [(left, right) for left, right in zip(mine, theirs, strict=True) if left != right]
    return len(apart) == 1 and (apart[0][0].rstrip("0123456789") == apart[0][1].rstrip("0123456789") or set(apart[0]) <= {"old", "new"})


def are_of_one_file(one: Said, other: Said) -> bool:
    """Whether two paths end in the same name of a file."""
    mine, theirs = FILE.search(one.text), FILE.search(other.text)
    return one.kind is other.kind is FactKind.path and mine is not None and theirs is not None and mine[0] == theirs[0]


def ties(said: Said) -> tuple[int | str, ...]:
    """By what a value can go with another (``go_together``): its row, the tag at its end, its host."""
    tag = (f":{said.text.rpartition(':')[2]}",) if ":" in said.text else ()
    return (said.row, *tag, f"//{said.host}") if said.kind in HOSTS else (said.row, *tag)


def ties_sought(said: Said) -> tuple[int | str, ...]:
    """The ties by which others can go with a value: those of its row, those tagged with a version, those of its host."""
    if said.kind in HOSTS:
        return said.row, f"//{said.host}"
    return (said.row, f":{said.text}") if said.kind is FactKind.version else (said.row,)


def is_spoken(other: Said, numbers: frozenset[float]) -> bool:
    """Whether a value is one of the numbers that stand in words: 40, or 17:00 for "five"."""
    if other.form == "clock":
        hour = CLOCK_HOUR.match(other.text)
        return hour is not None and any(int(hour[0]) % 12 == number % 12 for number in numbers)
    return other.number in numbers


def are_of_two_items(one: Said, other: Said) -> bool:
    """Whether two clauses tell by a number which of a kind they are of ("mic 1", "mic 2")."""
    return any(other.items.get(word, number) != number for word, number in one.items.items())


def are_of_two_people(one: Said, other: Said) -> bool:
    """Whether one is the speaker's own and the other somebody else's ("my flight", "his flight")."""
    return any(MINE.search(mine.clause) and THEIRS.search(theirs.clause) for mine, theirs in ((one, other), (other, one)))


def is_permitted(said: Said) -> bool:
    """Whether the user lets something go as far as a value ("you can go up to 8 threads")."""
    return said.role == "user" and PERMITS.search(said.around[: said.told.at]) is not None


def is_as_asked(one: Said, other: Said) -> bool:
    """Whether the newer number is lower or higher, as its words ask."""
    if not one.trend or one.amount is None or other.amount is None or one.is_plain != other.is_plain:
        return True
    return (one.amount - other.amount) * one.trend > 0
