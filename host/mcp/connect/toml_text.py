"""Changing one table of a TOML document as text: every other line stays."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from host.mcp.connect.obstacles import Obstacle

Path = tuple[str, ...]
Entry = Mapping[str, str | list[str]]

LINE = re.compile(r"[^\n]*\n|[^\n]+")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
PLACE = re.compile(r"\(at line (\d+)")


@dataclass(frozen=True)
class Statement:
    """A header, a pair, a comment or a blank line, with the line end; ``path`` is absolute, empty for what says nothing."""

    text: str
    path: Path = ()
    is_header: bool = False
    value: str = ""  # of a pair: what stands after the equals sign


def parsed(text: str) -> dict[str, object]:
    """The document. Raises Obstacle with the line of what is no TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = PLACE.search(str(error))
        line = int(found.group(1)) if found else 1 + text.rstrip("\n").count("\n")
        raise Obstacle(line, f"this is no TOML: {error}") from error
    except RecursionError as error:
        raise Obstacle(1, "nested too deeply") from error


def added(text: str, path: Path, entry: Entry) -> str:
    """The text with a table at its end."""
    newline = _newline(text)
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + written(path, entry).replace("\n", newline) + newline


def written(path: Path, entry: Entry) -> str:
    """A table as it is written."""
    return "\n".join([f"[{'.'.join(path)}]", *(f"{key} = {_value(value)}" for key, value in entry.items())])


def updated(text: str, path: Path, entry: Entry) -> str:
    """The text with new values for some keys of a table that is there. Raises Obstacle where it is written in one line."""
    said = statements(text)
    for key, value in entry.items():
        said = _with_pair(said, (*path, key), _value(value), _newline(text))
    return "".join(each.text for each in said)


def without(text: str, path: Path) -> str:
    """The text without a table, what is below it, and the blank line before it."""
    said = statements(text)
    kept: list[Statement] = []
    for each in said:
        ours = each.path[: len(path)] == path
        if not ours:
            kept.append(each)
        elif each.is_header and kept and not kept[-1].text.strip():
            kept.pop()
    return "".join(each.text for each in kept)


def by_hand(text: str, path: Path, entry: Entry) -> str:
    """What a user puts into this text: a table, or one line where the tables, or this one, are written in one."""
    with suppress(Obstacle):
        document = parsed(text)
        tables = document.get(path[0], {})
        if not isinstance(tables, dict):
            return f"# once {path[0]} is a table, as the client wants it:\n{written(path, entry)}"
        known = tables.get(path[-1])
        if known is not None or not _is_whole(added(text, path, entry)):
            where = f"in place of {path[-1]} in {path[0]}" if known is not None else f"inside the braces of {path[0]}, set off with a comma"
            whole = {**(known if isinstance(known, dict) else {}), **entry}
            return f"# {where}:\n{path[-1]} = {_value(whole)}"
    return written(path, entry)


def line_of(text: str, path: Path) -> int:
    """The line where a table, or the nearest thing above it, is first said."""
    said = statements(text)
    for depth in range(len(path), 0, -1):
        line = 1
        for each in said:
            if each.path[:depth] == path[:depth]:
                return line
            line += each.text.count("\n")
    return 1


def statements(text: str) -> list[Statement]:
    """A document that is valid TOML, cut into its statements; joined they give the text back."""
    found: list[Statement] = []
    context: Path = ()
    pending = ""
    for line in LINE.findall(text):
        pending += line
        if not _is_whole(pending):
            continue
        each = _statement(pending, context)
        context = each.path if each.is_header else context
        found.append(each)
        pending = ""
    return [*found, Statement(pending)] if pending else found


def _statement(text: str, context: Path) -> Statement:
    said = text.strip()
    if not said or said.startswith("#"):
        return Statement(text)
    if said.startswith("["):
        return Statement(text, _key_path(tomllib.loads(text)), is_header=True)
    equals = next(at for at, char in enumerate(text) if char == "=" and _is_whole(f"{text[:at]}= 0"))
    return Statement(text, (*context, *_key_path(tomllib.loads(f"{text[:equals]}= 0"))), value=text[equals + 1 :])


def _key_path(document: object) -> Path:
    """The keys of a document that says one thing."""
    if isinstance(document, dict) and document:
        ((key, below),) = document.items()
        return (key, *_key_path(below))
    return ()


def _with_pair(said: Sequence[Statement], path: Path, value: str, newline: str) -> list[Statement]:
    at = next((at for at, each in enumerate(said) if each.path == path and not each.is_header), None)
    if at is not None:
        old = said[at]
        before = old.text[: len(old.text) - len(old.value)]
        end = newline if old.text.endswith("\n") else ""
        return [*said[:at], Statement(f"{before} {value}{end}", path, value=f" {value}{end}"), *said[at + 1 :]]
    header = next((at for at, each in enumerate(said) if each.path == path[:-1] and each.is_header), None)
    if header is None:
        line = line_of("".join(each.text for each in said), path[:-1])
        raise Obstacle(line, f"{'.'.join(path[:-1])} is not written as a table of its own")
    head = said[header]
    head = head if head.text.endswith("\n") else Statement(head.text + newline, head.path, is_header=True)
    return [*said[:header], head, Statement(f"{path[-1]} = {value}{newline}", path), *said[header + 1 :]]


def _value(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in value.items())}}}"
    return str(value).lower()  # a number, a time, true or false


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _value(key)


def _is_whole(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
