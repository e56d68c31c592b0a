"""Messages that real sessions hold and stores have lost: they come back byte for byte, or are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from host.messages.types import Message

MEBIBYTE = 1024 * 1024
DEEP = 500  # levels of nesting that come back
TOO_DEEP = 100_000  # levels that no reader of JSON follows


def nested(levels: int) -> Any:
    """Lists in lists."""
    value: Any = "core"
    for _ in range(levels):
        value = [value]
    return value


def user(content: Any, **more: Any) -> Message:
    """A user message with anything in it."""
    return {"role": "user", "content": content, **more}  # type: ignore[typeddict-item]


def assistant(content: Any, **more: Any) -> Message:
    """An assistant message with anything in it."""
    return {"role": "assistant", "content": content, **more}  # type: ignore[typeddict-item]


def call(id: str, name: str, arguments: Any = "{}") -> dict[str, Any]:
    """One tool call."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo=" * 4_000}}

ODD: dict[str, Callable[[], Message]] = {
    "unknown keys": lambda: user("x", x_vendor={"深": [1, None, True, {}]}, _private="kept too", timestamp=1_700_000_000.5),
    "key order": lambda: {"z": 1, "content": "x", "a": {"b": 1, "a": 2}, "role": "user"},  # type: ignore[typeddict-unknown-key]
    "list content": lambda: user([{"type": "text", "text": "see"}, {"type": "input_image", "image_url": "https://example.org/a.png"}]),
    "empty list content": lambda: user([]),
    "content null": lambda: assistant(None, tool_calls=[call("c1", "terminal", '{"command": "ls"}')]),
    "no content": lambda: {"role": "assistant", "tool_calls": None},
    "empty text": lambda: user(""),
    "NUL": lambda: {"role": "tool", "tool_call_id": "n1", "content": "W\x00s\x00l\x00 error"},
    "lone low surrogate": lambda: assistant("bad \udc81 byte"),
    "lone high surrogate": lambda: user("cut \ud83d"),
    "surrogate in a key": lambda: user("x", **{"\ud83d": "\udc00"}),
    "pair of surrogates as two": lambda: user("\ud83d" + "\ude00"),
    "not normalised": lambda: user("e\u0301 and \u00e9, \ufeffBOM, \u2028 and \u200b"),
    "line ends": lambda: user("one\r\ntwo\rthree\n\x0b\x0c\x85"),
    "quotes and backslashes": lambda: user('\\"\\\\" \\u0041 \\ud83d ' + "\\" * 7),
    "quotes by the ten thousand": lambda: user('"\\' * 40_000 + "é"),
    "SQL": lambda: user("'); DROP TABLE messages; -- %_?1:name"),
    "large image": lambda: user([IMAGE, {"type": "text", "text": "the same again"}, IMAGE]),
    "ten mebibytes": lambda: user("中é\ud83d\x00" * (10 * MEBIBYTE // 8)),
    "large key": lambda: user("x", **{"k" * 100_000: "v" * 100_000}),
    "nested deeply": lambda: user("x", tree=nested(DEEP)),
    "large numbers": lambda: user("x", n=[10**4_000, -(2**63) - 1, 2**64, 0, -0.0, 1e-320, 0.1 + 0.2, 1e308, True, False, 1, 1.0]),
    "arguments that are an object": lambda: assistant(None, tool_calls=[call("c1", "f", {"a": [1.0, 1]})]),
    "calls that are none": lambda: assistant("", tool_calls=["no call", None, {}, {"function": None}]),
    "unknown role": lambda: {"role": "critic", "content": "x"},
    "role with a lone surrogate": lambda: {"role": "u\udc81", "content": "x"},
    "no role": lambda: {"content": "x"},  # type: ignore[typeddict-item]
    "empty": lambda: Message(),  # type: ignore[typeddict-item]
}
"""Name -> a message that every store gives back byte for byte."""

NO_JSON: dict[str, Callable[[], Any]] = {
    "infinite": lambda: user("x", n=[float("inf"), float("-inf")]),
    "not a number": lambda: user("x", n=float("nan")),
    "endless integer": lambda: user("x", n=1 << 20_000),
    "whole float beyond all": lambda: user("x", n=float("1e400")),
}
"""Name -> a message that a store may give back byte for byte or refuse."""


class Mute:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


def endless() -> Message:
    """A message that contains itself."""
    message = user("x")
    message["self"] = message  # type: ignore[typeddict-unknown-key]
    return message


UNSTORABLE: dict[str, Callable[[], Any]] = {
    "a type": lambda: user(int),
    "bytes": lambda: user(b"bytes"),
    "a set": lambda: user({"a"}),
    "a key that is no text": lambda: user("x", x={("a", "b"): 1}),
    "itself": endless,
    "too deep": lambda: user("x", tree=nested(TOO_DEEP)),
    "an object without words": lambda: user(Mute()),
    "not an object": lambda: ["role", "user"],
    "nothing": lambda: None,
}
"""Name -> a message that no store can keep: NotStorable, and the rest goes on."""
