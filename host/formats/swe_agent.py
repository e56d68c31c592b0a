"""SWE-agent trajectories: OpenAI messages under ``history``, with the notes of the recorder beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from host.errors import NotAConversation
from host.formats.chat import is_message
from host.formats.loose import keyed, listed, text_under
from host.formats.source import Source, kind_of
from host.formats.transcript import Draft
from host.messages.types import JSON, Message

SENT = ("role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content")
"""Keys that go to a model; thought, action, agent, message_type, is_demo, tags, cache marks and the like do not."""


def recognises(source: Source) -> bool:
    """One JSON object with a ``history`` of messages."""
    return any(map(is_message, listed(keyed(source.document).get("history"))))


def read(source: Source) -> Iterator[Draft]:
    """The one conversation of a trajectory; its name is the file's unless it has an instance id."""
    document = keyed(source.document)
    history = document.get("history")
    if not isinstance(history, list):
        raise NotAConversation(source.path, "it has no `history`, which a SWE-agent trajectory has")
    for number, entry in enumerate(history, start=1):
        if not isinstance(entry, dict):
            raise NotAConversation(source.path, f"entry {number} of its history is {kind_of(entry)}, not a message")
    title = text_under(document, "instance_id", "id") or source.path.stem
    yield Draft([_sent(entry) for entry in history], title=title, model=_model_of(document))


def _sent(entry: JSON) -> Message:
    """The part of a history entry that a model is sent."""
    message: JSON = {key: entry[key] for key in SENT if key in entry}
    if isinstance(message.get("content"), list):
        message["content"] = [_unmarked(part) for part in message["content"]]
    if message.get("role") == "tool" and not message.get("tool_call_id"):
        message["tool_call_id"] = next(iter(listed(entry.get("tool_call_ids"))), "")
    if message.get("tool_calls", ()) is None:
        del message["tool_calls"]
    return cast("Message", message)


def _unmarked(part: object) -> object:
    return {key: value for key, value in part.items() if key != "cache_control"} if isinstance(part, dict) else part


def _model_of(document: JSON) -> str | None:
    """The model's name in the run's configuration, which is an object or its JSON text."""
    config: Any = document.get("replay_config") or document.get("config")
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except ValueError:
            return None
    name = text_under(keyed(keyed(keyed(config).get("agent")).get("model")), "name")
    return name if name and name != "replay" else None
