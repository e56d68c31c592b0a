"""What a model copies when it names a message: the id is found in whatever stands around it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

LONGEST = 2_000  # characters that are looked at: what is copied along may be long, the id stands near the beginning

PLACE = re.compile(
    r"""(?x)
    (?<![\w.-]) (?P<id>[A-Za-z0-9][A-Za-z0-9._-]{2,}) (?: : | \# | %3[Aa] | (?P<gap>:\s) ) (?P<first>\d+)      # ID:12
    (?: \s* (?:-|–|\.\.+|\s+to\s+) \s* (?:(?P=id):)? (?P<until>\d+) )?         # ID:12-20, ID:12..ID:20
    (?! \w | :\d )
    """
)
MORE = re.compile(
    r"""(?x)
    \s* (?: (?:-|–|\.\.+) \s* \Z                                           # ID:12-
    | \.\d+                                                                # ID:1.5
    | (?:,|;|&|\+|and\b|or\b) \s* (?:[A-Za-z0-9][A-Za-z0-9._-]{2,}:)? \d+ (?![\w,.]) )   # ID:12,15 and ID:12 and ID:15
    """
)
LONGEST_MORE = 40  # characters
NUMBER = re.compile(r"#?(\d+)(?:\s*(?:-|–|\.\.+)\s*(\d+))?")
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
WRAPPED = re.compile(r"""^[\s"'`“”‘’«»<>\[\](){}【】*#@]+|[\s"'`“”‘’«»<>\[\](){}【】*.,;:!?。，；：]+$""")
LABEL = re.compile(r":\s|=|：|\s?:(?=[^\d\s/])")
NO_ID = re.compile(r"(?i)\d[\d.,]*(?:[kmgt]?i?b|bytes?|tokens?|chars?|lines?|ms|s|m|h|d|w)?|\d{4}-\d\d-\d\d(?:t[\d.]*)?|v?\d+(?:\.\d+)+")
"""Sizes, numbers, dates and versions, which stand beside an id."""

CARRIERS = ("message", "open", "id", "reference", "ref", "hit", "cursor")
"""Keys of an object that hold the reference, the best first."""


@dataclass(frozen=True)
class Reference:
    """A message, or the messages from ``first`` to ``until``, of the session ``id``; either may be left open.

    ``more`` is what stands behind it and seems to name others.
    """

    id: str | None
    first: int | None = None
    until: int | None = None
    more: str = ""


def reference_in(value: object) -> Reference | None:
    """What a value refers to, however it is decorated; None where there is no id in it."""
    text = _told(value)
    if text is None:
        return None
    text = text[:LONGEST]
    if found := next((each for each in PLACE.finditer(text) if not each["gap"] or _looks_like_id(each["id"])), None):
        more = MORE.match(text.rstrip("\"'`)]}>*_ \n"), found.end())
        until = int(found["until"]) if found["until"] else None
        return Reference(found["id"], int(found["first"]), until, more[0].strip()[:LONGEST_MORE] if more else "")
    if found := NUMBER.fullmatch(_bare(text)):
        return Reference(None, int(found[1]), int(found[2]) if found[2] else None)
    name = id_in(text)
    return Reference(name) if name else None


def id_in(text: str) -> str:
    """The id in a text that a model copied: ``[LCM Tool Output: file_123 | 40KB]`` holds ``file_123``.

    Quotes, brackets, labels, sizes and punctuation are taken away. Where no word looks like an id it is the text itself without
    what wraps it, which may be a title; empty where nothing is left.
    """
    bare = _bare(text[:LONGEST])
    if WORD.fullmatch(bare):
        return bare
    head = bare.partition("|")[0]
    behind_label = LABEL.split(head)[-1]
    for part in (behind_label, head, bare):
        words: list[str] = [found[0].rstrip(".-_") for found in WORD.finditer(part)]
        if likely := [word for word in words if _looks_like_id(word)]:
            return likely[0]
    return _bare(behind_label) if "|" in bare else bare


def _told(value: object) -> str | None:
    """The text in which a reference is to be looked for: objects and lists are looked into for the part that holds it."""
    if isinstance(value, str):
        unpacked = _unpacked(value)
        return value if unpacked is None else _told(unpacked)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and len(value) == 1:
        return _told(value[0])
    if isinstance(value, dict):
        return next((_told(value[key]) for key in CARRIERS if value.get(key)), None)
    return None


def _unpacked(text: str) -> object:
    """An object or list that was copied as JSON text."""
    if not text.lstrip().startswith(("{", "[{", '["', '"')):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list | str) and found != text else None


def _bare(text: str) -> str:
    """The text without what wraps it."""
    before = None
    while before != text:
        before, text = text, WRAPPED.sub("", text)
    return text


def _looks_like_id(word: str) -> bool:
    """Letters and digits, or words that an underscore joins; no size, date or version."""
    has_digit, has_letter = any(map(str.isdigit, word)), any(map(str.isalpha, word))
    return not NO_ID.fullmatch(word) and ("_" in word or (has_letter and has_digit))
