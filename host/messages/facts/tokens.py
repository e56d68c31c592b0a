"""The first pass: tokens that are more than a word, and what of them is a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from host.messages.facts.fact import FactKind
from host.messages.facts.lines import Found, Lines
from host.messages.facts.shapes import IMAGE, NAME, PACKAGE, kind_of

LONGEST = 256
"""Characters of a token that is looked into; a longer one is a URL or data."""

LONGEST_URL = 2048
SHORTEST_NAME = 3  # "e.g" and "i.e" are none

BODY = r"[A-Za-z0-9_./:@%+~#=&?${}*^\\-]"
TOKEN = re.compile(rf"(?<![A-Za-z])[A-Za-z]*+(?:[0-9_~$#]|[./:@+=\\-](?=[A-Za-z0-9_/~{{]))(?:{BODY})*+")
URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://")
TRIMMED_START, TRIMMED_END = ":=?&\\*%+}-", ".:=?&-\\*~^{$@#+"
MEMBER = re.compile(r"[a-z]\.([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$")
PINS = frozenset("=@~>^")
"""What stands between a package and its version."""
KEY_ENDS = ('":', "':", '" :', '\\":')
"""What follows the name of a field: its value may be a fact, its name is none."""


class Reading(NamedTuple):
    """A part of a token that can be a value; a weak one needs prose around it, or the place of a value in a record."""

    kind: FactKind
    start: int
    end: int
    is_weak: bool = False


def in_tokens(text: str, lines: Lines) -> Iterator[Found]:
    """The values among the tokens of a text, rising."""
    for match in TOKEN.finditer(text):
        token = match[0]
        if token.isdigit():
            continue
        for kind, start, end, is_weak in readings(token) if len(token) <= LONGEST else _of_long(token):
            first, last = match.start() + start, match.start() + end
            if not text.startswith(KEY_ENDS, last) and (not is_weak or _is_meant(text, first, last, lines)):
                yield kind, first, last


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
    elif member := MEMBER.search(token):
        yield Reading(FactKind.env, start + member.start(1), end)
    elif len(token) > SHORTEST_NAME and "-" not in token and ("_" in token or "." in token) and NAME.fullmatch(token):
        yield Reading(FactKind.quoted, start, end, is_weak=True)


def _assigned(token: str, start: int) -> Iterator[Reading]:
    """``NAME=value``: a variable is a value itself and makes any name that it is set to one."""
    name, _, value = token.partition("=")
    behind = start + len(name) + 1
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
    return not text.startswith("(", end) and lines.is_prose(start)
