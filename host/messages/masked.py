"""Secrets are masked before a text is cut: of a secret that is cut in two nobody can tell any more that it is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Mask = Callable[[str], str]
"""Replaces secrets in a text."""

LAST_WORD = 200
"""Characters that the word at the end of what is read may have: it is left out, since it may be half a secret."""

DEPTH = 4
"""Levels of a call's arguments that texts are looked for in: no one-line digest shows what lies deeper."""


def masked(text: str, mask: Mask, limit: int) -> str:
    """About the first ``limit`` characters of a text, without secrets; of the rest nothing is read."""
    return mask(beginning(text, limit))


def beginning(text: str, limit: int) -> str:
    """At most ``limit`` characters of a text that end where a word does, if the last word is not very long."""
    if len(text) <= limit:
        return text
    ends = (text.rfind(blank, max(0, limit - LAST_WORD), limit) for blank in " \n\t")
    end = max(ends)
    return text[:limit] if end < 0 else text[:end]


def with_values(arguments: Mapping[str, Any], change: Mask, depth: int = DEPTH) -> dict[str, Any]:
    """The arguments of a call with the texts in them changed."""
    return {key: _changed(value, change, depth) for key, value in arguments.items()}


def _changed(value: Any, change: Mask, depth: int) -> Any:
    if isinstance(value, str):
        return change(value)
    if not depth:
        return value
    if isinstance(value, list):
        return [_changed(entry, change, depth - 1) for entry in value]
    return with_values(value, change, depth - 1) if isinstance(value, Mapping) else value
