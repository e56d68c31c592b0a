"""An answer that comes in pieces, put together to the chat completion that the service would have given at once."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from host.messages.types import JSON, Reply, Usage
from host.provider.answers import SHOWN_BYTES, failure_in, reply_in, reply_of
from host.provider.errors import EmptyReply, Service, TimedOut, Unreachable, Unreadable
from host.provider.pieces import TEXTS, Calls, joined, longer, object_in, reasoning_in, text_in, with_details
from host.provider.provider import Delta, OnDelta

DONE = "[DONE]"
FIELD = re.compile(rb"\s*(?:\xef\xbb\xbf)?\w*:")  # how each line of a stream begins
LINE_END = re.compile(rb"[\r\n]")


class Heard:
    """Passes an answer's pieces on, and knows whether there was one: what was told cannot be asked for again."""

    def __init__(self, on_delta: OnDelta) -> None:
        self.on_delta = on_delta
        self.anything = False

    def tell(self, delta: Delta) -> None:
        """Pass a piece on, unless it is empty."""
        if delta != Delta():
            self.anything = True
            self.on_delta(delta)


def reply_from(pieces: Iterable[bytes], heard: Heard, service: Service) -> Reply:
    """Read a stream to its end, telling what comes; a whole completion in its place is understood too.

    Raises the error that the stream holds, Unreachable where it breaks off before the answer is complete, EmptyReply where
    it says nothing at all, Unreadable where it is no stream.
    """
    coming = iter(pieces)
    opening = _first_line(coming)
    if opening.lstrip()[:1] in (b"{", b"["):
        return _told(reply_of(opening + b"".join(coming), service), heard)
    if opening.strip() and not FIELD.match(opening):
        raise Unreadable(service, opening[:SHOWN_BYTES].decode("utf-8", "replace"))
    assembly = Assembly(service)
    try:
        assembly.hear_out(events(chain([opening], coming)), heard)
    except (TimedOut, Unreachable):
        if not assembly.finish_reason:  # else the answer is whole: only its usage may be missing
            raise
    return assembly.reply()


def _first_line(coming: Iterator[bytes]) -> bytes:
    """What came until the first line that is not blank was whole; it tells a stream from anything else."""
    opening = b""
    for piece in coming:
        opening += piece
        if LINE_END.search(opening.lstrip()):
            break
    return opening


def events(pieces: Iterable[bytes]) -> Iterator[str | JSON]:
    """The events of a stream: objects, and DONE. Comments, and lines that are not data, are left out.

    An object that is spread over several lines of data is one event; of a line that is no JSON nothing is made. An event that is
    called an error is one, whatever is in it.
    """
    held, called = "", ""
    for line in _lines(pieces):
        if not line.startswith("data:"):
            held = held if line.strip() else ""
            called = line[6:].strip() if line.startswith("event:") else called if line.strip() else ""
            continue
        held += line[5:].strip()
        if held.startswith(DONE):
            yield DONE
            held = ""
        elif (event := object_in(held)) is not None:
            yield {"error": event} if called == "error" and not event.get("error") else event
            held = ""


class Assembly:
    """The chunks of one answer so far."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.body: JSON = {}
        self.message: JSON = {}
        self.calls = Calls()
        self.finish_reason: str | None = None
        self.began = False
        self.done = False

    def hear_out(self, events: Iterable[str | JSON], heard: Heard) -> None:
        """Take the events up to the end of the answer, and pass on what is new in each."""
        for event in events:
            for delta in self.take(event):
                heard.tell(delta)
            if self.done:
                break

    def take(self, event: str | JSON) -> Iterator[Delta]:
        """Add one event, and tell what is new in it; raises the error that it holds."""
        if isinstance(event, str):
            self.done = True
            return
        if failure := failure_in(event, self.service):
            raise failure
        choices, groq = event.get("choices"), event.get("x_groq")
        self.body.update({key: value for key, value in event.items() if key not in ("choices", "usage") and value is not None})
        self._keep_usage(event.get("usage"))
        self._keep_usage(groq.get("usage") if isinstance(groq, dict) else None)
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in (None, 0):
                yield from self._take_choice(choice)

    def reply(self) -> Reply:
        """The answer as a whole."""
        says = any(value for key, value in self.message.items() if key != "role") or bool(self.calls.slots)
        if not self.began or (self.done and not self.finish_reason and not says):
            raise EmptyReply(self.service, "the stream held no answer")
        if not (self.finish_reason or self.done):
            raise Unreachable(self.service, "the stream broke off before the answer was complete")
        message = {"role": "assistant", "content": None} | joined(self.message)
        if self.calls.slots:
            message["tool_calls"] = [joined(call) for call in self.calls.slots]
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return reply_in({**self.body, "object": "chat.completion", "choices": [choice]}, self.service)

    def _take_choice(self, choice: JSON) -> Iterator[Delta]:
        self.began = True
        if failure := failure_in(choice, self.service):
            raise failure
        reason = choice.get("finish_reason")
        self.finish_reason = reason if isinstance(reason, str) and reason else self.finish_reason
        self._keep_usage(choice.get("usage"))
        delta = choice.get("delta")
        if not isinstance(delta, dict) and not self.message:
            delta = choice.get("message")
        if isinstance(delta, dict):
            yield _said_in(delta)
            self._merge(delta)
            for name in self.calls.take(delta.get("tool_calls")):
                yield Delta(call=name)

    def _merge(self, delta: JSON) -> None:
        for key, value in delta.items():
            if key == "reasoning_details":
                self.message[key] = with_details(self.message.get(key), value)
            elif key in TEXTS:
                self.message[key] = longer(self.message.get(key), value)
            elif key != "tool_calls" and (value not in (None, "") or key not in self.message):
                self.message[key] = value

    def _keep_usage(self, counted: Any) -> None:
        """The last usage that counts anything: some services repeat a running one, some end with zeros."""
        if isinstance(counted, dict) and (Usage.from_provider(counted) or "usage" not in self.body):
            self.body["usage"] = counted


def _told(reply: Reply, heard: Heard) -> Reply:
    """A reply that came at once, told as if it had been streamed."""
    message: Any = reply.message
    heard.tell(_said_in(message))
    for name in Calls().take(message.get("tool_calls")):
        heard.tell(Delta(call=name))
    return reply


def _said_in(message: JSON) -> Delta:
    """What a message or a piece of one says: a refusal is said too."""
    return Delta(text=text_in(message.get("content")) or text_in(message.get("refusal")), reasoning=reasoning_in(message))


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8-sig")("replace"), translate=True)
    held = ""
    for piece in pieces:
        *lines, held = (held + decoder.decode(piece)).split("\n")
        yield from lines
    yield held + decoder.decode(b"", final=True)
