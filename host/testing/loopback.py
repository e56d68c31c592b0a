"""An OpenAI-compatible server on 127.0.0.1 that answers what it was told to answer."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from host.messages.types import JSON, ToolCall

CHARS_PER_TOKEN = 4  # the usage of a text answer counts like this, so that a test can foretell it


@dataclass(frozen=True)
class Answer:
    """One HTTP answer in full.

    ``delay`` is in seconds before the answer, ``drip`` in seconds between its bytes; ``drop`` closes the connection
    instead of answering. A Content-Length among the headers is sent as given: a larger one makes an answer that breaks off.
    """

    body: JSON | str | bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    drip: float = 0.0


Step = str | JSON | Answer
"""A text reply, a whole JSON body, or an answer in full."""


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


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        # the library would look up the machine's name here, which can take seconds without a network
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])


class LoopbackServer:
    """Answers the steps in order, one a request; with ``repeat`` the last one again and again.

    A context manager: inside it ``base_url`` is what a client is given and ``requests`` what came in. A request after
    the last step gets status 400 and a text that says so.
    """

    def __init__(self, steps: Iterable[Step], *, repeat: bool = False) -> None:
        self.steps = tuple(steps)
        self.repeat = repeat
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
    if isinstance(step, Answer):
        return step
    if isinstance(step, str):
        prompt, written = (max(1, size // CHARS_PER_TOKEN) for size in (len(received.raw), len(step)))
        usage = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
        return Answer(completion(step, usage=usage))
    return Answer(step)


def _handler_for(script: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = script.answer_to(Received(self.path, headers, _parsed(raw), raw))
            script.wait(answer.delay)
            if answer.drop:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send(answer)

        def send(self, answer: Answer) -> None:
            body = _as_bytes(answer.body)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
            try:
                self.send_response(answer.status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for piece in _pieces(body, answer.drip):
                    self.wfile.write(piece)
                    script.wait(answer.drip)
            except OSError:
                return  # the client did not wait for the answer, which may be what the test is about

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: standard error belongs to the test."""

    return Handler


def _pieces(body: bytes, drip: float) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))] if drip else [body]


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _as_bytes(body: JSON | str | bytes) -> bytes:
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()
