"""The loopback server, spoken to with the standard library's client."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from host.testing import Answer, LoopbackServer, completion, fault
from host.testing.messages import call, user


def post(server: LoopbackServer, body: Any = None, *, raw: bytes | None = None) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=10)
    sent = json.dumps(body if body is not None else {"messages": []}).encode() if raw is None else raw
    connection.request("POST", "/v1/chat/completions", sent, {"Authorization": "Bearer k"})
    response = connection.getresponse()
    return response.status, response.read(), dict(response.getheaders())


def test_a_text_step_is_a_completion_with_usage() -> None:
    with LoopbackServer(["hello there"]) as server:
        status, body, _ = post(server, {"messages": [user("x" * 400)]})
    answer = json.loads(body)
    assert status == 200
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "hello there"}
    assert answer["usage"]["prompt_tokens"] == len(server.requests[0].raw) // 4


def test_steps_come_in_order_and_the_last_may_repeat() -> None:
    with LoopbackServer([fault(500, "no"), {"own": "body"}, "last"], repeat=True) as server:
        statuses = [post(server)[0] for _ in range(5)]
    assert statuses == [500, 200, 200, 200, 200]
    assert len(server.requests) == 5


@pytest.mark.parametrize("repeat", [False, True])
def test_a_request_without_a_step_is_told_so(repeat: bool) -> None:
    with LoopbackServer([], repeat=repeat) as server:
        status, body, _ = post(server)
    assert status == 400
    assert "no step for request 1: 0 were scripted" in body.decode()


def test_requests_are_recorded_with_headers_and_messages() -> None:
    with LoopbackServer(["a"]) as server:
        post(server, {"messages": [user("你好 👋")], "model": "m"})
    (request,) = server.requests
    assert request.messages == [user("你好 👋")]
    assert request.headers["authorization"] == "Bearer k"
    assert request.path == "/v1/chat/completions"


def test_a_body_that_is_no_json_is_recorded_raw() -> None:
    with LoopbackServer(["a"]) as server:
        post(server, raw=b"\xff{")
    assert server.requests[0].body == b"\xff{"


def test_an_answer_in_full() -> None:
    with LoopbackServer([Answer("<html>", status=503, headers={"Retry-After": "7"})]) as server:
        status, body, headers = post(server)
    assert (status, body, headers["Retry-After"]) == (503, b"<html>", "7")


def test_a_dropped_connection_and_one_that_breaks_off() -> None:
    with LoopbackServer([Answer(drop=True), Answer(b"{}", headers={"Content-Length": "100"})]) as server:
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
            post(server)
        with pytest.raises(http.client.IncompleteRead):
            post(server)


def test_closing_does_not_wait_for_a_delayed_answer() -> None:
    begun = time.monotonic()
    with LoopbackServer([Answer(delay=60)]) as server:
        connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=0.2)
        connection.request("POST", "/v1/x", b"{}")
        with pytest.raises(TimeoutError):
            connection.getresponse()
    assert time.monotonic() - begun < 30


def test_a_completion_with_calls_and_further_keys() -> None:
    body = completion(None, calls=[call("c1", "run")], usage={"prompt_tokens": 1}, reasoning_content="hm")
    (choice,) = body["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"] == {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [call("c1", "run")]}
