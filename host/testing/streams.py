"""Chat completions as services stream them: whole, or with the faults that streams have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from host.messages.types import JSON

PIECE_CHARS = 7  # of a text: small enough that words are cut in two
IN_PIECES = ("reasoning", "reasoning_content", "content")  # keys of a message, in the order in which models tell them
COMMENT = b": still at it\n\n"
DONE = b"data: [DONE]\n\n"

UsageIn = Literal["asked", "last", "every", "none", "missing"]
"""Where a stream counts: at the end if it was asked to, at the end in any case, in every chunk, as null at the end, nowhere."""

Frames = tuple[bytes, ...]
"""What is sent at once, piece by piece."""


@dataclass(frozen=True)
class Stream:
    """A reply (a text, or the body of a completion) that is streamed in a way of its own.

    ``delay`` is in seconds before the first chunk, ``drip`` between two; ``cut`` breaks the connection after so many chunks;
    ``done``: whether ``[DONE]`` ends it; ``error`` is an event that comes in place of all after the first ``error_after`` chunks;
    ``comments``: a comment line stands before every chunk. To who did not ask for a stream it is a plain answer: the reply, the
    error with status 200, or half of the bytes where the connection is cut.
    """

    reply: str | JSON
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    done: bool = True
    error: JSON | None = None
    error_after: int = 1
    usage: UsageIn = "asked"
    comments: bool = False


def can_be_streamed(body: Any) -> bool:
    """Whether it is the body of a completion: it holds choices with messages."""
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices:
        return False
    return all(isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices)


def frames_of(stream: Stream, body: JSON, *, wants_usage: bool) -> Frames:
    """The events of a stream whose reply is this completion, as bytes."""
    events = list(_counted(list(chunks(body)), body.get("usage"), _place_of_usage(stream.usage, wants_usage)))
    if stream.error is not None:
        events = [*events[: stream.error_after], stream.error]
    before = COMMENT if stream.comments else b""
    frames = [before + b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]
    return (*frames, DONE) if stream.done and stream.error is None else tuple(frames)


def chunks(body: JSON) -> Iterator[JSON]:
    """A completion in chunks without any usage: the role, the pieces of reasoning, text and arguments, the reason to end."""
    head = {key: value for key, value in body.items() if key not in ("choices", "usage")} | {"object": "chat.completion.chunk"}
    for at, choice in enumerate(body["choices"]):
        index = choice.get("index", at)
        for delta in _deltas(choice["message"]):
            yield head | {"choices": [{"index": index, "delta": delta, "finish_reason": None}]}
        yield head | {"choices": [{"index": index, "delta": {}, "finish_reason": choice.get("finish_reason")}]}


def _deltas(message: JSON) -> Iterator[JSON]:
    plain = {key: value for key, value in message.items() if key not in (*IN_PIECES, "tool_calls")}
    yield {"role": "assistant", "content": "" if isinstance(message.get("content"), str) else None, **plain}
    for key in IN_PIECES:
        value = message.get(key)
        if isinstance(value, str):
            yield from ({key: piece} for piece in _pieces(value))
        elif value is not None:
            yield {key: value}
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield from ({"tool_calls": [{"index": index, **part}]} for part in _parts_of(call))


def _parts_of(call: JSON) -> Iterator[JSON]:
    function = call.get("function") or {}
    yield {**call, "function": {**function, "arguments": ""}}
    yield from ({"function": {"arguments": piece}} for piece in _pieces(function.get("arguments") or ""))


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS))


def _place_of_usage(usage: UsageIn, wanted: bool) -> UsageIn:
    if usage != "asked":
        return usage
    return "last" if wanted else "missing"


def _counted(events: list[JSON], usage: Any, place: UsageIn) -> Iterator[JSON]:
    """The chunks with the usage where it belongs."""
    yield from ({**event, "usage": usage} for event in events) if place == "every" else events
    if place in ("last", "none"):
        yield {**events[-1], "choices": [], "usage": usage if place == "last" else None}
