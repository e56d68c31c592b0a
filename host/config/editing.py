"""Changing one value of a file; comments, order and quotes stay as they were."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from host.config.environment import read_value
from host.config.fields import FieldRow, field_at, fields_of, sections_of
from host.config.layers import layer_of
from host.config.loader import check_document
from host.config.models import ENGINES, Config
from host.config.reading import Document, KeyPath, dotted, read_file, read_text
from host.config.validation import found_value, unknown_key
from host.config.writing import write_whole
from host.errors import ConfigError, Problem


def set_value(path: Path, key: str, text: str) -> None:
    """Write one setting into a file, which is made where it is missing; raises ConfigError before anything is written."""
    fields = fields_of(Config)
    keys: KeyPath = tuple(key.split("."))
    problem = _refusal(keys, fields)
    if problem:
        raise ConfigError([problem])
    path = path.expanduser()
    before = read_file(path) if path.exists() else Document(str(path), {})
    value = read_value(text, field_at(keys, fields), key)
    broken = [*before.problems, *_in_the_way(before, keys), *(Problem(str(path), key, problem.expected) for problem in value.problems)]
    if broken:
        raise ConfigError(broken)
    text = path.read_bytes().decode("utf-8-sig") if path.exists() else ""
    changed = with_value(text.replace("\r\n", "\n"), keys, value.tree)
    problems = check_document(read_text(changed, str(path)))
    if problems:
        raise ConfigError(problems)
    write_whole(path, changed.replace("\n", "\r\n") if "\r\n" in text else changed)


def with_value(text: str, keys: KeyPath, value: Any) -> str:
    """The text of a configuration with one value put in or replaced."""
    from ruamel.yaml import YAML
    from ruamel.yaml.util import load_yaml_guess_indent

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 10_000  # never fold what the user wrote in one line
    _, indent, offset = load_yaml_guess_indent(text)
    yaml.indent(mapping=indent or 2, sequence=(indent or 2) if offset is None else max(indent or 2, offset + 2), offset=offset or 0)
    yaml.explicit_start = text.lstrip().startswith("---")
    tree = yaml.load(text)
    if tree is None:  # nothing but comments: they stay above
        return f"{text.rstrip()}\n\n{_dumped(yaml, _nested(keys, value))}".lstrip("\n")
    _put_below(tree, keys, _as_flow(value))
    return _dumped(yaml, tree)


def _refusal(keys: KeyPath, fields: Mapping[str, FieldRow]) -> Problem | None:
    key = dotted(keys)
    if keys[0] == ENGINES:
        return None if len(keys) > 2 and all(keys) else Problem("config set", key, "name an engine and a setting: engines.NAME.KEY")
    if key in fields:
        return None
    if key in sections_of(fields):
        inside = [name for name in fields if name.startswith(f"{key}.")]
        return Problem("config set", key, f"is a section; set one of its keys: {', '.join(inside)}")
    return unknown_key(keys, "config set", fields)


def _in_the_way(document: Document, keys: KeyPath) -> list[Problem]:
    """What is written where a mapping would have to be: it is not replaced unasked."""
    here = document.tree
    for depth, key in enumerate(keys[:-1], start=1):
        here = here.get(key) if isinstance(here, dict) else None
        if here is not None and not isinstance(here, dict):
            where = layer_of(document).origin(keys[:depth]).where
            return [Problem(where, dotted(keys[:depth]), f"expected a mapping, found {found_value(here)}; remove it first")]
    return []


def _put(tree: Any, keys: KeyPath, value: Any) -> None:
    for key in keys[:-1]:
        if not isinstance(tree.get(key), dict):
            tree[key] = {}
        tree = tree[key]
    tree[keys[-1]] = value


def _put_below(tree: Any, keys: KeyPath, value: Any) -> None:
    """Put a value in; what is written below its section stays below."""
    from ruamel.yaml.comments import CommentedMap

    depth, section = 0, tree
    while depth < len(keys) - 1 and isinstance(section.get(keys[depth]), CommentedMap):
        section = section[keys[depth]]
        depth += 1
    below = _cut_comment(section) if depth and keys[depth] not in section else None
    _put(section, keys[depth:], value)
    if below is not None:
        for key in keys[depth:-1]:
            section[key] = CommentedMap(section[key])
            section = section[key]
        section.ca.items[keys[-1]] = [None, None, below, None]


def _cut_comment(section: Any) -> Any:
    """Take off the lines that follow the last value of a section; ruamel hangs them on that value."""
    from ruamel.yaml.comments import CommentedSeq
    from ruamel.yaml.tokens import CommentToken

    holder, key = _last_value(section)
    hung = holder.ca.items.get(key) or [None] * 4
    token = hung[0 if isinstance(holder, CommentedSeq) else 2]
    beside, _, below = token.value.partition("\n") if isinstance(token, CommentToken) else ("", "", "")
    if not below or token is None:
        return None
    token.value = f"{beside}\n"
    return CommentToken(f"\n{below}", token.start_mark, None)


def _last_value(section: Any) -> tuple[Any, Any]:
    """The innermost mapping or list that the section's last line belongs to, and the key in it."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    key = len(section) - 1 if isinstance(section, CommentedSeq) else next(reversed(section), None)
    below = section[key] if key is not None else None
    deeper = isinstance(below, CommentedMap | CommentedSeq) and len(below) and not below.fa.flow_style()
    return _last_value(below) if deeper else (section, key)


def _nested(keys: KeyPath, value: Any) -> dict[Any, Any]:
    tree: dict[Any, Any] = {}
    _put(tree, keys, _as_flow(value))
    return tree


def _as_flow(value: Any) -> Any:
    """Lists and mappings are written in one line, as they were typed."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if not isinstance(value, list | dict):
        return value
    flow = CommentedSeq(value) if isinstance(value, list) else CommentedMap(value)
    flow.fa.set_flow_style()
    return flow


def _dumped(yaml: Any, tree: Any) -> str:
    buffer = StringIO()
    yaml.dump(tree, buffer)
    return buffer.getvalue()
