"""Which entries of a client's file are ours: those that start ctxhost, of this installation or of another."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from host.mcp.connect.json_text import Step

NAME = "ctxhost"
MODULE = ("-m", "host")


def starts_ctxhost(entry: object) -> bool:
    """Whether an entry starts an MCP server of ctxhost."""
    if not isinstance(entry, dict):
        return False
    arguments = entry.get("args", [])
    words = [entry.get("command"), *(arguments if isinstance(arguments, list) else ())]
    said = [word for word in words if isinstance(word, str)]
    return runs_ctxhost(said) and "mcp" in said


def runs_ctxhost(words: Sequence[str]) -> bool:
    """Whether a command line runs ctxhost, by its name or as a module, alone or by way of another program."""
    return any(PurePath(word).name == NAME for word in words) or MODULE in pairwise(words)


def recalls(command: object) -> bool:
    """Whether a hook's command is ``ctxhost mcp recall``."""
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:  # an open quote: nothing that we wrote
        return False
    return runs_ctxhost(words) and "recall" in words


def recall_hooks(document: object, path: tuple[str, ...]) -> Iterator[tuple[Step, ...]]:
    """The way to every hook below ``path`` that is ours."""
    for at, group in enumerate(listed(value_at(document, path))):
        for inner, hook in enumerate(listed(value_at(group, ("hooks",)))):
            if recalls(value_at(hook, ("command",))):
                yield (*path, at, "hooks", inner)


def without_recalls(groups: object) -> list[Any]:
    """Groups of hooks without ours; a group that held nothing else is left out."""
    kept = []
    for group in listed(groups):
        hooks = listed(value_at(group, ("hooks",)))
        others = [hook for hook in hooks if not recalls(value_at(hook, ("command",)))]
        if others or not hooks:
            kept.append({**group, "hooks": others} if hooks else group)
    return kept


def value_at(document: object, path: Sequence[Step]) -> Any:
    """What a document holds at ``path``, None for nothing."""
    for key in path:
        if isinstance(document, dict) and isinstance(key, str):
            document = document.get(key)
        elif isinstance(document, list) and isinstance(key, int) and key < len(document):
            document = document[key]
        else:
            return None
    return document


def replaced_at(document: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """A document with another value at ``path``; containers that are empty then are left out."""
    if not path:
        return change(document)
    if not isinstance(document, dict) or path[0] not in document:
        return document
    inside = replaced_at(document[path[0]], path[1:], change)
    rest = {key: inside if key == path[0] else value for key, value in document.items()}
    return rest if inside not in ({}, [], None) else {key: value for key, value in rest.items() if key != path[0]}


def listed(value: object) -> list[Any]:
    """A list, empty for what is none."""
    return value if isinstance(value, list) else []
