"""From a tree to a model: everything that has no meaning is named at its place, all of it at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from host.config.fields import FieldRow, field_at, fields_of, nearest_key, nearest_of
from host.config.kinds import OWN_WORDS
from host.config.layers import Layer, Origin
from host.config.reading import KeyPath, dotted, shortened
from host.errors import Problem

M = TypeVar("M", bound=BaseModel)

OWN_MESSAGE = {OWN_WORDS, "value_error", "assertion_error"}
"""Errors whose message was written by a validator: it is passed on."""


def validated(model: type[M], layer: Layer, tree: Any, prefix: KeyPath = ()) -> M | list[Problem]:
    """The model, or what is wrong; ``prefix`` is where the tree hangs in the configuration."""
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        fields = fields_of(model)
        found = [_problem(dict(each), tree, layer, fields, prefix) for each in error.errors(include_url=False)]
        return [problem for _, problem in sorted(found, key=lambda pair: (pair[0].source, pair[0].line, pair[0].column))]


def unknown_key(path: KeyPath, where: str, fields: Mapping[str, FieldRow], prefix: KeyPath = ()) -> Problem:
    """A key that nobody reads, with the one that was probably meant."""
    near = nearest_key(path, fields)
    return Problem(where, dotted((*prefix, *path)), "unknown key", dotted((*prefix, near)) if near else None)


def found_value(value: object) -> str:
    """A value as an error names it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return shortened(value)
    if isinstance(value, str):
        return f"text {shortened(value)}"
    return "a mapping" if isinstance(value, dict) else "a list"


def _problem(error: dict[str, Any], tree: Any, layer: Layer, fields: Mapping[str, FieldRow], prefix: KeyPath) -> tuple[Origin, Problem]:
    path = _written_part(error["loc"], tree)
    origin = layer.origin((*prefix, *path))
    return origin, _named(error, path, origin.where, fields, prefix)


def _named(error: dict[str, Any], path: KeyPath, where: str, fields: Mapping[str, FieldRow], prefix: KeyPath) -> Problem:
    if error["type"] == "extra_forbidden":
        return unknown_key(path, where, fields, prefix)
    if error["type"] == "missing":
        return Problem(where, dotted((*prefix, *error["loc"])), "is required")
    key = dotted((*prefix, *path)) or "file"
    row = field_at(path, fields)
    if error["type"] in OWN_MESSAGE:
        return Problem(where, key, str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, "))
    return Problem(where, key, _expectation(path, row, error, fields), _nearest_choice(row, error["input"]))


def _expectation(path: KeyPath, row: FieldRow | None, error: Mapping[str, Any], fields: Mapping[str, FieldRow]) -> str:
    found = found_value(error["input"])
    if row is not None:
        quotes = "; put it in quotes" if row.type == "string" and isinstance(error["input"], bool | int | float) else ""
        return f"expected {row.expects}, found {found}{quotes}"
    start = f"{dotted(path)}." if path else ""
    keys = dict.fromkeys(key.removeprefix(start).partition(".")[0] for key in fields if key.startswith(start) and "[]" not in key)
    if keys and error["type"].endswith(("_type", "_parsing")):
        return f"expected a mapping ({', '.join(keys)}), found {found}"
    parent = field_at(path[:-1], fields)
    if parent is not None and parent.type in {"array", "object"} and isinstance(error["input"], int | float | bool | None):
        return f"expected {'text' if parent.type == 'array' else 'a mapping'}, found {found}"
    return f"{error['msg'][:1].lower()}{error['msg'][1:]}, found {found}"


def _nearest_choice(row: FieldRow | None, value: object) -> str | None:
    return nearest_of(value, row.choices) if row is not None and isinstance(value, str) else None


def _written_part(location: tuple[str | int, ...], tree: Any) -> KeyPath:
    """The part of an error's location that stands in the tree: pydantic adds names of its own for unions."""
    here = tree
    for depth, part in enumerate(location):
        inside = (isinstance(here, dict) and part in here) or (isinstance(here, list) and isinstance(part, int) and part < len(here))
        if not inside:
            return location[:depth]
        here = here[part]
    return location
