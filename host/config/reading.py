"""Reading YAML: plain values, and the line and column of every key. Whatever is wrong is collected, not raised."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host.errors import Problem

MAX_BYTES = 65_536  # read in about a second; a configuration is a page or two
MAX_VALUES = 10_000  # anchors can make a short text mean millions of values
MAX_DEPTH = 32
NESTED = f"nested deeper than {MAX_DEPTH} levels"
TOO_DEEP = re.compile(rf"([\[{{]\s*){{{MAX_DEPTH + 1}}}")  # ruamel.yaml needs seconds to find that out
CORE = "tag:yaml.org,2002:"

Node = Any
"""A node of ruamel.yaml's composer, which types neither ``id`` nor ``value``."""

KeyPath = tuple[str | int, ...]
"""Keys from the top down; a number is a place in a list."""


@dataclass(frozen=True)
class Place:
    """Where something is written, counted from 1."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True)
class Document:
    """What a YAML text says, as far as it could be read."""

    source: str
    tree: Any = None
    places: dict[KeyPath, Place] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def dotted(path: Iterable[str | int]) -> str:
    """A path as users write it: ``compression.threshold``."""
    return printable(".".join(map(str, path)))


def printable(text: str) -> str:
    """The text with control characters escaped: a file must not steer the terminal it is shown in."""
    return text if text.isprintable() else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def read_file(path: Path) -> Document:
    """Read a file; one that cannot be read is a document with a problem."""
    source = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        return Document(source, problems=(Problem(source, "file", f"cannot be read: {error.strerror or error}"),))
    return read_bytes(raw, source)


def read_bytes(raw: bytes, source: str) -> Document:
    """Read what a file holds: UTF-8, with or without a byte order mark."""
    if len(raw) > MAX_BYTES:
        return Document(source, problems=(Problem(source, "file", f"longer than {MAX_BYTES:,} bytes: no configuration of ctxhost"),))
    try:
        return read_text(raw.decode("utf-8-sig"), source)
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8-sig", "replace")
        return Document(source, problems=(_not_readable(source, _place_at(before, len(before)), "not UTF-8; save the file as UTF-8"),))


def read_text(text: str, source: str) -> Document:
    """Read one YAML 1.2 document; an empty one is an empty mapping."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    too_deep = TOO_DEEP.search(text)
    if too_deep:
        return Document(source, problems=(_not_readable(source, _place_at(text, too_deep.start()), NESTED),))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an anchor that is given twice
            root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(mark.line + 1, mark.column + 1) if mark else Place()
        return Document(source, problems=(_not_readable(source, place, _own_words(error, text, place)),))
    except ReaderError as error:
        place = _place_at(text, error.position)
        return Document(source, problems=(_not_readable(source, place, f"holds the control character {chr(error.character)!r}"),))
    except RecursionError:
        return Document(source, problems=(_not_readable(source, Place(), NESTED),))
    return _Builder(source).document(root)


class _TooMuch(Exception):
    def __init__(self, node: Node, why: str) -> None:
        super().__init__(why)
        self.place = _place_of(node)


class _Builder:
    """Turns the nodes of one document into plain values, remembering where each stood."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.places: dict[KeyPath, Place] = {}
        self.problems: list[Problem] = []
        self.values = self.depth = 0

    def document(self, root: Node | None) -> Document:
        try:
            tree = {} if root is None else self.value(root, ())
        except _TooMuch as error:
            tree = {}
            self.problems.append(_not_readable(self.source, error.place, str(error)))
        return Document(self.source, tree, self.places, tuple(self.problems))

    def value(self, node: Node, path: KeyPath) -> Any:
        self.values += 1
        if self.values > MAX_VALUES:
            raise _TooMuch(node, f"means more than {MAX_VALUES:,} values; anchors that repeat each other?")
        if self.depth > MAX_DEPTH:
            raise _TooMuch(node, NESTED)
        build = BUILDERS.get((node.id, node.tag))
        if build is None:
            self.complain(node, path, f"the tag {shortened(node.tag)} has no meaning here; write the plain value")
            return None
        self.depth += 1
        try:
            return build(self, node, path)
        except ValueError:
            self.complain(node, path, f"{shortened(node.value)} cannot be read as {node.tag.removeprefix(CORE)}")
            return None
        finally:
            self.depth -= 1

    def mapping(self, node: Node, path: KeyPath) -> dict[str, Any]:
        written: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if key.id != "scalar":
                self.complain(key, path, "expected a plain word as the key; text with braces or brackets needs quotes")
            elif key.tag == f"{CORE}merge":
                merged = self.merged(value, path) | merged
            elif key.value in written:
                first = self.places[*path, key.value].line
                self.complain(key, (*path, key.value), f"written twice, first in line {first}; keep one")
            else:
                self.places[*path, key.value] = _place_of(key)
                written[key.value] = self.value(value, (*path, key.value))
        return merged | written

    def merged(self, node: Node, path: KeyPath) -> dict[str, Any]:
        """What ``<<: *anchor`` brings in; keys that are written beside it win, whatever the order."""
        built: dict[str, Any] = {}
        written = dict(self.places)
        for source in node.value if node.id == "sequence" else [node]:
            if source.id == "mapping":
                built = self.value(source, path) | built
            else:
                self.complain(source, path, "expected a mapping after <<")
        self.places |= written
        return built

    def sequence(self, node: Node, path: KeyPath) -> list[Any]:
        built = []
        for index, item in enumerate(node.value):
            self.places[*path, index] = _place_of(item)
            built.append(self.value(item, (*path, index)))
        return built

    def complain(self, node: Node, path: KeyPath, why: str) -> None:
        place = _place_of(node)
        self.problems.append(Problem(f"{self.source}:{place.line}:{place.column}", dotted(path) or "file", why))


def _integer(text: str) -> int:
    digits = text.replace("_", "")
    prefixed = digits.lstrip("+-").lower().startswith(("0x", "0o", "0b"))
    return int(digits, 0) if prefixed else int(digits)


def _decimal(text: str) -> float:
    return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))


def _scalar(read: Callable[[str], Any]) -> Callable[[_Builder, Node, KeyPath], Any]:
    return lambda builder, node, path: read(node.value)


BUILDERS: dict[tuple[str, str], Callable[[_Builder, Node, KeyPath], Any]] = {
    ("mapping", f"{CORE}map"): _Builder.mapping,
    ("sequence", f"{CORE}seq"): _Builder.sequence,
    ("scalar", f"{CORE}str"): _scalar(str),
    ("scalar", f"{CORE}timestamp"): _scalar(str),
    ("scalar", f"{CORE}int"): _scalar(_integer),
    ("scalar", f"{CORE}float"): _scalar(_decimal),
    ("scalar", f"{CORE}bool"): _scalar(lambda text: text.lower() in {"true", "yes", "on", "y"}),
    ("scalar", f"{CORE}null"): _scalar(lambda text: None),
    ("scalar", f"{CORE}value"): _scalar(str),
}
"""Kind of node and tag -> how its value is made. A pair that is missing has no meaning in a configuration."""


def _place_of(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _place_at(text: str, position: int) -> Place:
    before = text[:position]
    return Place(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _not_readable(source: str, place: Place, why: str) -> Problem:
    return Problem(f"{source}:{place.line}:{place.column}", "file", f"not valid YAML: {why}")


def _own_words(error: Any, text: str, place: Place) -> str:
    lines = text.splitlines()
    at_fault = lines[place.line - 1][place.column - 1 :] if place.line <= len(lines) else ""
    if at_fault.startswith("\t"):
        return "a tab; indent with spaces"
    return " ".join(part for part in (error.context, error.problem) if part) or str(error)


def shortened(value: object) -> str:
    """A value as it may stand in a message: one line, no longer than 60 characters."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
