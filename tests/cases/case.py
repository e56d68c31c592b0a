"""A case, and how a file of them is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIELDS: dict[str, type] = {"id": str, "kind": str, "issue": int, "input": dict, "expected": dict}


class BadFile(Exception):
    """The file holds no cases; the text says where and why."""


@dataclass(frozen=True)
class Case:
    """One case. ``issue`` is the issue that makes it pass."""

    id: str
    kind: str
    issue: int
    input: Mapping[str, Any]
    expected: Mapping[str, Any]


def read_cases(path: Path) -> list[Case]:
    """The cases of a JSON-lines file in their order; BadFile with file and line where it holds something else."""
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from error
    return [_case(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _case(line: bytes, place: str) -> Case:
    try:
        told = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{place}: this is no JSON: {error}") from error
    if not isinstance(told, dict):
        raise BadFile(f"{place}: a case is an object, this is {type(told).__name__}")
    for key, kind in FIELDS.items():
        if not isinstance(told.get(key), kind) or isinstance(told[key], bool):
            raise BadFile(f"{place}: a case needs `{key}`, and it has to be {kind.__name__}")
    try:
        return Case(**{key: expand(told[key]) for key in FIELDS})
    except (TypeError, ValueError) as error:
        raise BadFile(f"{place}: a short form cannot be written out: {error}") from error


def _repeat(unit: Any, times: int) -> Any:
    return unit * times


def _concat(*pieces: str) -> str:
    return "".join(pieces)


def _join(separator: str, pieces: list[str]) -> str:
    return separator.join(pieces)


def _range(prefix: str, times: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(times)]


SHORT_FORMS: dict[str, Callable[..., Any]] = {"$repeat": _repeat, "$concat": _concat, "$join": _join, "$range": _range}
"""An object with one of these as its only key stands for what the function makes of the list under it."""


def expand(value: Any) -> Any:
    """The value with all short forms written out, from the inside."""
    if isinstance(value, list):
        return [expand(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    written = {key: expand(entry) for key, entry in value.items()}
    form = SHORT_FORMS.get(next(iter(written), "")) if len(written) == 1 else None
    return form(*next(iter(written.values()))) if form else written
