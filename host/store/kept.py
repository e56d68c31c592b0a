"""What a store reads off a message when it keeps it: the same in every store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, MutableMapping

from host.messages.canonical import canonical
from host.messages.reading import call_id, call_name, calls_of, tool_call_id
from host.messages.types import JSON, Message

SHOWN = 2_000  # characters of an odd message that quarantine keeps
ERASED = "[erased by ctxhost archive forget]"
DAMAGED = "[damaged: see ctxhost archive verify]"
UNSTORABLE = (TypeError, ValueError, RecursionError)  # what ``bytes_to_keep`` raises for a message that JSON cannot hold


def bytes_to_keep(message: Message) -> bytes:
    """The canonical bytes; raises one of UNSTORABLE."""
    if not isinstance(message, dict):
        raise TypeError(f"a message is an object, not {type(message).__name__}")
    return canonical(message)


def message_of(body: bytes) -> Message:
    """A message from its canonical bytes."""
    message: Message = json.loads(body.decode("utf-8", "surrogatepass"))
    return message


def object_in(text: object) -> JSON | None:
    """The JSON object that a column holds; None where it holds none, which is damage."""
    try:
        held = json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def erased(role: str) -> Message:
    """What an old view shows in the place of a message that was forgotten."""
    return {"role": role, "content": ERASED}


def damaged(role: str) -> Message:
    """What a view shows in the place of a message whose bytes cannot be read."""
    return {"role": role, "content": DAMAGED}


def fault_of(error: BaseException) -> str:
    """Why a message is in quarantine."""
    return f"{type(error).__name__}: {error}"


def shown(message: object) -> str:
    """What quarantine keeps of a message that cannot be kept."""
    try:
        return printable(repr(message)[:SHOWN])
    except Exception as fault:  # noqa: BLE001  a foreign object's repr: its fault is shown in its place
        return f"<no repr: {type(fault).__name__}>"


def role_of(message: Message) -> str:
    """The role for the table's column, empty where there is none."""
    return printable(str(message.get("role") or ""))


def tool_of(message: Message, called: MutableMapping[str, str], earlier: Callable[[], Iterable[Message]] = tuple) -> str:
    """The names of the tools that a message calls or answers, one per line.

    Its calls are noted in ``called``, name by id. ``earlier`` gives messages with calls, newest first; it is asked where
    the call that is answered was not noted.
    """
    if message.get("role") != "tool":
        calls = calls_of(message)
        called.update((call_id(call), call_name(call)) for call in calls)
        return printable("\n".join(dict.fromkeys(filter(None, map(call_name, calls)))))
    if named := message.get("name") or message.get("tool_name"):
        return printable(str(named))
    answered = tool_call_id(message)
    if answered not in called:
        for caller in earlier():
            for call in reversed(calls_of(caller)):
                called.setdefault(call_id(call), call_name(call))
    return printable(called.get(answered, ""))


def printable(text: str) -> str:
    """The text with what UTF-8 cannot hold replaced; for columns that are only looked at."""
    return text.encode("utf-8", "replace").decode("utf-8")
