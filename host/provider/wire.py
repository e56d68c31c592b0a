"""What leaves the house: messages without private keys, worded as the service takes them, as text that is valid UTF-8."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import is_
from typing import Any, cast

from host.messages.types import JSON, Message
from host.messages.violations import is_json_object
from host.transforms.sanitize import RAW

SAYS_NOTHING = {"tool": "(no output)"}
NO_TEXT = "(no text)"  # of every other role
GOES_ON = "OK."  # the assistant's, where a service wants a word of it between a result and the user
PICTURE_LEFT_OUT = "[picture: this service takes only text in results]"
NAME = re.compile(r"[^A-Za-z0-9_-]+")  # what a participant's name may not hold; 64 characters are the most
CALL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
NAMELESS = "unnamed"  # a call without a name
SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")  # the only shape of a call's id that Mistral takes

Change = Callable[[Message], Message]
"""Words one message anew; gives back the same object where it takes it as it is."""


def without_silence(message: Message) -> Message:
    """A message without text says so: many services refuse empty content. An assistant's calls are enough by themselves."""
    content = message.get("content")
    if isinstance(content, str) and content.strip():
        return message
    spoken = _spoken(content)
    if message.get("tool_calls") or message.get("function_call"):
        return _with_content(message, content if isinstance(content, str) else spoken or None)
    if not spoken and isinstance(refusal := message.get("refusal"), str):
        spoken = refusal.strip()
        message = _without(message, "refusal")
    return _with_content(message, spoken or SAYS_NOTHING.get(str(message.get("role")), NO_TEXT))


def with_system_role(message: Message) -> Message:
    """The role ``developer`` is OpenAI's own word for ``system``."""
    return cast(Message, {**message, "role": "system"}) if message.get("role") == "developer" else message


def with_plain_name(message: Message) -> Message:
    """A ``name`` of letters, digits, ``_`` and ``-``; none where nothing of it is left."""
    if "name" not in message:
        return message
    name: object = message["name"]
    plain = NAME.sub("_", name)[:64].strip("_") if isinstance(name, str) else ""
    if plain and plain == name:
        return message
    return cast(Message, {**message, "name": plain}) if plain else _without(message, "name")


def with_plain_calls(message: Message) -> Message:
    """Calls as services take them back: a name of letters, digits, ``_`` and ``-``, and one JSON object as arguments.

    What the model wrote instead is kept in the object, so that it sees its mistake.
    """
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    plain = [_plain_call(call) for call in calls]
    return message if all(map(is_, plain, calls)) else cast(Message, {**message, "tool_calls": plain})


def _plain_call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    changed: JSON = {}
    name, arguments = function.get("name"), function.get("arguments")
    if not (isinstance(name, str) and CALL_NAME.fullmatch(name)):
        changed["name"] = NAME.sub("_", name if isinstance(name, str) else "")[:64] or NAMELESS
    if not (isinstance(arguments, str) and is_json_object(arguments)):
        changed["arguments"] = json.dumps({RAW: arguments}, ensure_ascii=False) if arguments else "{}"
    return {**call, "function": {**function, **changed}} if changed else call


def without_name(message: Message) -> Message:
    """Names on results alone."""
    return message if "name" not in message or message.get("role") == "tool" else _without(message, "name")


def with_empty_for_null(message: Message) -> Message:
    """An assistant message without content as one with an empty text, for servers that take nothing but a text."""
    return _with_content(message, "") if message.get("role") == "assistant" and message.get("content") is None else message


def with_text_results(message: Message) -> Message:
    """A result of several parts as one text."""
    content = message.get("content")
    if message.get("role") != "tool" or not isinstance(content, list):
        return message
    return _with_content(message, "\n".join(map(_as_text, content)))


def with_short_ids(message: Message) -> Message:
    """Ids of nine letters and digits: the same one for a call and its result, in every request."""
    changed: JSON = {}
    if calls := message.get("tool_calls"):
        changed["tool_calls"] = [{**call, "id": _short(call.get("id"))} if isinstance(call, dict) else call for call in calls]
        changed = changed if changed["tool_calls"] != calls else {}
    if (key := message.get("tool_call_id")) is not None and _short(key) != key:
        changed["tool_call_id"] = _short(key)
    return cast(Message, {**message, **changed}) if changed else message


SAFE: tuple[Change, ...] = (without_silence, with_system_role, with_plain_name, with_plain_calls)
"""What every service takes."""


@dataclass(frozen=True)
class Dialect:
    """How a service wants a request worded.

    ``changes`` are made to each message; ``goes_on``: no user may speak right after a result. ``unwanted`` are keys of messages that
    it refuses, ``cap`` what it calls the most tokens of an answer, ``counts_streams``: it can be asked for the usage of a stream.
    """

    changes: tuple[Change, ...] = SAFE
    goes_on: bool = False
    unwanted: frozenset[str] = frozenset()
    cap: str = "max_tokens"
    counts_streams: bool = True


ANY = Dialect()


def wire(messages: Sequence[Message], dialect: Dialect = ANY) -> list[JSON]:
    """The messages as a provider gets them; the input is not touched, and a message that may go as it is is the same object.

    Keys that begin with an underscore are an engine's own and stay here. ``tool_calls`` that is null or empty says
    nothing, but some services refuse it, so it stays here too.
    """
    spoken = _going_on(messages) if dialect.goes_on else messages
    return [_sent(message, dialect) for message in spoken]


def _going_on(messages: Sequence[Message]) -> Iterator[Message]:
    before = ""
    for message in messages:
        if before == "tool" and message.get("role") == "user":
            yield {"role": "assistant", "content": GOES_ON}
        yield message
        before = str(message.get("role"))


def _sent(message: Message, dialect: Dialect) -> JSON:
    for change in dialect.changes:
        message = change(message)
    public = {key: value for key, value in message.items() if _is_sent(key, value) and key not in dialect.unwanted}
    return cast(JSON, sendable(message if len(public) == len(message) else public))


def sendable(value: Any) -> Any:
    """Any JSON value with lone surrogates as U+FFFD (a split pair as its character); the same object where it holds none.

    The archive keeps them; JSON on the wire is UTF-8, and UTF-8 has no place for them.
    """
    return value if _is_sendable(value) else _made_sendable(value)


def _is_sendable(value: Any) -> bool:
    if isinstance(value, str):
        return value.isascii() or _without_surrogates(value) is value
    if isinstance(value, dict):
        return all(map(_is_sendable, value)) and all(map(_is_sendable, value.values()))
    if isinstance(value, list):
        return all(map(_is_sendable, value))
    return not isinstance(value, Mapping | tuple)


def _made_sendable(value: Any) -> Any:
    if isinstance(value, str):
        return _without_surrogates(value)
    if isinstance(value, Mapping):
        return {sendable(key): sendable(entry) for key, entry in value.items()}
    return [sendable(entry) for entry in value] if isinstance(value, list | tuple) else value


def _is_sent(key: str, value: object) -> bool:
    return not key.startswith("_") and not (key == "tool_calls" and not value)


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _without(message: Message, unwanted: str) -> Message:
    return cast(Message, {key: value for key, value in message.items() if key != unwanted})


def _with_content(message: Message, content: Any) -> Message:
    if "content" in message and message["content"] is content:
        return message
    return cast(Message, {**message, "content": content})


def _spoken(content: Any) -> Any:
    """Content in which something is said: the same object, a list without its empty texts, or a value that is false."""
    if isinstance(content, str):
        return content if content.strip() else ""
    if not isinstance(content, list):
        return content
    parts = [part for part in content if not _is_empty_text(part)]
    return content if len(parts) == len(content) else parts


def _is_empty_text(part: Any) -> bool:
    if not isinstance(part, dict) or part.get("type") != "text":
        return False
    text = part.get("text")
    return not (isinstance(text, str) and text.strip())


def _as_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else PICTURE_LEFT_OUT


def _short(key: object) -> str:
    text = str(key)
    return text if SHORT_ID.fullmatch(text) else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:9]
