"""The first pass: tokens that are more than a word, and what of them is a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import KEY_ENDS, Found, Lines
from host.messages.facts.shapes import CELL, DASHED, HANDLE, IMAGE, NAME, NO_ID, PACKAGE, kind_of

LONGEST = 256
"""Characters of a token that is looked into; a longer one is a URL or data."""

LONGEST_URL = 2048
SHORTEST_NAME = 3  # "e.g" and "i.e" are none

BODY = r"[A-Za-z0-9_./:@%+~#=&?${}*^\\-]"
TOKEN = re.compile(rf"(?<![A-Za-z])[A-Za-z]*+(?:[0-9_~$#]|[./:@+=\\-](?=[A-Za-z0-9_/~{{]))(?:{BODY})*+")
URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://")
TRIMMED_START, TRIMMED_END = ":=?&\\*%+}-", ".:=?&-\\*~^{$@#+"
ASSIGNED = re.compile(r"[A-Za-z_][\w.-]+=(?=[^=]{2})[^=]*\d[^=]*|[A-Za-z]\w*[_.-][\w.-]*=[\w./:-]+")
"""A name with what it is set to: a number, or any word where the name is one of code."""
MIXED = re.compile(
    r"(?=[^\d]*\d)(?:[a-z]{2,20}\d{1,6}[a-z]{1,20}\d{0,4}|(?=.{6,})[A-Za-z]{1,12}(?:\d+[A-Za-z]+){1,9}\d*|(?=.{5,})(?:\d+[A-Za-z]+){2,9}\d*)"
)
"""Letters and digits of any mix, but a number with its unit."""
MEMBER = re.compile(r"[a-z]\.([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$")
PINS = frozenset("=@~>^")
"""What stands between a package and its version."""
BEFORE_TAG = frozenset({"", " ", "\n", "(", "　", "，", "、"})
"""What stands before the name of a person or channel."""
BEFORE_LINE = frozenset({"", "\n"})
FIRST_HAN = "\u2e80"
NO_VALUE_BEFORE = ("(", ": ", ":\n")
"""What follows the name of a function, or of a field or speaker."""


LOOKBACK = 24
"""Characters before a dashed word that may say what it is the name of."""

SET_OFF = str.maketrans(dict.fromkeys(":=\"'`", " "))
# fmt: off
NAMED_WORDS = (
    "branch bucket repo repository host server service cluster namespace queue topic ssid wifi network container pod image project "
    "package plugin skill job task table index theme profile account group team tag environment env machine box database volume device "
    "printer folder role named called id key slug label "
    "restart stop start run deploy delete disable enable pause resume rename kill trigger reschedule redeploy rerun"
)
NAMED = frozenset(NAMED_WORDS.split())
"""Words before a dashed word that say what it is the name of."""
COPULAS = frozenset({"is", "are", "name", "now"})
COMMON_WORDS = (
    "a an and at by for from if in into is it of off on or out the then to up with as all no not non self pre post co re so well ill high "
    "low long short full half multi single double triple open read write real end third cross over under semi anti ever never always once "
    "one two three four five six seven eight nine ten first second last day week month year hour minute old new only free based wide like "
    "proof side level time line term class hand made run back down follow built check user drop pull click human machine "
    "aware per cent off hard soft fast slow cold hot hit opt mother father son self sub super step inter intra mid"
)
COMMON = frozenset(COMMON_WORDS.split())
# fmt: on
"""Parts of dashed words that are no names."""


class Reading(NamedTuple):
    """A part of a token that can be a value; a weak one needs prose around it, or the place of a value in a record."""

    kind: FactKind
    start: int
    end: int
    is_weak: bool = False


def in_tokens(text: str, lines: Lines) -> Iterator[Found]:
    """The values among the tokens of a text, rising."""
    dashed: list[re.Match[str]] = []
    has_keys = any(map(text.__contains__, KEY_ENDS))
    for match in TOKEN.finditer(text):
        token = match[0]
        if token.isdigit():
            continue
        if "-" in token and token[-1].isalnum():
            dashed.append(match)
        for kind, start, end, is_weak in readings(token) if len(token) <= LONGEST else _of_long(token):
            first, last = match.start() + start, match.start() + end
            if not (has_keys and text.startswith(KEY_ENDS, last)) and (not is_weak or _is_meant(text, first, last, lines)):
                yield kind, first, last
    yield from _named(text, dashed, lines)


def _named(text: str, dashed: list[re.Match[str]], lines: Lines) -> Iterator[Found]:
    """Dashed words that are names: of three parts, of one family ("heron-attic" beside "heron-2"), or behind what they name."""
    firsts = Counter(name.partition("-")[0] for name in {match[0] for match in dashed})
    for match in dashed:
        (start, end), parts = match.span(), match[0].split("-")
        if not COMMON.isdisjoint(parts) or not DASHED.fullmatch(match[0]):
            continue
        is_name = len(parts) > 2 or (firsts[parts[0]] > 1 and len(parts[0]) > SHORTEST_NAME)
        if _is_among_han(text, start, end) or _is_named(text, start, end) or (is_name and lines.is_prose(start)):
            yield FactKind.quoted, start, end


def _is_among_han(text: str, start: int, end: int) -> bool:
    """Whether a dashed word stands in a sentence of Chinese or Japanese, where it is a name."""
    before, after = text[max(0, start - 2) : start].strip(" `"), text[end : end + 2].strip(" `")
    return before[-1:] >= FIRST_HAN or after[:1] >= FIRST_HAN


def _is_named(text: str, start: int, end: int) -> bool:
    """Whether a dashed word stands behind or before a word that says what it is the name of."""
    after, before = text[end : end + LOOKBACK], text[max(0, start - LOOKBACK) : start]
    if after.startswith(" ") and (following := after.split()) and following[0].rstrip(".,;:!?") in NAMED:
        return True
    words = before.lower().translate(SET_OFF).split()
    return bool(words) and (words[-1] in NAMED or (len(words) > 1 and words[-1] in COPULAS and words[-2] in NAMED))


def _of_long(token: str) -> tuple[Reading, ...]:
    return (Reading(FactKind.url, 0, len(token)),) if len(token) <= LONGEST_URL and URL.match(token) else ()


@lru_cache(maxsize=4096)
def readings(token: str) -> tuple[Reading, ...]:
    """What a token can be read as, without the punctuation at its ends."""
    bare = token.rstrip(TRIMMED_END)
    start = len(bare) - len(bare.lstrip(TRIMMED_START))
    return tuple(_read(bare[start:], start))


def _read(token: str, start: int) -> Iterator[Reading]:
    end = start + len(token)
    if len(token) < 2 or token.isdigit():
        return
    if not PINS.isdisjoint(token) and (pinned := PACKAGE.fullmatch(token)):
        yield Reading(FactKind.version, start + pinned.start(1), end)
    elif "=" in token and "://" not in token:
        yield from _assigned(token, start)
    elif (kind := kind_of(token)) in (FactKind.path, None) and ":" in token and IMAGE.fullmatch(token) and not token[0].isdigit():
        yield from _tagged(token, start)
    elif kind:
        yield Reading(kind, start, end)
    elif (HANDLE.fullmatch(token) or CELL.fullmatch(token) or MIXED.fullmatch(token)) and not NO_ID.fullmatch(token):
        yield Reading(FactKind.id, start, end, is_weak=True)
    elif member := MEMBER.search(token):
        yield Reading(FactKind.env, start + member.start(1), end)
    elif len(token) > SHORTEST_NAME and "-" not in token and ("_" in token or "." in token) and NAME.fullmatch(token):
        yield Reading(FactKind.quoted, start, end, is_weak=True)


def _assigned(token: str, start: int) -> Iterator[Reading]:
    """``NAME=value``: a variable is a value itself and makes any name that it is set to one."""
    name, _, value = token.partition("=")
    behind = start + len(name) + 1
    if ASSIGNED.fullmatch(token):
        yield Reading(FactKind.quoted, start, start + len(token))
    if name.isupper() and "_" in name:
        yield Reading(FactKind.env, start, start + len(name))
        if NAME.fullmatch(value):
            yield Reading(FactKind.quoted, behind, behind + len(value))
    if "=" not in value:
        yield from _read(value, behind)


def _tagged(token: str, start: int) -> Iterator[Reading]:
    """``image:tag``: a reference whose tag may be a version."""
    yield Reading(FactKind.path, start, start + len(token))
    tag = token.rpartition(":")[2]
    if kind_of(tag) is FactKind.version:
        yield Reading(FactKind.version, start + len(token) - len(tag), start + len(token))


def _is_meant(text: str, start: int, end: int, lines: Lines) -> bool:
    """Whether a plain compound name is meant as itself: in prose, or as the value of a field."""
    if text.startswith('"', end) and text.startswith('"', start - 1) and start:
        return True
    if text.startswith("{", start - 1) and start and text.startswith(("}", ","), end):
        return True
    if text[start] in "#@" and (
        (text[start - 1 : start] not in BEFORE_TAG and text[start - 1] < FIRST_HAN) or text.startswith("* ", start - 2)
    ):
        return False
    is_line = text[start] == "#" and text[start - 1 : start] in BEFORE_LINE
    return not text.startswith(NO_VALUE_BEFORE, end) and (is_line or lines.is_prose(start))
