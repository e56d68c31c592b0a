"""An OpenAI-compatible server on 127.0.0.1 that answers what it was told to answer."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from host.messages.types import JSON, ToolCall
from host.testing.streams import Frames, Stream, can_be_streamed, frames_of

CHARS_PER_TOKEN = 4  # the usage of a text answer counts like this, so that a test can foretell it
EVENTS = {"Content-Type": "text/event-stream"}
WAITING = 64  # connections that may wait to be taken


@dataclass(frozen=True)
class Answer:
    """One HTTP answer in full, the same whether a stream was asked for or not.

    ``delay`` is in seconds before the answer, ``drip`` in seconds between its bytes; ``drop`` closes the connection
    instead of answering, ``cut`` after so many bytes of the body. A Content-Length among the headers is sent as given: a larger one
    makes an answer that breaks off. A body of several pieces is sent in chunked encoding, and then ``drip`` and ``cut`` count pieces.
    """

    body: JSON | list[Any] | str | bytes | Frames = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    drip: float = 0.0
    cut: int | None = None


@dataclass(frozen=True)
class Received:
    """One request: header names in lower case; ``body`` parsed, or the raw bytes where it was no JSON."""

    path: str
    headers: Mapping[str, str]
    body: Any
    raw: bytes = field(repr=False)

    @property
    def messages(self) -> list[JSON]:
        """The conversation that was sent."""
        messages: list[JSON] = self.body["messages"]
        return messages

    @property
    def is_streamed(self) -> bool:
        """Whether the answer is wanted as a stream."""
        return bool(self._keys.get("stream"))

    @property
    def wants_usage(self) -> bool:
        """Whether a stream shall end with its usage."""
        options = self._keys.get("stream_options")
        return isinstance(options, dict) and bool(options.get("include_usage"))

    @property
    def max_tokens(self) -> int:
        """The longest answer that was asked for, whatever the key is called; 0 where none was set."""
        found = (self._keys.get(key) for key in ("max_completion_tokens", "max_tokens"))
        return next((value for value in found if isinstance(value, int)), 0)

    @property
    def _keys(self) -> JSON:
        return self.body if isinstance(self.body, dict) else {}


Step = str | JSON | Answer | Stream | Callable[[Received], "Step"]
"""A text reply, a whole JSON body, an answer in full, a stream with faults, or a function that makes a step of the request.

Texts and the bodies of completions are streamed to whom asks for it.
"""


def completion(
    text: str | None,
    *,
    calls: Sequence[ToolCall] = (),
    usage: Mapping[str, Any] | None = None,
    finish_reason: str | None = None,
    **message_keys: object,
) -> JSON:
    """The body of a chat completion; further keywords become keys of its message."""
    message: JSON = {"role": "assistant", "content": text, **message_keys}
    if calls:
        message["tool_calls"] = list(calls)
    reason = finish_reason or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": "loopback",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": None if usage is None else dict(usage),
    }


def fault(status: int, message: str = "", *, code: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in the shape that OpenAI sends."""
    body = {"error": {"message": message, "type": "loopback_error", "param": None, "code": code}}
    return Answer(body, status=status, headers=headers or {})


USAGES: Mapping[str, Callable[[int, int], JSON | None]] = {
    "whole": lambda prompt, written: {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written},
    "prompt alone": lambda prompt, written: {"prompt_tokens": prompt},
    "null": lambda prompt, written: None,
    "empty": lambda prompt, written: {},
    "zeros": lambda prompt, written: {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "texts": lambda prompt, written: {"prompt_tokens": str(prompt), "completion_tokens": str(written)},
    "cached inside": lambda prompt, written: {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "prompt_tokens_details": {"cached_tokens": prompt // 2},
    },
    "cached outside": lambda prompt, written: {
        "input_tokens": prompt - prompt // 2,
        "cache_read_input_tokens": prompt // 2,
        "output_tokens": written,
    },
}
"""How services count one and the same request: tokens of the prompt and of what was written -> ``usage``."""


def counting(usage: str, text: str = "counted") -> Callable[[Received], Step]:
    """A step that answers with the text and counts in one of USAGES, or leaves the key out where it is "missing"."""

    def step(received: Received) -> Step:
        body = completion(text, usage=None if usage == "missing" else USAGES[usage](*_tokens(received, text)))
        return {key: value for key, value in body.items() if key != "usage"} if usage == "missing" else body

    return step


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = WAITING

    def server_bind(self) -> None:
        # the library would look up the machine's name here, which can take seconds without a network
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])


class LoopbackServer:
    """Answers the steps in order, one a request; with ``repeat`` the last one again and again.

    A context manager: inside it ``base_url`` is what a client is given and ``requests`` what came in. A request after
    the last step gets status 400 and a text that says so, and so does one whose step is a function that fails. Several clients may
    ask at a time: the steps go to the requests as they come in. ``GET /v1/models`` lists ``models``, names or whole entries, and is no
    request.
    """

    def __init__(self, steps: Iterable[Step], *, repeat: bool = False, models: Sequence[str | JSON] = ("loopback",)) -> None:
        self.steps = tuple(steps)
        self.repeat = repeat
        self.models = tuple(models)
        self.requests: list[Received] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler_for(self), bind_and_activate=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        """The address to give to a client, ``/v1`` included."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> LoopbackServer:
        self._server.server_bind()
        self._server.server_activate()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer_to(self, received: Received) -> Answer:
        """Record a request and take the next step."""
        with self._lock:
            turn = len(self.requests)
            self.requests.append(received)
        if self.repeat and self.steps:
            turn = min(turn, len(self.steps) - 1)
        if turn >= len(self.steps):
            return fault(400, f"the loopback server has no step for request {turn + 1}: {len(self.steps)} were scripted")
        return _as_answer(self.steps[turn], received)

    def wait(self, seconds: float) -> None:
        """Let time pass, but no longer than the server lives."""
        self._closing.wait(seconds)


def _as_answer(step: Step, received: Received) -> Answer:
    try:
        while callable(step):
            step = step(received)
    except Exception as error:  # noqa: BLE001  a test's own function: the client is told, for nobody sees this thread
        return fault(400, f"the step of this request failed: {error!r}")
    if isinstance(step, Answer):
        return step
    stream = step if isinstance(step, Stream) else Stream(step)
    body = _body_of(stream.reply, received)
    if received.is_streamed and can_be_streamed(body):
        frames = frames_of(stream, body, wants_usage=received.wants_usage)
        return Answer(frames, headers=EVENTS, delay=stream.delay, drip=stream.drip, cut=stream.cut)
    cut = None if stream.cut is None else len(_as_bytes(body)) // 2
    return Answer(body if stream.error is None else stream.error, delay=stream.delay, cut=cut)


def _body_of(reply: str | JSON, received: Received) -> JSON:
    return completion(reply, usage=USAGES["whole"](*_tokens(received, reply))) if isinstance(reply, str) else reply


def _tokens(received: Received, text: str) -> tuple[int, int]:
    return max(1, len(received.raw) // CHARS_PER_TOKEN), max(1, len(text) // CHARS_PER_TOKEN)


def _listed(models: Sequence[str | JSON]) -> JSON:
    entries = [{"id": model} if isinstance(model, str) else model for model in models]
    return {"object": "list", "data": [{"object": "model", "created": 0, "owned_by": "loopback", **entry} for entry in entries]}


def _handler_for(script: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # of chunked encoding; no connection is kept

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = script.answer_to(Received(self.path, headers, _parsed(raw), raw))
            script.wait(answer.delay)
            if answer.drop:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send(answer)

        def do_GET(self) -> None:
            known = self.path.split("?")[0].rstrip("/").endswith("/models")
            self.send(Answer(_listed(script.models)) if known else fault(404, f"nothing is at {self.path}"))

        def send(self, answer: Answer) -> None:
            try:
                self.send_response(answer.status)
                for name, value in _headers_of(answer).items():
                    self.send_header(name, value)
                self.end_headers()
                for piece in _pieces(answer):
                    self.wfile.write(piece)
                    script.wait(answer.drip)
            except OSError:
                self.close_connection = True  # the client did not wait for the answer, which may be what the test is about

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: standard error belongs to the test."""

    return Handler


def _headers_of(answer: Answer) -> dict[str, str]:
    length = {"Transfer-Encoding": "chunked"} if isinstance(answer.body, tuple) else {"Content-Length": str(len(_as_bytes(answer.body)))}
    return {"Content-Type": "application/json", **length, **answer.headers, "Connection": "close"}


def _pieces(answer: Answer) -> list[bytes]:
    """What is written at once; an answer that is cut has no end."""
    if isinstance(answer.body, tuple):
        pieces = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in answer.body if piece]
        return [*pieces, b"0\r\n\r\n"] if answer.cut is None else pieces[: answer.cut]
    body = _as_bytes(answer.body)[: answer.cut]
    return [body[at : at + 1] for at in range(len(body))] if answer.drip else [body]


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _as_bytes(body: JSON | list[Any] | str | bytes) -> bytes:
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()
