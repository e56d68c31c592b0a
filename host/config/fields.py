"""The keys of a model as rows: what each expects, in words. Errors, overrides, trust and the reference read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema

from host.config.reading import KeyPath, dotted

Schema = Mapping[str, Any]

WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "array": "a list",
    "object": "a mapping",
}
"""JSON type -> what a user would call it."""

LIMITS = {
    "exclusiveMinimum": "above {}",
    "minimum": "of at least {}",
    "exclusiveMaximum": "below {}",
    "maximum": "at most {}",
}

RENAMED = {
    "compression.summary_model": "auxiliary.compression.model",
    "compression.summary_provider": "auxiliary.compression.provider",
    "compression.summary_base_url": "auxiliary.compression.base_url",
    "auxiliary.compression.key_env": "auxiliary.compression.api_key_env",
    "model.default": "model.name",
}
"""Names that the reference knows or knew -> the key here (hermes.md 16)."""


@dataclass(frozen=True)
class FieldRow:
    """One key: ``type`` is a JSON type, ``expects`` the same in words with its limits."""

    key: str
    type: str
    expects: str
    default: Any = None
    description: str = ""
    choices: tuple[str, ...] = ()
    nullable: bool = False
    needs_trust: bool = False


@cache
def fields_of(model: type[BaseModel]) -> dict[str, FieldRow]:
    """Every key of a model by its dotted name; entries of a list of mappings are ``key[].name``."""
    try:
        schema = model.model_json_schema()
    except PydanticInvalidForJsonSchema:  # a plugin's own types may have no schema
        return {name: FieldRow(name, "", "another value") for name in model.model_fields}
    return {row.key: row for row in _rows(schema, schema.get("$defs", {}), "")}


def row_key(path: KeyPath) -> str:
    """The key of a path among the rows: places in a list count as ``[]``."""
    return "".join(map(_step, path)).removeprefix(".")


def field_at(path: KeyPath, fields: Mapping[str, FieldRow]) -> FieldRow | None:
    """The row of a path."""
    return fields.get(row_key(path))


def sections_of(fields: Mapping[str, FieldRow]) -> set[str]:
    """The dotted names that hold keys rather than values."""
    parts = [key.split(".") for key in fields]
    return {dotted(names[:length]) for names in parts for length in range(1, len(names))}


def nearest_key(path: KeyPath, fields: Mapping[str, FieldRow]) -> str | None:
    """The valid key closest to a misspelt one: among its neighbours first, then anywhere."""
    key = dotted(path)
    if key in RENAMED and RENAMED[key] in fields:
        return RENAMED[key]
    known = set(fields) | sections_of(fields)
    parent = row_key(path[:-1])
    last = str(path[-1])
    neighbours = {name.rpartition(".")[2]: name for name in known if name.rpartition(".")[0] == parent}
    anywhere = {name.rpartition(".")[2]: name for name in sorted(known, reverse=True)}
    for names, closeness in ((neighbours, 0.6), (anywhere, 0.8)):
        close = nearest_of(last, list(names), closeness)
        if close:
            return names[close]
    return None


def nearest_of(word: str, words: Sequence[str], closeness: float = 0.6) -> str | None:
    """The word closest to a misspelt one, None where none is close."""
    close = get_close_matches(word.lower(), words, n=1, cutoff=closeness)
    return close[0] if close else None


def _step(part: str | int) -> str:
    return "[]" if isinstance(part, int) else f".{part}"


def _rows(schema: Schema, parts: Mapping[str, Schema], prefix: str) -> Iterator[FieldRow]:
    for name, raw in schema.get("properties", {}).items():
        key = f"{prefix}{name}"
        entry = {**_resolved(raw, parts), **raw}
        if "properties" in entry:
            yield from _rows(entry, parts, f"{key}.")
            continue
        yield _row(key, entry, parts)
        yield from _rows(_resolved(entry.get("items", {}), parts), parts, f"{key}[].")


def _row(key: str, entry: Schema, parts: Mapping[str, Schema]) -> FieldRow:
    kinds = [_resolved(kind, parts) for kind in entry.get("anyOf", [entry])]
    values = [kind for kind in kinds if kind.get("type") != "null"]
    nullable = len(values) < len(kinds)
    return FieldRow(
        key,
        type=str(values[0].get("type", "")) if len(values) == 1 else "",
        expects=" or ".join([*map(_in_words, values), *(["null"] if nullable else [])]),
        default=entry.get("default"),
        description=str(entry.get("description", "")),
        choices=tuple(map(str, values[0].get("enum", ()))) if values else (),
        nullable=nullable,
        needs_trust=bool(entry.get("x-needs-trust")),
    )


def _in_words(kind: Schema) -> str:
    if "enum" in kind:
        return " or ".join(map(str, kind["enum"]))
    words = WORDS.get(str(kind.get("type")), "another value")
    limits = [text.format(kind[name]) for name, text in LIMITS.items() if name in kind]
    if kind.get("minLength"):
        limits.append("that is not empty")
    return " ".join([words, " and ".join(limits)]).rstrip()


def _resolved(schema: Schema, parts: Mapping[str, Schema]) -> Schema:
    reference = str(schema.get("$ref", ""))
    return parts.get(reference.rpartition("/")[2], schema)
