"""The bytes of a message, and what is left of them when it has to be recognised."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any, cast

from host.messages.types import Message

CACHE_KEYS = frozenset({"cache_control"})
TIME_KEYS = frozenset({"timestamp", "created_at", "updated_at", "ts"})
SIGNATURE_KEYS = frozenset(
    {
        "signature",
        "encrypted_content",
        "thought_signature",
        "thoughtSignature",
        "thinking_signature",
        "thinkingSignature",
        "reasoning_signature",
    }
)
SEALED_TYPES = frozenset({"redacted_thinking", "reasoning.encrypted"})  # their ``data`` is a signature too
CALLER_KEYS = frozenset({"arguments", "input"})  # what a tool was given: a ``signature`` in there is content
IDENTITY_BYTES = 16
DEEPEST = 600  # Python reads and writes JSON by recursion, 1,000 deep with all that called it


def canonical(message: Message) -> bytes:
    """The archive's form of a message: compact JSON, key order as received, lone surrogates kept (design, The store).

    Raises TypeError or ValueError for what JSON cannot hold: keys that are no strings, which it would turn into some, and
    what is nested so deep that a fuller stack could not read it again.
    """
    _refuse_unreadable(message, 0)
    return _json(message).encode("utf-8", "surrogatepass")


def without_private(message: Message) -> Message:
    """The message without the underscore keys of an engine's bookkeeping; the same object where there are none."""
    if not any(_is_private(key) for key in message):
        return message
    return cast(Message, {key: value for key, value in message.items() if not _is_private(key)})


def identity(message: Message) -> bytes:
    """A digest that two tellings of one message share (design, Messages and identity).

    Left out: cache markers, timestamps, reasoning signatures, underscore keys, nulls, the order of keys and the
    spelling of tool-call arguments. Never raises: a value that is no JSON counts by its ``repr``.
    """
    try:
        told = json.dumps(_essence(message), ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        told = _repr(message)
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=IDENTITY_BYTES).digest()


def _refuse_unreadable(value: object, depth: int) -> None:
    if depth > DEEPEST:
        raise ValueError(f"nested more than {DEEPEST} deep")
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no string")
            if isinstance(inner, dict | list | tuple):
                _refuse_unreadable(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            if isinstance(inner, dict | list | tuple):
                _refuse_unreadable(inner, depth + 1)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _repr(value: object) -> str:
    try:
        return repr(value)
    except RecursionError:
        return f"nested too deeply: {id(value)}"  # recognised as the same object only


def _is_private(key: object) -> bool:
    return isinstance(key, str) and key.startswith("_")


def _essence(message: object) -> object:
    if not isinstance(message, dict):
        return _bare(message)
    left_out = CACHE_KEYS | TIME_KEYS
    kept = {key: value for key, value in message.items() if value is not None and key not in left_out and not _is_private(key)}
    essence = {key: value if isinstance(value, str) else _bare(value) for key, value in kept.items()}
    if "content" in essence:
        essence["content"] = _unwrapped(essence["content"])
    return essence


def _unwrapped(content: object) -> object:
    """A single plain text part as its text: a string becomes such a list only to carry a cache marker."""
    match content:
        case [{"type": "text", "text": str(text), **others}] if not others:
            return text
    return content


def _bare(value: Any) -> Any:
    """The value without markers and signatures, at any depth but inside what a tool was given."""
    if isinstance(value, dict):
        dropped = CACHE_KEYS | SIGNATURE_KEYS
        if value.get("type") in SEALED_TYPES:
            dropped |= {"data"}
        return {key: _parsed(inner) if key in CALLER_KEYS else _bare(inner) for key, inner in value.items() if key not in dropped}
    if isinstance(value, list | tuple):
        return [_bare(inner) for inner in value]
    return value


def _parsed(arguments: object) -> object:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments
