"""What an error says, in whatever wrapping: objects, lists, JSON within JSON, printed dicts, causes."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from host.provider.errors import ServiceError

MAX_DEPTH, MAX_NODES, MAX_CHARS, MAX_CAUSES = 12, 2_000, 20_000, 6
NAMES = frozenset({"code", "type", "status", "error_code", "name", "reason"})  # keys, folded, whose values name an error
NUMBERS = frozenset({"n_ctx", "n_prompt_tokens"})
ECHOES = frozenset({"input", "messages", "prompt", "request_id", "headers", "loc", "ctx"})  # of the request, not about it

Told = tuple[str, str]
"""The key that a text stood under, empty for none, and the text."""


def texts_of(error: object) -> tuple[int | None, frozenset[str], str]:
    """The HTTP status, the names, and all the words of an error; of any object, and it never raises."""
    told: list[Told] = []
    status: int | None = None
    for one in _causes(error):
        status = status if status is not None else _status_of(one)
        room = MAX_NODES - len(told)
        told += [entry for part in _parts(one) for entry in _told(part, max(room, 0))]
    codes = frozenset(text.casefold() for key, text in told if key in NAMES)
    words = dict.fromkeys(f"{key}: {text}" if key in NUMBERS else text for key, text in told if not (key in NAMES and text.isdigit()))
    return status, codes, "\n".join(words)[:MAX_CHARS]


def _told(part: object, room: int) -> list[Told]:
    """What a part says, as far as it can be read."""
    told: list[Told] = []
    with suppress(Exception):  # a body of somebody's own making that fails half-way has said what was read
        told.extend(islice(_walk(part, MAX_DEPTH), room))
    return told


def _causes(error: object) -> Iterator[object]:
    for _ in range(MAX_CAUSES):
        if error is None:
            return
        yield error
        error = _attribute(error, "__cause__")


def _parts(error: object) -> Iterator[object]:
    """Where errors keep what a service said. The text of our own holds advice, which is not the service's word."""
    if not isinstance(error, BaseException):
        yield error
        return
    yield from (_attribute(error, name) for name in ("body", "detail", "message", "code"))
    yield _attribute(_attribute(error, "response"), "text")
    if not isinstance(error, ServiceError):
        yield _printed(error)


def _status_of(error: object) -> int | None:
    found = (_attribute(error, "status_code"), _attribute(error, "status"), _attribute(_attribute(error, "response"), "status_code"))
    return next((each for each in found if isinstance(each, int) and not isinstance(each, bool)), None)


def _attribute(owner: object, name: str) -> Any:
    try:
        return getattr(owner, name, None)
    except Exception:  # noqa: BLE001  a property of somebody's error that fails says nothing
        return None


def _printed(error: object) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an error that cannot even be printed says nothing
        return ""


def _walk(value: object, depth: int, key: str = "") -> Iterator[Told]:
    if not depth:
        return
    if isinstance(value, bytes | bytearray):
        value = bytes(value[:MAX_CHARS]).decode("utf-8", "replace")
    if isinstance(value, Mapping):
        yield from _objection(value)
        for name, entry in value.items():
            folded = name.casefold() if isinstance(name, str) else ""
            if folded not in ECHOES:
                yield from _walk(entry, depth - 1, folded)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _walk(entry, depth - 1, key)
    elif isinstance(value, str):
        yield key, value[:MAX_CHARS]
        yield from _walk(_unwrapped(value[:MAX_CHARS]), depth - 1, key)
    elif key in NAMES | NUMBERS and type(value) is int:
        yield key, str(value) if abs(value) < 10**15 else ""


def _objection(value: Mapping[Any, Any]) -> Iterator[Told]:
    """The field that a validation error names, before what it says of it."""
    place, words = value.get("loc"), value.get("msg")
    if isinstance(place, list | tuple) and place and isinstance(place[-1], str) and isinstance(words, str):
        yield "", f"{place[-1]}: {words}"[:MAX_CHARS]


def _unwrapped(text: str) -> object:
    """The object that stands in a text, as JSON or as Python prints it; None where there is none."""
    starts = [at for at in (text.find("{"), text.find("[{")) if at >= 0]
    if not starts:
        return None
    start = min(starts)
    try:
        found: object = json.JSONDecoder().raw_decode(text, start)[0]
        return found
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text[start : max(text.rfind("}"), text.rfind("]")) + 1])
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
