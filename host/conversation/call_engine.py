"""The door at which an engine's code is called: what it raises ends the compaction, not the turn."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from host.discovery.keywords import accepted_keywords
from host.engine.contract import ContextEngine
from host.engine.engine import Engine
from host.engine.services import ModelFacts
from host.messages.types import Message


def tell_model(engine: ContextEngine, facts: ModelFacts) -> None:
    """Give an engine of the reference's contract its window; one built on ``Engine`` has it from its services."""
    if isinstance(engine, Engine):
        return
    update: Callable[..., object] = engine.update_model
    keywords = accepted_keywords(update, {"base_url": "", "api_key": "", "provider": "", "api_mode": ""})
    update(facts.model, facts.window, **keywords)


def compress_with(
    engine: ContextEngine, messages: list[Message], tokens: int, focus: str | None, *, force: bool
) -> tuple[object, str | None]:
    """What the engine returned, or why it did not. Keywords that its ``compress`` lacks are not passed."""
    offered = {"current_tokens": tokens, "focus_topic": focus, "force": force, "memory_context": ""}
    given = messages if isinstance(engine, Engine) else deepcopy(messages)  # engines of the reference mark messages in place
    compress: Callable[..., object] = engine.compress
    try:
        return compress(given, **accepted_keywords(compress, offered)), None
    except Exception as error:  # noqa: BLE001  foreign code; the cause is shown in the warning and the old window stays
        return None, f"it raised {type(error).__name__}: {error}"
