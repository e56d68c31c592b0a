"""What leaves the house: messages without private keys, as text that is valid UTF-8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from host.messages.types import JSON, Message


def wire(messages: Sequence[Message]) -> list[JSON]:
    """The messages as a provider gets them; the input is not touched.

    Keys that begin with an underscore are an engine's own and stay here. ``tool_calls`` that is null or empty says
    nothing, but some services refuse it, so it stays here too.
    """
    return [sendable({key: value for key, value in message.items() if _is_sent(key, value)}) for message in messages]


def sendable(value: Any) -> Any:
    """A copy of any JSON value in which lone surrogates have become U+FFFD (a split pair its character again).

    The archive keeps them; JSON on the wire is UTF-8, and UTF-8 has no place for them.
    """
    if isinstance(value, str):
        return value if value.isascii() else _without_surrogates(value)
    if isinstance(value, Mapping):
        return {sendable(key): sendable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [sendable(entry) for entry in value]
    return value


def _is_sent(key: str, value: object) -> bool:
    return not key.startswith("_") and not (key == "tool_calls" and not value)


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
