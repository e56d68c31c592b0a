"""The engine's contract with the host: hermes.md 1."""

from __future__ import annotations

from typing import Any

from host.discovery import accepted_keywords
from host.engine.contract import COMPRESS_KEYWORDS, ContextEngine
from host.messages.types import Message
from tests.golden.reading import Driver, Golden


class Plain(ContextEngine):
    """An engine with nothing of its own."""

    name = "plain"

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Count nothing."""

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return False

    def compress(self, messages: list[Message], *_: Any, **__: Any) -> list[Message]:
        return messages


def defaults(case: Golden) -> None:
    engine = Plain()
    engine.update_model("a-model", 1_000)
    assert {
        "status": engine.get_status(),
        "threshold": engine.threshold_tokens,
        "protect": [engine.protect_first_n, engine.protect_last_n],
        "percent": engine.threshold_percent,
        "preflight": engine.should_compress_preflight([]),
        "defer": engine.should_defer_preflight_to_real_usage(1),
        "has_content": engine.has_content_to_compress([]),
        "schemas": engine.get_tool_schemas(),
        "tool": engine.handle_tool_call("zz", {}),
    } == case.output


def old(messages: list[Message], current_tokens: int | None = None) -> None: ...


def lenient(messages: list[Message], **kwargs: Any) -> None: ...


def new(
    messages: list[Message],
    current_tokens: int | None = None,
    focus_topic: str | None = None,
    force: bool = False,
    memory_context: str = "",
) -> None: ...


def keywords(case: Golden) -> None:
    offered = dict.fromkeys(COMPRESS_KEYWORDS, "something")
    found = [accepted_keywords(compress, offered) for compress in (old, lenient, new)]
    found.append(accepted_keywords(new, {**offered, "memory_context": ""}))
    assert [sorted(names) for names in found] == case.output


DRIVERS: dict[str, Driver] = {"abc_defaults": defaults, "kwarg_filter": keywords}
