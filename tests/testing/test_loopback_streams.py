"""What the loopback server streams, counts and computes, read by the real client and by the host's own reader."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.types import JSON, Usage
from host.provider.answers import reply_of
from host.provider.errors import BadRequest, Service, ServiceError, Unreachable
from host.provider.openai_client import OpenAIProvider
from host.provider.provider import Delta
from host.provider.streaming import Heard, reply_from
from host.testing import Answer, LoopbackServer, completion, counting, fault
from host.testing.loopback import USAGES, Received, Step
from host.testing.messages import call, user
from host.testing.streams import COMMENT, DONE, PIECE_CHARS, Stream, can_be_streamed, chunks, frames_of

SERVICE = Service("m", "")
TEXT = "Six degrees, and rain in the evening."
USAGE = {"prompt_tokens": 12, "completion_tokens": 3}
BODY = completion(TEXT, usage=USAGE)
CALLS = [call("c1", "look", {"path": "a/b.py", "lines": [1, 200]}), call("c2", "run", {})]


def post(server: LoopbackServer, **keys: Any) -> tuple[int, bytes, str]:
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=10)
    connection.request("POST", "/v1/chat/completions", json.dumps({"messages": [user("hi")], **keys}).encode())
    response = connection.getresponse()
    return response.status, response.read(), response.getheader("Content-Type", "")


def events_in(body: bytes) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def asked(step: Step, **keys: Any) -> tuple[Any, list[Delta]]:
    """The reply to a streamed question, or the error in its place, and what was heard."""
    heard: list[Delta] = []
    with LoopbackServer([step]) as server:
        provider = OpenAIProvider("m", base_url=server.base_url, timeout=20.0, max_retries=0, **keys)
        try:
            return provider.ask([user("hi")], on_delta=heard.append), heard
        except ServiceError as error:
            return error, heard


@contextmanager
def client(*steps: Step, **keys: Any) -> Iterator[tuple[Any, LoopbackServer]]:
    from openai import OpenAI

    with LoopbackServer(steps, **keys) as server:
        yield OpenAI(base_url=server.base_url, api_key="not-needed", max_retries=0), server


# --- a usual stream ----------------------------------------------------------------------------------------------


def test_who_asks_for_a_stream_gets_role_pieces_reason_usage_and_end() -> None:
    with LoopbackServer([BODY]) as server:
        status, body, kind = post(server, stream=True, stream_options={"include_usage": True})
    role, *pieces, end, counted, done = events_in(body)
    assert (status, kind, done) == (200, "text/event-stream", "[DONE]")
    assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    told = [piece["choices"][0]["delta"]["content"] for piece in pieces]
    assert "".join(told) == TEXT and max(map(len, told)) == PIECE_CHARS
    assert end["choices"] == [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    assert (counted["choices"], counted["usage"]) == ([], USAGE)
    assert all("usage" not in event for event in (role, *pieces, end))


@pytest.mark.parametrize("keys", [{}, {"stream": False}, {"stream": None, "stream_options": {"include_usage": True}}])
def test_who_does_not_gets_the_whole(keys: JSON) -> None:
    with LoopbackServer([BODY]) as server:
        _, body, kind = post(server, **keys)
    assert (json.loads(body), kind) == (BODY, "application/json")


def test_no_usage_is_streamed_unasked() -> None:
    with LoopbackServer([TEXT]) as server:
        _, body, _ = post(server, stream=True)
    assert not any("usage" in event for event in events_in(body)[:-1])


@pytest.mark.parametrize("step", [{"error": {"message": "x"}}, {"choices": []}, {"choices": [{"index": 0}]}, Answer(BODY), fault(400, "x")])
def test_what_is_no_completion_or_an_answer_in_full_is_never_streamed(step: Step) -> None:
    with LoopbackServer([step, step]) as server:
        assert post(server, stream=True)[1:] == post(server)[1:]


def test_arguments_come_in_pieces_by_index() -> None:
    deltas = [event["choices"][0]["delta"] for event in chunks(completion(None, calls=CALLS))]
    parts = [part for delta in deltas for part in delta.get("tool_calls", ())]
    begins = [part for part in parts if "id" in part]
    assert [(part["index"], part["id"], part["function"]) for part in begins] == [
        (0, "c1", {"name": "look", "arguments": ""}),
        (1, "c2", {"name": "run", "arguments": ""}),
    ]
    for index, each in enumerate(CALLS):
        pieces = [part["function"]["arguments"] for part in parts if part["index"] == index]
        assert "".join(pieces) == each["function"]["arguments"] and len(pieces) > 1


def test_the_client_s_own_reader_takes_it() -> None:
    with client(completion("Hm.", calls=CALLS, usage=USAGE, reasoning_content="Let me look.")) as (openai, _):
        stream = openai.chat.completions.create(model="m", messages=[user("hi")], stream=True, stream_options={"include_usage": True})
        told = list(stream)
    first, *_, last = told
    assert first.choices[0].delta.role == "assistant" and last.usage.prompt_tokens == 12
    assert "".join(chunk.choices[0].delta.content or "" for chunk in told[:-1]) == "Hm."
    assert {part.index for chunk in told[:-1] for part in chunk.choices[0].delta.tool_calls or ()} == {0, 1}


texts = st.text(st.characters(codec=None), max_size=40)


@given(
    content=st.none() | texts,
    reasoning=st.none() | texts,
    arguments=st.lists(st.dictionaries(texts, texts | st.integers(), max_size=3), max_size=3),
    comments=st.booleans(),
)
def test_a_streamed_completion_is_read_as_the_plain_one(
    content: str | None, reasoning: str | None, arguments: list[JSON], comments: bool
) -> None:
    calls = [call(f"c{n}", f"tool_{n}", each) for n, each in enumerate(arguments)]
    more = {} if reasoning is None else {"reasoning_content": reasoning}
    body = completion(content or "x" if not calls else content, calls=calls, usage=USAGE, **more)
    frames = frames_of(Stream(body, comments=comments), body, wants_usage=True)
    plain, streamed = reply_of(json.dumps(body).encode(), SERVICE), reply_from(frames, Heard(lambda delta: None), SERVICE)
    assert can_be_streamed(body)
    assert (streamed.usage, streamed.finish_reason) == (plain.usage, plain.finish_reason)
    assert {key: value for key, value in streamed.message.items() if value} == {key: value for key, value in plain.message.items() if value}


# --- faults of streams -------------------------------------------------------------------------------------------


COUNTED: list[tuple[Any, bool, Usage | None]] = [
    ("asked", True, Usage(12, 3)),
    ("asked", False, None),
    ("last", False, Usage(12, 3)),
    ("every", False, Usage(12, 3)),
    ("none", True, None),
    ("missing", True, None),
]


@pytest.mark.parametrize(("place", "wanted", "usage"), COUNTED)
def test_a_stream_counts_where_it_is_told_to(place: Any, wanted: bool, usage: Usage | None) -> None:
    frames = frames_of(Stream(BODY, usage=place), BODY, wants_usage=wanted)
    assert reply_from(frames, Heard(lambda delta: None), SERVICE).usage == usage
    told = [event for event in events_in(b"".join(frames)) if "usage" in event]
    assert len(told) == {"every": len(frames) - 1, "missing": 0}.get(place, int(wanted or place == "last"))


def test_a_connection_that_is_cut_in_the_stream() -> None:
    for cut in range(5):
        error, heard = asked(Stream(TEXT, cut=cut))
        assert isinstance(error, Unreachable)
        assert "".join(delta.text for delta in heard) == TEXT[: PIECE_CHARS * max(0, cut - 1)]


def test_a_connection_that_is_cut_in_the_body() -> None:
    for step in (Answer(BODY, cut=40), Answer(BODY, cut=0), Stream(TEXT, cut=1)):
        with client(step) as (openai, _), pytest.raises(Exception, match=r"Connection error|peer closed|incomplete"):
            openai.chat.completions.create(model="m", messages=[user("hi")])


def test_an_error_in_the_stream_comes_after_what_was_told() -> None:
    error, heard = asked(Stream(TEXT, error={"error": {"message": "too long", "code": "context_length_exceeded"}}, error_after=3))
    assert isinstance(error, BadRequest) and error.detail == "too long"
    assert "".join(delta.text for delta in heard) == TEXT[: 2 * PIECE_CHARS]


@pytest.mark.parametrize("quirk", [{"done": False}, {"comments": True}, {"drip": 0.001}, {"delay": 0.01}])
def test_a_stream_with_a_quirk_is_still_whole(quirk: JSON) -> None:
    reply, heard = asked(Stream(BODY, **quirk))
    assert reply.message == {"role": "assistant", "content": TEXT}
    assert reply.usage == Usage(12, 3) and len(heard) > 3


def test_the_end_is_left_out() -> None:
    assert DONE not in frames_of(Stream(TEXT, done=False), BODY, wants_usage=True)
    assert frames_of(Stream(TEXT), BODY, wants_usage=True)[-1] == DONE


def test_comments_stand_where_they_are_wanted() -> None:
    plain, commented = (frames_of(Stream(TEXT, comments=each), BODY, wants_usage=True) for each in (False, True))
    assert not any(COMMENT in frame for frame in plain)
    assert [frame.removeprefix(COMMENT) for frame in commented] == list(plain) and commented[0].startswith(COMMENT)


def test_the_error_of_a_stream_is_a_body_to_who_asks_plainly() -> None:
    with LoopbackServer([Stream(TEXT, error={"error": {"message": "no"}}), Stream(TEXT)]) as server:
        assert json.loads(post(server)[1]) == {"error": {"message": "no"}}
        assert json.loads(post(server)[1])["choices"][0]["message"]["content"] == TEXT


# --- counts, functions, models, many clients ---------------------------------------------------------------------


READ: dict[str, Usage | None] = {
    "whole": Usage(1_000, 2),
    "prompt alone": Usage(1_000),
    "null": None,
    "empty": None,
    "zeros": None,
    "texts": None,
    "cached inside": Usage(1_000, 2, 500),
    "cached outside": Usage(1_000, 2, 500),
}


def test_every_way_of_counting_is_read_for_what_it_is() -> None:
    assert {name: Usage.from_provider(count(1_000, 2)) for name, count in USAGES.items()} == READ


@pytest.mark.parametrize("name", [*USAGES, "missing"])
def test_a_step_that_counts_in_a_way_of_its_own(name: str) -> None:
    with LoopbackServer([counting(name, "counted")]) as server:
        body = json.loads(post(server)[1])
    (request,) = server.requests
    assert body["choices"][0]["message"]["content"] == "counted"
    assert ("usage" in body) == (name != "missing")
    if name != "missing":
        assert body["usage"] == USAGES[name](len(request.raw) // 4, 1)


def test_a_step_may_be_a_function_of_the_request() -> None:
    def echo(received: Received) -> Step:
        return lambda again: f"{again is received}: {received.messages[-1]['content']}, {received.max_tokens}, {received.wants_usage}"

    with LoopbackServer([echo], repeat=True) as server:
        told = [json.loads(post(server, **keys)[1])["choices"][0]["message"]["content"] for keys in ({}, {"max_tokens": 7})]
    assert told == ["True: hi, 0, False", "True: hi, 7, False"]


def test_a_function_that_fails_is_told_to_the_client() -> None:
    with LoopbackServer([lambda received: str(received.body["nothing"])]) as server:
        status, body, _ = post(server)
    assert status == 400 and "the step of this request failed: KeyError('nothing')" in body.decode()


def test_the_models_are_listed_and_no_request() -> None:
    with client("hi", models=["small", {"id": "large", "max_model_len": 32_000}]) as (openai, server):
        listed = list(openai.models.list())
        assert openai.chat.completions.create(model="small", messages=[]).choices[0].message.content == "hi"
        with pytest.raises(Exception, match="nothing is at /v1/files"):
            openai.files.list()
    assert [model.id for model in listed] == ["small", "large"] and listed[1].max_model_len == 32_000
    assert len(server.requests) == 1


def test_many_clients_at_a_time_get_a_step_each() -> None:
    steps = [f"answer {n}" for n in range(40)]
    with LoopbackServer(steps) as server, ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda n: json.loads(post(server, n=n)[1])["choices"][0]["message"]["content"], range(40)))
    assert sorted(told) == sorted(steps)
    assert sorted(request.body["n"] for request in server.requests) == list(range(40))
