"""Reading JSON that nobody checked: each question has an answer for every value."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from host.messages.types import JSON


def keyed(value: object) -> JSON:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def objects_in(value: object) -> list[JSON]:
    """The objects of a list; everything else in it, or instead of it, is left out."""
    return [entry for entry in listed(value) if isinstance(entry, dict)]


def text_under(row: JSON, *keys: str) -> str:
    """The first filled text under one of the keys, empty where there is none."""
    return next((value for key in keys if isinstance(value := row.get(key), str) and value), "")


def count_under(row: JSON, key: str) -> int:
    """The positive whole number under a key, 0 where there is none."""
    value = row.get(key)
    return value if isinstance(value, int) and value is not True and value > 0 else 0


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of an error about a wrong name: the nearest right one, or nothing."""
    near = get_close_matches(name, list(names), 1, 0.4)
    return f"; did you mean {near[0]!r}?" if near else ""
