"""An engine of which one method does what a case says, in a conversation that is kept: what the host makes of its faults."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

from host.conversation.conversation import Conversation
from host.errors import CtxhostError
from host.testing.messages import chat
from tests.cases.facts import Facts, NoDriver
from tests.cases.house import House

NAME = "misbehaving"
CLASS = f"""
from host.plugin import ContextEngine

class Misbehaving(ContextEngine):
    name = {NAME!r}
    threshold_tokens = 10
"""
METHODS = {
    "update_from_response": "self, usage",
    "should_compress": "self, prompt_tokens=None",
    "compress": "self, messages, current_tokens=None, **keywords",
    "on_session_start": "self, session_id, **keywords",
    "on_session_end": "self, session_id, messages",
    "get_tool_schemas": "self",
    "update_model": "self, *facts, **keywords",
}
"""The methods of which a case may give the body, with what they are called with."""

PLAIN = {"update_from_response": "pass", "should_compress": "return True", "compress": "return messages"}


def misbehave(method: str, body: str, folder: Path) -> Facts:
    """A whole turn, and a compaction by hand, with an engine of which this method has this body."""
    with House(folder / "home", engine=NAME) as house:
        plant(house, method, body)
        messages = chat(12)
        talk = house.talk()
        for message in messages:
            talk.add(message)
        before, failure = state_of(house), ""
        try:
            sent = turn(talk)
        except CtxhostError as error:
            sent, failure = list(messages), f"{type(error).__name__}: {error}"
        used = str(talk.engine.name)
        return {
            "messages_unchanged": sent == messages == list(talk.view.messages),
            "turn_completes_or_clear_error": not failure or NAME in failure,
            "session_store_unchanged": state_of(house) == before,
            "engine_used": used,
            "raises": failure or False,
            "process_exits": False,
            "warning": bool(house.warnings),
            "warnings": len(house.warnings),
            "warning_lines": list(house.warnings),
            "requested": NAME,
        }


def turn(talk: Conversation) -> list[Any]:
    """Take the window as for a model call, tell its usage, compact by hand; returns the window."""
    sent = talk.window()
    talk.measured({"prompt_tokens": 1_000, "completion_tokens": 10, "total_tokens": 1_010})
    talk.compact()
    return sent


def plant(house: House, method: str, body: str) -> None:
    """Put the engine where engines are looked for; NoDriver where the body is no Python."""
    if method not in METHODS:
        raise NoDriver(f"no driver for engine.{method}")
    bodies = {**PLAIN, method: body}
    methods = [f"    def {name}({METHODS[name]}):\n{indented(text)}" for name, text in bodies.items()]
    source = CLASS + "\n".join(methods) + "\n"
    try:
        ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise NoDriver(f"no driver reads {body!r} as the body of {method}") from error
    place = house.home / "plugins" / "context_engine" / NAME / "__init__.py"
    place.parent.mkdir(parents=True)
    place.write_text(source, encoding="utf-8")


def indented(text: str) -> str:
    """Statements as the body of a method."""
    return textwrap.indent(textwrap.dedent(text).strip(), " " * 8)


def state_of(house: House) -> list[Any]:
    """All that the store holds, but for the leases that come and go."""
    tables = ("conversations", "sessions", "segments", "made", "views", "engine_state", "receipts", "quarantine")
    return [house.dump(), *map(house.table, tables)]
