"""What a value is said of: the words around it, the form it has, and the words that mark it as new, old or kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from host.messages.facts.change_words import BOUNDS, EXCHANGED, EXCHANGES, FROM, KEPT_WORDS, OLD_AFTER, OLD_BEFORE, STOP, TURN, UNITS
from host.messages.facts.fact import FactKind, Told
from host.messages.facts.topic_words import ASKED, CHANGE
from host.messages.facts.topics import stem

CLAUSE_END = re.compile(r"[;:；：。，、(（)）\n]|,(?=\s)|\s[–—-]\s|\.\s|\b(?:but|and|while|whereas)\b")
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
HEX = re.compile(r"0x[0-9A-Fa-f]+")
PLAIN = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+|\d+[.,]\d+)(?:e[+-]?\d+)?")
AMOUNT = re.compile(r"[+-]?[€$£¥]?\s?(?P<digits>\d(?:[\d.,' _]*\d)?(?:e[+-]?\d+)?)")
THOUSANDS = re.compile(r"[.,](?=\d{3}(?:\D|$))(?!\d{3}$(?<=^0.\d{3}))")
HEAD = re.compile(r"([a-z]{3,}|[A-Z]?[a-z]\w+) (?=[\w.]+$)")
ARROW = re.compile(r"->|→|=>")
RATE = re.compile(r"\s+(?:per|a|an|each|every|je|pro|par|por|al)\s.*|/\s?[a-z]+$")
WAS = re.compile(r"(?i)\b(?:was|were|earlier|previously|formerly)(?: (?:the|a|an|at|on|in))?\s[`\"']?$")
RATIO = re.compile(r"\d+:\d+")
MONEY_SIGNS = tuple("€$£¥")
SHORTEST_NOUN = 3
FACTORS: dict[str, float] = {
    unit: factor
    for factor, units in (
        (1e-3, "ms 毫秒 millisecond milliseconds"),
        (1.0, "s sec secs second seconds 秒 秒钟"),
        (60.0, "m min mins minute minutes 分 分钟 分間"),
        (3600.0, "h hr hrs hour hours 小时 時間"),
        (86400.0, "d day days 天 日 日間"),
        (604800.0, "week weeks 周 週間"),
        (2.592e6, "month months 个月 か月"),
        (3.15e7, "year years 年"),
        (1e3, "kB KB KiB Ki K k"),
        (1e6, "MB MiB Mi M"),
        (1e9, "GB GiB Gi G"),
        (1e12, "TB TiB Ti T"),
    )
    for unit in units.split()
}
"""What one of a unit is in the base unit of its dimension."""


def clause_of(told: Told) -> tuple[str, str]:
    """What the clause of a value says before and after it."""
    before, after = told.around[: told.at], told.around[told.at + len(told.fact.text) :]
    breaks = [match.end() for match in CLAUSE_END.finditer(before)]
    end = CLAUSE_END.search(after)
    return before[breaks[-1] if breaks else 0 :], after[: end.start() if end else len(after)]


def is_marked_old(told: Told) -> bool:
    """Whether the words beside a value say that it no longer holds."""
    if len(ARROW.findall(told.around)) > 1:  # states in a row
        return False
    before, after = told.around[max(0, told.at - 40) : told.at], told.around[told.at + len(told.fact.text) :][:40]
    if FROM.search(before) and CHANGE.search(told.around) and TO.match(after):
        return True
    if EXCHANGED.match(after) and EXCHANGES.search(before) and not ASKED.search(told.around):
        return True
    return OLD_BEFORE.search(before) is not None or OLD_AFTER.match(after) is not None


def is_kept(told: Told) -> bool:
    """Whether the clause of a value says that it stays as it was, or is of something else."""
    return any(KEPT_WORDS.search(part) for part in clause_of(told))


@lru_cache(maxsize=4096)
def form(kind: FactKind, text: str) -> str:
    """How a value looks: its unit, its parts of a date, its name; for other kinds its text with the numerals left out."""
    return FORMS.get(kind, _without_numerals)(text)


def is_plain(kind: FactKind, text: str) -> bool:
    """Whether a value is a number without a unit: a port, a setting."""
    return text.isdigit() or (kind is FactKind.quantity and PLAIN.fullmatch(text) is not None)


def counted_in(kind: FactKind, text: str) -> str:
    """The word for what a value is: "guests" of "80 guests", "menu" of "menu B"; empty where that is a unit, or there is none."""
    if kind is FactKind.id or kind is FactKind.version:
        head = HEAD.match(text)
        return head[1] if head else ""
    unit = _unit_sign(text) if kind is FactKind.quantity else ""
    return unit if len(unit) > SHORTEST_NOUN and not any(pattern.match(unit) for pattern, _ in UNITS) else ""


def amount(kind: FactKind, text: str, *, is_converted: bool = True) -> float | None:
    """The number of a quantity, of times in seconds and of sizes in bytes where it is converted; None for other kinds."""
    number = (
        None
        if RATIO.fullmatch(text) or HEX.fullmatch(text)
        else AMOUNT.match(text)
        if kind is FactKind.quantity or text.isdigit()
        else None
    )
    if number is None:
        return None
    digits = number["digits"].replace(" ", "").replace("'", "").replace("_", "")
    digits = THOUSANDS.sub("", digits).replace(",", ".")
    try:
        return float(digits) * (FACTORS.get(_unit_sign(text), 1.0) if is_converted else 1.0)
    except ValueError:
        return None


def _unit_sign(text: str) -> str:
    return RATE.sub("", AMOUNT.sub("", text, count=1)).strip()


def _unit(text: str) -> str:
    if RATIO.fullmatch(text) or HEX.fullmatch(text):
        return "hex" if text[1] == "x" else "ratio"
    if text.lstrip("+-")[:1] in MONEY_SIGNS:
        return "money"
    unit = _unit_sign(text)
    known = (name for pattern, name in UNITS if pattern.match(unit))
    return next(known, stem(unit) if len(unit) > SHORTEST_NOUN else unit)


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
    return NUMERALS.sub("0", _without_lead(label[1])).lower() if label else None


def _without_lead(label: str) -> str:
    """A label without the words before a name of code ("set it to MAX_LAG")."""
    name = label.rstrip().rpartition(" ")[2]
    return name if "_" in name else label


def bound_of(told: Told) -> str:
    """The word of a bound right before a value (``before``, ``at most``, ``不超过``), "until" as "by"; empty without one."""
    found = BOUNDS.search(told.around[max(0, told.at - 24) : told.at])
    word = found[0].strip().lower() if found else ""
    return "by" if word == "until" else word


def is_remembered(told: Told) -> bool:
    """Whether a value is only told as what once was ("it was 0.3 there"): old where another one stands beside it."""
    return WAS.search(told.around[max(0, told.at - 16) : told.at]) is not None


def noun_of(told: Told) -> str:
    """The word right before a value (``room B-204``, ``端口 8443``); empty where none stands there."""
    found = NOUN.search(told.around[max(0, told.at - 32) : told.at])
    return found[1].lower() if found and found[1].lower() not in STOP else ""


def turns(before: str, between: str) -> bool:
    """Whether the words between two values of one sentence lead from an old one to a new one."""
    if len(between) > 60 or ARROW.search(before):
        return False
    return TURN.search(between) is not None or (FROM.search(before) is not None and TO.match(between) is not None)
