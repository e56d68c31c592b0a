"""Changing one value of a JSON document as text: every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from host.mcp.connect.obstacles import Obstacle

Step = str | int
Path = tuple[str, ...]
Value = Any
Entry = Mapping[str, str | list[str]]

INDENT = "  "  # of a document that shows none
SPACE = re.compile(r"[ \t\r\n]*")
KINDS = {"{": "an object", "[": "a list"}
COMMENT = re.compile(r"/[/*]")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


# numbers stay the text they are: they are compared, never calculated with
DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


@dataclass(frozen=True)
class Member:
    """One member of an object or list, by offsets; ``start`` is its key's in an object, else its value's."""

    key: Step
    start: int
    value: int
    end: int


@dataclass(frozen=True)
class Container:
    """An object or list, by the offsets of its brackets."""

    opening: int
    members: tuple[Member, ...]
    closing: int

    def member(self, key: Step) -> Member | None:
        """The member of that key; the last one counts where a key is there twice, as it does for clients."""
        return next((member for member in reversed(self.members) if member.key == key), None)


def parsed(text: str) -> Value:
    """The document, an empty object for an empty text. Raises Obstacle with the line of what is no JSON."""
    if not text.strip():
        return {}
    try:
        document: Value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        comments = COMMENT.match(text, error.pos) is not None
        why = "comments would be lost" if comments else f"this is no JSON: {error.msg}"
        raise Obstacle(error.lineno, why) from error
    except RecursionError as error:
        raise Obstacle(1, "nested too deeply") from error
    except ValueError as error:
        raise Obstacle(1, str(error)) from error
    return document


def added(text: str, path: Path, entry: Entry) -> str:
    """The text with an entry at ``path``."""
    return put(text, path, {**entry})


def updated(text: str, path: Path, entry: Entry) -> str:
    """The text with new values for some keys of the object at ``path``; its other keys stay."""
    for key, value in entry.items():
        text = put(text, (*path, key), value)
    return text


def without(text: str, path: Path) -> str:
    """The text without what is at ``path``."""
    return take(text, path)


def written(path: Path, entry: Entry) -> str:
    """An entry as it stands in a file that holds nothing else."""
    return as_text(nested(path, {**entry}))


def by_hand(text: str, path: Path, entry: Entry) -> str:
    """What a user puts into a text: the entry with what it stands in."""
    return written(path, entry)


def as_text(document: Value) -> str:
    """A whole document."""
    return json.dumps(document, indent=INDENT, ensure_ascii=False)


def put(text: str, path: Sequence[Step], value: Value) -> str:
    """The text with a value at ``path``: replaced where there is one, else added as the last member. An index past the end adds."""
    at = _skip(text, 0)
    if at == len(text):
        newline = _newline(text)
        return as_text(nested(path, value)).replace("\n", newline) + newline
    for depth, key in enumerate(path):
        container = _container(text, at, key)
        member = container.member(key)
        if member is None:
            return _added(text, container, key, nested(path[depth + 1 :], value))
        at, end = member.value, member.end
    return text[:at] + _rendered(text, value, _line_indent(text, at), wide="\n" in text[at:end]) + text[end:]


def take(text: str, path: Sequence[Step]) -> str:
    """The text without the member at ``path``; unchanged where there is none."""
    at = _skip(text, 0)
    container: Container | None = None
    for key in path:
        if at == len(text) or text[at] not in KINDS:
            return text
        container = _container(text, at, key)
        member = container.member(key)
        if member is None:
            return text
        at = member.value
    return text if container is None else _removed(text, container, path[-1])


def missing(text: str, path: Sequence[Step]) -> int:
    """How many containers ``put`` would have to make to hold a value at ``path``, the document itself not counted."""
    document = parsed(text)
    for depth, key in enumerate(path[:-1]):
        if not isinstance(document, dict) or not isinstance(key, str) or key not in document:
            return len(path) - 1 - depth
        document = document[key]
    return 0


def line_of(text: str, path: Sequence[Step]) -> int:
    """The line of a member, or of the deepest part of the path that is there."""
    at = _skip(text, 0)
    line = 1 + text.count("\n", 0, at)
    for key in path:
        if at == len(text) or text[at] not in KINDS:
            break
        member = _container(text, at, key).member(key)
        if member is None:
            break
        at, line = member.value, 1 + text.count("\n", 0, member.start)
    return line


def nested(path: Sequence[Step], value: Value) -> Value:
    """A value inside the containers that lead to it."""
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _container(text: str, opening: int, key: Step) -> Container:
    wanted = "{" if isinstance(key, str) else "["
    if text[opening] != wanted:
        raise Obstacle(1 + text.count("\n", 0, opening), f"expected {KINDS[wanted]} here, to put {key!r} in")
    members: list[Member] = []
    at = _skip(text, opening + 1)
    while text[at] not in "}]":
        start = at = _skip(text, at + 1) if text[at] == "," else at
        name: Step = len(members)
        if wanted == "{":
            name, colon = DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, colon) + 1)
        _, end = DECODER.raw_decode(text, at)
        members.append(Member(name, start, at, end))
        at = _skip(text, end)
    return Container(opening, tuple(members), at)


def _added(text: str, container: Container, key: Step, value: Value) -> str:
    label = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    if not container.members:
        return _filled(text, container, label, value)
    last = container.members[-1]
    gap = _space_before(text, last.start)
    wide = "\n" in gap
    if not wide:
        gap = " " if _spaced(text) else ""
        label = label if _spaced(text) else label.replace(": ", ":")
    rendered = _rendered(text, value, gap.rpartition("\n")[2], wide=wide)
    return f"{text[: last.end]},{gap}{label}{rendered}{text[last.end :]}"


def _filled(text: str, container: Container, label: str, value: Value) -> str:
    """A container that was empty; in a document of one line it stays on that line."""
    before, after = text[: container.opening + 1], text[container.closing :]
    if "\n" not in text.strip() and text.strip() not in ("{}", "[]"):
        label = label if _spaced(text) else label.replace(": ", ":")
        return f"{before}{label}{_rendered(text, value, '', wide=False)}{after}"
    newline, outer = _newline(text), _line_indent(text, container.opening)
    inner = outer + _unit(text)
    return f"{before}{newline}{inner}{label}{_rendered(text, value, inner, wide=True)}{newline}{outer}{after}"


def _removed(text: str, container: Container, key: Step) -> str:
    member = container.member(key)
    assert member is not None
    place = container.members.index(member)
    if len(container.members) == 1:
        return text[: container.opening + 1] + text[container.closing :]
    if place + 1 == len(container.members):
        return text[: container.members[place - 1].end] + text[member.end :]
    return text[: member.start] + text[container.members[place + 1].start :]


def _rendered(text: str, value: Value, indent: str, *, wide: bool) -> str:
    if not wide:
        separators = (", ", ": ") if _spaced(text) else (",", ":")
        return json.dumps(value, ensure_ascii=False, separators=separators)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{_newline(text)}{indent}".join(lines)


def _unit(text: str) -> str:
    """The indentation of the document's first level."""
    found = re.match(r"\s*[{\[][ \t]*\r?\n([ \t]*)\S", text)
    return found.group(1) if found and text[found.end() - 1] not in "}]" else INDENT


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _spaced(text: str) -> bool:
    return re.search(r'"\s*:\S', text) is None


def _line_indent(text: str, at: int) -> str:
    found = SPACE.match(text, text.rfind("\n", 0, at) + 1)
    return found.group() if found else ""


def _space_before(text: str, at: int) -> str:
    start = at
    while text[start - 1] in " \t\r\n":
        start -= 1
    return text[start:at]


def _skip(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at
