"""Values laid over each other, each with the place that it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from host.config.fields import FieldRow, sections_of
from host.config.models import ENGINES
from host.config.reading import Document, KeyPath, dotted

Tree = dict[str, Any]


@dataclass(frozen=True)
class Origin:
    """Where a value came from: a place in a file, an environment variable, or the default."""

    kind: Literal["default", "file", "env"] = "default"
    source: str = "default"  # path of the file, name of the variable
    line: int = 0
    column: int = 0

    @property
    def where(self) -> str:
        """With the column, as errors name it."""
        return f"{self.source}:{self.line}:{self.column}" if self.kind == "file" else self.source

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.kind == "file" else self.source


@dataclass(frozen=True)
class Layer:
    """A tree of values and the origin of each key in it."""

    tree: Tree = field(default_factory=dict)
    origins: Mapping[KeyPath, Origin] = field(default_factory=dict)

    def origin(self, path: KeyPath) -> Origin:
        """Origin of a key, or of the nearest one above it that was written down; else the default."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]]
        return Origin()


def layer_of(document: Document) -> Layer:
    """A file's values as a layer."""
    origins = {path: Origin("file", document.source, place.line, place.column) for path, place in document.places.items()}
    return Layer(document.tree if isinstance(document.tree, dict) else {}, origins)


def overlay(lower: Layer, upper: Layer) -> Layer:
    """Lay one over the other: mappings are merged key by key, everything else is replaced."""
    return Layer(_merged(lower.tree, upper.tree), {**lower.origins, **upper.origins})


def leaves(tree: Mapping[str, Any], fields: Mapping[str, FieldRow], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Every setting of a tree: known keys whole, settings of engines and unknown keys one by one."""
    for key, value in tree.items():
        here = (*path, key)
        known = dotted(here) in fields and here != (ENGINES,)
        if isinstance(value, dict) and value and not known:
            yield from leaves(value, fields, here)
        else:
            yield here, value


def without(tree: Mapping[str, Any], paths: set[KeyPath], path: KeyPath = ()) -> Tree:
    """The tree less some of its settings."""
    kept = {key: value for key, value in tree.items() if (*path, key) not in paths}
    return {key: without(value, paths, (*path, key)) if isinstance(value, dict) else value for key, value in kept.items()}


def without_unset(tree: Mapping[str, Any], fields: Mapping[str, FieldRow]) -> Tree:
    """Leave out keys that are written but empty, where empty is no value: they mean the default."""
    sections = sections_of(fields) | {ENGINES}
    return without(tree, {path for path, value in leaves(tree, fields) if value is None and _says_nothing(path, fields, sections)})


def _says_nothing(path: KeyPath, fields: Mapping[str, FieldRow], sections: set[str]) -> bool:
    key = dotted(path)
    if key in sections or (path[0] == ENGINES and len(path) == 2):
        return True
    row = fields.get(key)
    return row is not None and not row.nullable and (row.type != "string" or bool(row.default))


def _merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> Tree:
    both = dict(lower)
    for key, value in upper.items():
        below = lower.get(key)
        both[key] = _merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return both
