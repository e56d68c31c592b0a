"""The host passes only what a signature takes (hermes.md 1.4; golden kwarg_filter)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from host.discovery import accepted_keywords
from host.engine.contract import COMPRESS_KEYWORDS, ContextEngine

OFFERED = {"current_tokens": 10, "focus_topic": "db", "force": False, "memory_context": "remember"}


def old(messages: list[Any], current_tokens: int | None = None) -> None: ...
def any_keywords(messages: list[Any], **kwargs: Any) -> None: ...
def newest(messages: list[Any], current_tokens: int = 0, focus_topic: str = "", force: bool = False, memory_context: str = "") -> None: ...
def only_messages(messages: list[Any]) -> None: ...
def positional_only(messages: list[Any], current_tokens: int = 0, /, *, force: bool = False) -> None: ...


class Unreadable:
    __signature__ = "not a signature"

    def __call__(self, messages: list[Any], current_tokens: int = 0) -> None: ...


@pytest.mark.parametrize(
    ("compress", "names"),
    [
        (old, ["current_tokens"]),
        (any_keywords, list(COMPRESS_KEYWORDS)),
        (newest, list(COMPRESS_KEYWORDS)),
        (ContextEngine.compress, list(COMPRESS_KEYWORDS)),
        (only_messages, []),
        (positional_only, ["force"]),
        (functools.partial(newest, focus_topic="set"), list(COMPRESS_KEYWORDS)),
        (Unreadable(), ["current_tokens"]),
    ],
)
def test_what_the_signature_takes_is_passed(compress: Callable[..., object], names: list[str]) -> None:
    assert accepted_keywords(compress, OFFERED) == {name: OFFERED[name] for name in names}


def test_an_empty_memory_context_is_left_out_and_other_empty_values_are_not() -> None:
    offered = {"current_tokens": 0, "focus_topic": None, "force": False, "memory_context": ""}
    assert sorted(accepted_keywords(newest, offered)) == ["current_tokens", "focus_topic", "force"]
    assert "memory_context" not in accepted_keywords(any_keywords, offered)
