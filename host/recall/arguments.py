"""Arguments as models send them: read leniently where the meaning is plain, refused by name where it is not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo

from host.engine.tools import json_type
from host.errors import UsageError
from host.messages.types import JSON
from host.recall.answers import Wrong
from host.store.moments import FORMS, moment_of

M = TypeVar("M", bound="Arguments")
NOT_GIVEN = frozenset({"", "null", "none", "undefined"})
"""Texts that a model writes where it means to give nothing."""

MEANT = {
    "pattern": "query",
    "text": "query",
    "q": "query",
    "search": "query",
    "keywords": "query",
    "max_results": "limit",
    "top_k": "limit",
    "count": "limit",
    "session": "scope",
    "session_id": "scope",
    "conversation": "scope",
    "from": "since",
    "after": "since",
    "start": "since",
    "to": "before",
    "end": "until",
    "last": "until",
    "id": "message",
    "ref": "message",
    "reference": "message",
    "node_id": "message",
    "position": "message",
    "open": "message",
    "page": "cursor",
    "next": "cursor",
    "offset": "cursor",
    "tokens": "max_tokens",
}
"""Names of other tools' arguments, and what they are called here."""

LONGEST_NAME = 40  # characters of an argument's name that are shown
UNPACKED = 2  # times that arguments may be wrapped in JSON text
Reader = Callable[[Any, ValidationInfo], Any]


class Arguments(BaseModel):
    """The arguments of one tool. ``example`` is a call as it should be."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    example: ClassVar[JSON] = {}

    @classmethod
    def schema_of_parameters(cls) -> JSON:
        """The JSON schema that a model is shown: flat, one type per argument."""
        fields = cls.model_fields.items()
        return {
            "type": "object",
            "properties": {
                name: {"type": json_type(field.annotation), "description": field.description, **_extra(field.json_schema_extra)}
                for name, field in fields
            },
            "required": [name for name, field in fields if field.is_required()],
        }

    @classmethod
    def right_form(cls, tool: str) -> JSON:
        """An example call, and every argument with its type."""
        forms = {
            name: f"{json_type(field.annotation)}{', required' if field.is_required() else ''}: {field.description}"
            for name, field in cls.model_fields.items()
        }
        return {"name": tool, "arguments": cls.example, "all_arguments": forms}


def read(model: type[M], arguments: object, notices: list[str], now: datetime) -> M:
    """The arguments as the model of a tool. ``notices`` gets a line for each that was changed; Wrong where one has no meaning."""
    given = {name: value for name, value in _object(arguments).items() if value is not None}
    try:
        return model.model_validate(given, context={"notices": notices, "now": now})
    except ValidationError as error:
        raise _wrong(error, model) from error


def text(value: Any, info: ValidationInfo) -> str:
    """A text that is not blank; a number is written out."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text that is not empty")
    return value


def one_of(choices: Sequence[str], synonyms: dict[str, str] | None = None) -> Reader:
    """One of these words, in any case."""

    def reader(value: Any, info: ValidationInfo) -> str:
        word = value.strip().lower() if isinstance(value, str) else ""
        word = (synonyms or {}).get(word, word)
        if word not in choices:
            near = nearest(word, choices)
            raise ValueError(f"one of {', '.join(choices)}{f'; did you mean {near}?' if near else ''}")
        return word

    return reader


def whole(first: int, last: int) -> Reader:
    """A whole number, also written as text; out of range it is moved to the nearest end, with a notice."""

    def reader(value: Any, info: ValidationInfo) -> int:
        number = _number(value)
        if number is None:
            raise ValueError(f"a whole number from {first} to {last:,}")
        kept = min(max(number, first), last)
        if kept != number and info.context is not None:
            info.context["notices"].append(f"{info.field_name} was set to {kept}: it may be {first} to {last:,}")
        return int(kept)

    return reader


def moment(value: Any, info: ValidationInfo) -> datetime:
    """A time or an age, in UTC: a cursor is bound to it."""
    try:
        if isinstance(value, str) and info.context is not None:
            return moment_of(value, info.context["now"]).astimezone(UTC)
    except (UsageError, OverflowError, ValueError, OSError):
        pass
    raise ValueError(FORMS)


def flag(value: Any, info: ValidationInfo) -> bool:
    """True or false, also as text or number."""
    told = value.strip().lower() if isinstance(value, str) else value
    if isinstance(told, str | int) and told in FLAGS:
        return FLAGS[told]
    raise ValueError("true or false")


FLAGS: dict[object, bool] = {True: True, False: False, "true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def optional(reader: Reader, default: Any = None) -> Reader:
    """The same, or the default where the value says that nothing is given."""

    def lenient(value: Any, info: ValidationInfo) -> Any:
        is_nothing = value is None or (isinstance(value, str) and value.strip().lower() in NOT_GIVEN)
        return default if is_nothing else reader(value, info)

    return lenient


def nearest(word: str, words: Sequence[str]) -> str | None:
    """The word that was probably meant, None where none is close."""
    close = get_close_matches(word.lower(), list(words), n=1, cutoff=0.6)
    return close[0] if close else None


def _object(arguments: object) -> JSON:
    value = arguments
    for _ in range(UNPACKED):
        if isinstance(value, str) and value.strip():
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                break
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise Wrong("arguments", arguments, "a JSON object with the arguments by name", "the arguments are no object")
    return {str(name): inner for name, inner in value.items()}


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value.strip())
        except ValueError:
            return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    is_whole = isinstance(value, float) and (math.isinf(value) or value.is_integer())
    return value if is_whole else None


def _wrong(error: ValidationError, model: type[Arguments]) -> Wrong:
    """The first thing that is wrong; a name that nobody knows comes first, since it explains one that is missing."""
    errors = sorted(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    first = errors[0]
    where = str(first["loc"][0])[:LONGEST_NAME] if first["loc"] else "arguments"
    if first["type"] == "extra_forbidden":
        names = list(model.model_fields)
        meant = MEANT.get(where.lower())
        near = meant if meant in names else nearest(where, names)
        expected = f"did you mean {near!r}? " if near else ""
        return Wrong(where, first["input"], f"{expected}The arguments are {', '.join(names)}", f"there is no argument {where!r}")
    if first["type"] == "missing":
        return Wrong(where, None, str(model.model_fields[where].description), f"the argument {where!r} is missing")
    return Wrong(where, first["input"], str(first["msg"]).removeprefix("Value error, "))


def _extra(extra: object) -> JSON:
    return extra if isinstance(extra, dict) else {}
