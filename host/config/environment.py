"""Overrides from the environment: ``CTXHOST_COMPRESSION__THRESHOLD=0.4``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from host.config.fields import FieldRow, field_at, nearest_key, nearest_of, sections_of
from host.config.layers import Layer, Origin
from host.config.models import ENGINES
from host.config.reading import Document, KeyPath, dotted, read_text
from host.errors import Problem

PREFIX = "CTXHOST_"
BETWEEN = "__"  # one underscore is part of many keys


def overrides(environ: Mapping[str, str], fields: Mapping[str, FieldRow], engines: object) -> tuple[Layer, list[Problem]]:
    """The layer that the environment lays over the files; ``engines`` is what the files say, for the spelling of names."""
    layer = Layer()
    problems = [problem for variable in _almost_named(environ, fields) if (problem := _misspelt(variable, fields))]
    for variable, text in sorted(_named(environ)):
        path = _path_of(variable, engines)
        problem = _unknown(variable, path, fields)
        if problem:
            problems.append(problem)
            continue
        document = read_value(text, field_at(path, fields), variable)
        problems += [Problem(variable, dotted(path), problem.expected) for problem in document.problems]
        origin = Origin("env", variable)
        _put(layer.tree, path, document.tree)
        layer = Layer(layer.tree, {**layer.origins, path: origin} | {(*path, *inner): origin for inner in document.places})
    return layer, problems


def unheeded(environ: Mapping[str, str], fields: Mapping[str, FieldRow]) -> list[str]:
    """Warnings about variables that begin like an override and are like none; a cluster may have set them for a service."""
    strange = [variable for variable in _almost_named(environ, fields) if _misspelt(variable, fields) is None]
    return [f"{variable}: ignored, no key is like it; overrides are spelt like {variable_of(next(iter(fields)))}" for variable in strange]


def variable_of(key: str) -> str:
    """The variable that overrides a key."""
    return PREFIX + key.replace(".", BETWEEN).replace("-", "_").upper()


def _named(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in environ.items() if name.startswith(PREFIX) and BETWEEN in name[len(PREFIX) :])


def _almost_named(environ: Mapping[str, str], fields: Mapping[str, FieldRow]) -> list[str]:
    """Variables that begin with a section of ours and have no two underscores in them."""
    sections = [variable_of(key.partition(".")[0]) for key in fields]
    begun = [name for name in environ if any(name == section or name.startswith(f"{section}_") for section in sections)]
    return sorted(name for name in begun if BETWEEN not in name)


def _misspelt(variable: str, fields: Mapping[str, FieldRow]) -> Problem | None:
    key = variable.removeprefix(PREFIX).lower()
    if key == ENGINES or variable.startswith(f"{variable_of(ENGINES)}_"):
        return Problem(variable, ENGINES, f"name an engine and a setting: {PREFIX}ENGINES__NAME__KEY")
    if key in sections_of(fields):
        return Problem(variable, key, f"is a section; override its keys one by one: {', '.join(map(variable_of, _inside(key, fields)))}")
    section = next(name.partition(".")[0] for name in fields if key.startswith(f"{name.partition('.')[0]}_"))
    inside = {name.removeprefix(f"{section}.").replace(".", "_"): name for name in _inside(section, fields)}
    near = nearest_of(key.removeprefix(f"{section}_"), list(inside))
    return Problem(variable, key, "two underscores stand between a section and its key", variable_of(inside[near])) if near else None


def _inside(section: str, fields: Mapping[str, FieldRow]) -> list[str]:
    return [name for name in fields if name.startswith(f"{section}.") and "[]" not in name]


def _path_of(variable: str, engines: object) -> KeyPath:
    names = [part.lower() for part in variable[len(PREFIX) :].split(BETWEEN)]
    if names[0] != ENGINES:
        return tuple(names)
    path: list[str] = [ENGINES]
    here = engines
    for name in names[1:]:  # files may spell a name with capitals or hyphens, a variable cannot
        spelt = {str(key).lower().replace("-", "_"): str(key) for key in here} if isinstance(here, dict) else {}
        path.append(spelt.get(name, name))
        here = here.get(path[-1]) if isinstance(here, dict) else None
    return tuple(path)


def _unknown(variable: str, path: KeyPath, fields: Mapping[str, FieldRow]) -> Problem | None:
    key = dotted(path)
    if path[0] == ENGINES:
        return None if len(path) > 2 and all(path) else Problem(variable, key, f"name an engine and a setting: {PREFIX}ENGINES__NAME__KEY")
    if key in fields:
        return None
    if key in sections_of(fields):
        return Problem(variable, key, "is a section; override one of its keys")
    near = nearest_key(path, fields)
    return Problem(variable, key, "unknown key", variable_of(near) if near else None)


def read_value(text: str, row: FieldRow | None, source: str) -> Document:
    """A value as YAML; where text is expected, a name such as 4.10 or one with a colon is meant as it is written."""
    document = read_text(text, source)
    if not text.strip():
        return replace(document, tree=None)
    meant_as_written = document.problems or not isinstance(document.tree, str | None)
    return Document(source, text) if row is not None and row.type == "string" and meant_as_written else document


def _put(tree: dict[str, Any], path: KeyPath, value: Any) -> None:
    for part in path[:-1]:
        below = tree.get(str(part))
        tree[str(part)] = below if isinstance(below, dict) else {}
        tree = tree[str(part)]
    tree[str(path[-1])] = value
