"""Mending a recording: what a provider would refuse in it is repaired and counted, the rest stays the same object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from host.formats.pairing import NO_RESULT, Pairing, with_calls, without
from host.messages.reading import call_arguments, call_name, calls_of
from host.messages.types import JSON, Message, ToolCall
from host.messages.violations import ROLES, is_json
from host.transforms.sanitize import as_json

__all__ = ["MENDED", "NO_RESULT", "mend", "mended_text"]

UNNAMED_TOOL = "unnamed_tool"

MENDED: dict[str, str] = {
    "unanswered calls": "unanswered call",
    "orphan results": "orphan result",
    "repeated results": "repeated result",
    "results out of place": "result out of place",
    "repeated calls": "repeated call",
    "call ids used twice": "call id used twice",
    "call ids that were no text": "call id that was no text",
    "blank call ids": "blank call id",
    "blank names": "blank name",
    "empty call lists": "empty call list",
    "malformed calls": "malformed call",
    "arguments that were not JSON": "argument text that was not JSON",
    "unknown roles": "unknown role",
    "legacy function calls": "legacy function call",
    "entries that are no messages": "entry that is no message",
    "damaged lines": "damaged line",
    "repeated lines": "repeated line",
    "lines of abandoned branches": "line of an abandoned branch",
    "error notices of the client": "error notice of the client",
    "turns taken back": "turn taken back",
}
"""Everything that is counted: its name for many -> for one."""

ROLE_NAMES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant", "gpt": "assistant"}
"""How other recorders call the roles; a role that nobody knows becomes the user's."""


def mend(messages: Sequence[Message]) -> tuple[list[Message], dict[str, int]]:
    """A list that a provider accepts, and what had to be done for it (name of ``MENDED`` -> count).

    Unanswered calls get a stub, orphan and repeated results go, results out of place return to their call. The input is
    not touched; a call id that is used again after its result is legal and stays.
    """
    counts: Counter[str] = Counter()
    pairing = Pairing(counts)
    for message in _modern(_objects(messages, counts), counts):
        pairing.take(_legal_alone(message, counts))
    return pairing.finish(), {name: count for name, count in counts.items() if count}


def mended_text(mended: Mapping[str, int]) -> str:
    """The counts as a phrase, ``2 unanswered calls, 1 orphan result``; empty where nothing was mended."""
    return ", ".join(f"{count:,} {name if count != 1 else MENDED.get(name, name)}" for name, count in mended.items())


def _objects(entries: Sequence[object], counts: Counter[str]) -> Iterator[Message]:
    for entry in entries:
        if isinstance(entry, dict):
            yield cast("Message", entry)
        else:
            counts["entries that are no messages"] += 1


def _modern(messages: Iterable[Message], counts: Counter[str]) -> Iterator[Message]:
    """``function_call`` and the role ``function``, which knew one call at a time, as a tool call and its result."""
    newest = ""
    for index, message in enumerate(messages):
        call: object = message.get("function_call")
        if message.get("role") == "assistant" and isinstance(call, dict) and not message.get("tool_calls"):
            newest = f"call_{index}"
            counts["legacy function calls"] += 1
            made: ToolCall = {"id": newest, "type": "function", "function": cast("Any", call)}
            yield {**without(message, "function_call"), "tool_calls": [made]}
        elif message.get("role") == "function":
            yield {**message, "role": "tool", "tool_call_id": newest}
        else:
            yield message


def _legal_alone(message: Message, counts: Counter[str]) -> Message:
    """The message with everything repaired that can be seen without its neighbours."""
    changed = _with_known_role(message, counts)
    if "name" in changed and _is_blank(changed["name"]):
        changed = without(changed, "name")
        counts["blank names"] += 1
    return _with_legal_calls(changed, counts) if changed.get("role") == "assistant" else changed


def _with_known_role(message: Message, counts: Counter[str]) -> Message:
    role: object = message.get("role")
    lowered = role.lower() if isinstance(role, str) else ""
    if role == lowered and lowered in ROLES:
        return message
    counts["unknown roles"] += 1
    return {**message, "role": lowered if lowered in ROLES else ROLE_NAMES.get(lowered, "user")}


def _with_legal_calls(message: Message, counts: Counter[str]) -> Message:
    recorded: object = message.get("tool_calls")
    if recorded is None:
        return message
    if not isinstance(recorded, list) or not recorded:
        counts["empty call lists" if recorded == [] else "malformed calls"] += 1
        return without(message, "tool_calls")
    calls = [_legal_call(call, counts) for call in calls_of(message)]
    counts["malformed calls"] += len(recorded) - len(calls)
    return with_calls(message, calls)


def _legal_call(call: ToolCall, counts: Counter[str]) -> ToolCall:
    """The call with a name, and arguments that are JSON text."""
    recorded = _function_of(call)
    name, arguments = call_name(call), call_arguments(call)
    named = not _is_blank(recorded.get("name"))
    written = isinstance(recorded.get("arguments"), str) and is_json(arguments)
    if named and written:
        return call
    counts["blank names"] += not named
    counts["arguments that were not JSON"] += not written
    function = {**recorded, "name": name if named else UNNAMED_TOOL, "arguments": as_json(arguments)}
    return cast("ToolCall", {**call, "function": function})


def _function_of(call: ToolCall) -> JSON:
    function: object = call.get("function")
    return function if isinstance(function, dict) else {}


def _is_blank(value: object) -> bool:
    return not isinstance(value, str) or not value.strip()
