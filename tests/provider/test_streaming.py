"""Streamed answers, through the real client, from a server on the loopback address."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.messages.types import JSON, Reply, Usage
from host.provider.errors import (
    BadRequest,
    EmptyReply,
    KeyRefused,
    QuotaUsedUp,
    RateLimited,
    ServerFailed,
    Service,
    ServiceError,
    TimedOut,
    Unreachable,
    Unreadable,
)
from host.provider.openai_client import OpenAIProvider
from host.provider.provider import Delta
from host.provider.streaming import Heard, events, reply_from
from host.testing import Answer, LoopbackServer, completion, fault
from host.testing.loopback import Step
from host.testing.messages import call, user

QUESTION = [user("hello?")]
EVENTS = {"Content-Type": "text/event-stream"}
SERVICE = Service("m", "http://127.0.0.1/v1")
HELLO = {"content": "hel"}, {"content": "lo"}


def chunk(delta: JSON | None = None, reason: str | None = None, **keys: Any) -> JSON:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice], **keys}


def written(*told: JSON | str) -> bytes:
    """Events as they go over the wire; a text is sent as a line of its own."""
    return "".join(f"{one}\n\n" if isinstance(one, str) else f"data: {json.dumps(one)}\n\n" for one in told).encode(errors="replace")


def streamed(*deltas: JSON, reason: str | None = "stop", usage: JSON | None = None, done: bool = True) -> bytes:
    """A usual stream: the pieces, a chunk with the reason, one with the usage, the end."""
    counted = [{"choices": [], "usage": usage}] if usage else []
    return written(*map(chunk, deltas), *[chunk({}, reason)] * (reason is not None), *counted, *["data: [DONE]"] * done)


def answer(body: bytes, **keys: Any) -> Answer:
    return Answer(body, headers=EVENTS, **keys)


def client(server: LoopbackServer, max_retries: int = 0) -> OpenAIProvider:
    return OpenAIProvider("some-model", base_url=server.base_url, api_key="sk-loopback-0123456789", timeout=20.0, max_retries=max_retries)


def asked(*steps: Step, max_retries: int = 0) -> tuple[Reply, list[Delta], list[Any]]:
    heard: list[Delta] = []
    with LoopbackServer(steps) as server:
        reply = client(server, max_retries).ask(QUESTION, on_delta=heard.append)
    return reply, heard, [request.body for request in server.requests]


def read(body: bytes, size: int = 0) -> tuple[Reply, list[Delta]]:
    """The same without a server, the bytes in pieces of a size."""
    heard: list[Delta] = []
    pieces = [body[at : at + size] for at in range(0, len(body), size)] if size else [body]
    return reply_from(pieces, Heard(heard.append), SERVICE), heard


def calls_of(*deltas: Any) -> list[Any]:
    reply, _ = read(streamed(*({"tool_calls": delta} for delta in deltas), reason="tool_calls"))
    return [(each["id"], each["function"]["name"], each["function"]["arguments"]) for each in reply.message.get("tool_calls") or []]


def piece(index: int | None, key: str | None = None, name: str | None = None, arguments: Any = None) -> JSON:
    function = {"name": name, "arguments": arguments}
    entry = {"index": index, "id": key, "type": "function", "function": {k: v for k, v in function.items() if v is not None}}
    return {k: v for k, v in entry.items() if v is not None}


# --- the whole ---------------------------------------------------------------------------------------------------


def test_a_stream_is_told_piece_by_piece_and_comes_back_whole() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    reply, heard, requests = asked(answer(streamed({"role": "assistant", "content": ""}, *HELLO, usage=usage)))
    assert heard == [Delta("hel"), Delta("lo")]
    assert reply.message == {"role": "assistant", "content": "hello"}
    assert (reply.usage, reply.finish_reason) == (Usage(12, 3, 8), "stop")
    assert requests == [{"model": "some-model", "messages": QUESTION, "stream": True, "stream_options": {"include_usage": True}}]


def test_a_question_without_a_listener_is_not_streamed() -> None:
    with LoopbackServer(["ok"]) as server:
        client(server).ask(QUESTION)
    assert "stream" not in server.requests[0].body and "stream_options" not in server.requests[0].body


def test_a_streamed_reply_is_the_plain_one() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    calls = [call("c1", "run", {"n": 1}), call("c2", "look", {})]
    plain = completion("hello", calls=calls, usage=usage, reasoning_content="hm hm", refusal=None, x_new={"a": [None]})
    entries = [{**each, "index": index} for index, each in enumerate(calls)]
    deltas = ({"role": "assistant", "reasoning_content": "hm "}, {"reasoning_content": "hm", "refusal": None}, *HELLO)
    ends = ({"tool_calls": entries[:1]}, {"tool_calls": entries[1:]}, {"x_new": {"a": [None]}})
    with LoopbackServer([plain]) as server:
        expected = client(server).ask(QUESTION)
    reply, _, _ = asked(answer(streamed(*deltas, *ends, reason="tool_calls", usage=usage)))
    assert (reply.message, reply.usage, reply.finish_reason) == (expected.message, expected.usage, expected.finish_reason)


@given(st.integers(1, 200))
def test_where_the_bytes_are_cut_makes_no_difference(size: int) -> None:
    body = b": warm\r\n\r\n" + streamed({"content": "你好 "}, {"content": "👋 \u2028"}, {"tool_calls": [piece(0, "c", "f", "{}")]}).replace(
        b"\n", b"\r\n"
    )
    body = body.replace(json.dumps("你好 ").encode(), '"你好 "'.encode())
    reply, heard = read(body, size)
    assert reply.message.get("content") == "你好 👋 \u2028"
    assert heard == [Delta("你好 "), Delta("👋 \u2028"), Delta(call="f")]


@given(st.text(), st.integers(1, 9))
def test_any_text_comes_back_as_it_was_cut(text: str, size: int) -> None:
    cuts = [text[at : at + size] for at in range(0, len(text), size)]
    reply, heard = read(streamed({"role": "assistant", "content": ""}, *({"content": cut} for cut in cuts)))
    assert reply.message.get("content") == text
    assert "".join(delta.text for delta in heard) == text


def test_a_character_cut_in_two_between_chunks_is_whole_again() -> None:
    reply, _ = read(streamed({"content": "\ud83d"}, {"content": "\ude00 \ud83d"}))
    assert reply.message.get("content") == "😀 \ud83d"


@pytest.mark.parametrize(
    "body",
    [
        b": keep-alive\n\n" + streamed(*HELLO),
        b"\xef\xbb\xbf" + streamed(*HELLO),
        b"\n\n" + streamed(*HELLO).replace(b"data: ", b"event: message\nid: 7\nretry: 10\ndata:"),
        streamed(*HELLO).replace(b"\n\n", b"\n"),
        streamed(*HELLO).replace(b"\n", b"\r"),
        streamed(*HELLO, done=False),
        streamed(*HELLO, reason=None),
        streamed(*HELLO).rstrip(),
        written({"choices": []}, {}, "data: null", "data: not json", *map(chunk, HELLO), {"choices": None}, chunk({}, "stop")),
        written({"choices": [{"index": 1, "delta": {"content": "other"}}]}, chunk(HELLO[0]), chunk(HELLO[1], "stop"), chunk({})),
        written({"choices": [{"delta": HELLO[0]}]}, {"choices": [{"delta": HELLO[1], "finish_reason": "stop"}]}),
        json.dumps(chunk({"content": "hello"}, "stop"), indent=1).replace("\n", "\ndata: ").join(["data: ", "\n\n"]).encode(),
        written({"choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]}),
    ],
)
def test_streams_of_every_make_are_read(body: bytes) -> None:
    reply, heard = read(body)
    assert reply.message == {"role": "assistant", "content": "hello"}
    assert "".join(delta.text for delta in heard) == "hello"


def test_a_plain_completion_in_the_place_of_a_stream_is_told_too() -> None:
    body = completion("hello", calls=[call("c1", "run", {})], reasoning="hm", usage={"prompt_tokens": 5})
    reply, heard, _ = asked(Answer(body))
    assert reply.raw == body
    assert heard == [Delta("hello", reasoning="hm"), Delta(call="run")]


def test_a_refusal_is_told_as_text() -> None:
    reply, heard = read(streamed({"role": "assistant", "content": None, "refusal": ""}, {"refusal": "I can"}, {"refusal": "not"}))
    assert reply.message == {"role": "assistant", "content": None, "refusal": "I cannot"}
    assert [delta.text for delta in heard] == ["I can", "not"]


# --- reasoning ---------------------------------------------------------------------------------------------------


def block(text: str, index: int = 0, **keys: Any) -> JSON:
    return {"type": "reasoning.text", "index": index, "text": text, **keys}


@pytest.mark.parametrize(
    ("deltas", "key", "whole"),
    [
        ([{"reasoning": "a"}, {"reasoning": "b"}], "reasoning", "ab"),
        ([{"reasoning_content": "a"}, {"reasoning_content": "b", "content": None}], "reasoning_content", "ab"),
        ([{"reasoning": "a", "reasoning_content": "a"}, {"reasoning": "b", "reasoning_content": "b"}], "reasoning_content", "ab"),
        (
            [{"reasoning_details": [block("a")]}, {"reasoning_details": [block("b", signature="s")]}],
            "reasoning_details",
            [block("ab", signature="s")],
        ),
        ([{"reasoning_details": [block("a")]}, {"reasoning_details": [block("b", 1)]}], "reasoning_details", [block("a"), block("b", 1)]),
        (
            [{"reasoning": "a", "reasoning_details": [block("a")]}, {"reasoning": "b", "reasoning_details": [block("b")]}],
            "reasoning_details",
            [block("ab")],
        ),
    ],
)
def test_reasoning_of_every_spelling_is_carried_and_told_once(deltas: list[JSON], key: str, whole: Any) -> None:
    reply, heard = read(streamed(*deltas, {"content": "x"}))
    assert reply.message[key] == whole  # type: ignore[literal-required]
    assert "".join(delta.reasoning for delta in heard) == "ab"
    assert reply.message.get("content") == "x"


def test_encrypted_blocks_are_not_run_together() -> None:
    blocks = [{"type": "reasoning.encrypted", "data": data} for data in ("one", "two")]
    reply, _ = read(streamed(*({"reasoning_details": [each]} for each in blocks), {"content": "x"}))
    assert reply.message["reasoning_details"] == blocks


def test_content_in_parts_becomes_one_list() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply, heard = read(streamed({"content": [thinking]}, {"content": "an"}, {"content": [{"type": "text", "text": "swer"}]}))
    assert reply.message.get("content") == [thinking, {"type": "text", "text": "answer"}]
    assert heard == [Delta(reasoning="hm"), Delta("an"), Delta("swer")]


# --- calls -------------------------------------------------------------------------------------------------------

BOTH = [("a", "f", '{"n":1}'), ("b", "g", '{"n":2}')]
WHOLE = '{"n":1}', '{"n":2}'


@pytest.mark.parametrize(
    "deltas",
    [
        (
            [piece(0, "a", "f", "")],
            [piece(0, arguments='{"n"')],
            [piece(0, arguments=":1}")],
            [piece(1, "b", "g", "")],
            [piece(1, arguments=WHOLE[1])],
        ),
        (
            [piece(0, "a", "f", ""), piece(1, "b", "g", "")],
            [piece(1, arguments='{"n":')],
            [piece(0, arguments=WHOLE[0]), piece(1, arguments="2}")],
        ),
        ([piece(0, "a", "f", '{"n"')], [piece(0, "a", "f", ":1}")], [piece(1, "b", "g", '{"n":')], [piece(1, "b", "g", "2}")]),
        ([piece(0, "a", "f", WHOLE[0]), piece(1, "b", "g", WHOLE[1])],),
        ([piece(None, "a", "f", WHOLE[0]), piece(None, "b", "g", WHOLE[1])],),
        ([piece(None, "a", "f", "")], [piece(None, arguments='{"n":')], [piece(None, arguments="1}")], [piece(None, "b", "g", WHOLE[1])]),
        ([piece(0, "a", "f", WHOLE[0])], [piece(0, "b", "g", '{"n":')], [piece(0, arguments="2}")]),
        ([piece(0, "a", "f", {"n": 1}), piece(1, "b", "g", {"n": 2})],),
        ([piece(3, "a", "f", WHOLE[0])], [piece(1, "b", "g", WHOLE[1])]),
        ([piece(0, "a", "f", '{"n":')], [piece(0, "", "", "1}")], [piece(1, "b", "g", WHOLE[1])], []),
        ([piece(0, "a", "f", '{"n":')], [piece(0, "random", None, "1}")], [piece(1, "b", "g", WHOLE[1])]),
    ],
)
def test_calls_are_told_apart_however_a_service_numbers_them(deltas: tuple[list[JSON], ...]) -> None:
    assert [(key, name, json.loads(text)) for key, name, text in calls_of(*deltas)] == [(*each[:2], json.loads(each[2])) for each in BOTH]


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_ids_get_one_each(index: int | None) -> None:
    found = calls_of([piece(index, name="f", arguments=WHOLE[0])], [piece(index, name="f", arguments=WHOLE[1])])
    assert [each[1:] for each in found] == [("f", WHOLE[0]), ("f", WHOLE[1])]
    assert all(each[0] for each in found) and found[0][0] != found[1][0]


@pytest.mark.parametrize("pieces", [("proces", "s"), ("ask", "k"), ("list", "_files", "s"), ("process", "process")])
def test_the_end_of_a_name_may_be_a_letter_that_it_has_already(pieces: tuple[str, ...]) -> None:
    whole = pieces[0] if pieces[0] == pieces[1] else "".join(pieces)
    first, *others = pieces
    assert calls_of([piece(0, "a", first)], *([piece(0, name=each)] for each in others)) == [("a", whole, "")]


def test_the_name_of_a_call_is_told_once_and_may_come_in_pieces() -> None:
    _, heard = read(streamed({"tool_calls": [piece(0, "a", "read_")]}, {"tool_calls": [piece(0, name="file")]}))
    assert [delta.call for delta in heard] == ["read_"]
    assert calls_of([piece(0, "a", "read_")], [piece(0, name="file")], [piece(0, name="read_file")]) == [("a", "read_file", "")]


def test_keys_that_nobody_knows_stay_at_their_call() -> None:
    extra = {"google": {"thought_signature": "s"}}
    reply, _ = read(streamed({"tool_calls": [{**piece(0, "a", "f", "{}"), "extra_content": extra}]}, reason="tool_calls"))
    assert reply.message.get("tool_calls") == [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra}
    ]


@pytest.mark.parametrize(
    "junk", [None, "x", {}, [None], ["x"], [{}], [{"function": "f"}], [{"index": "0", "id": 7, "function": {"name": 3}}]]
)
def test_junk_in_the_place_of_calls_does_no_harm(junk: Any) -> None:
    reply, _ = read(streamed({"content": "x", "tool_calls": junk}))
    assert reply.message.get("content") == "x"


# --- usage -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ([chunk({"content": "x"}, usage={"prompt_tokens": 9, "completion_tokens": n}) for n in (1, 2, 3)], Usage(9, 3)),
        ([chunk({"content": "x"}, usage={"prompt_tokens": 9}), {"choices": [], "usage": {"prompt_tokens": 0}}], Usage(9)),
        ([chunk({"content": "x"}, usage={"prompt_tokens": 9}), {"choices": [], "usage": None}], Usage(9)),
        ([chunk({"content": "x"}, x_groq={"usage": {"prompt_tokens": 9}})], Usage(9)),
        ([{"choices": [{"index": 0, "delta": {"content": "x"}, "usage": {"prompt_tokens": 9, "cached_tokens": 4}}]}], Usage(9, 0, 4)),
        ([chunk({"content": "x"}), {"choices": [], "timings": {"prompt_n": 2, "cache_n": 7, "predicted_n": 1}}], Usage(9, 1, 7)),
        ([chunk({"content": "x"}, usage="many"), {"choices": [], "usage": []}], None),
    ],
)
def test_the_last_usage_that_counts_anything_is_the_answers(told: list[JSON], usage: Usage | None) -> None:
    assert read(written(*told, chunk({}, "stop"), "data: [DONE]"))[0].usage == usage


# --- failures ----------------------------------------------------------------------------------------------------

OVERFLOW = {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}


@pytest.mark.parametrize(
    ("event", "kind", "code"),
    [
        ({"error": OVERFLOW}, BadRequest, "context_length_exceeded"),
        ({"type": "response.failed", "response": {"status": "failed", "error": OVERFLOW}}, BadRequest, "context_length_exceeded"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, ServerFailed, "overloaded_error"),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}, RateLimited, "rate_limit_exceeded"),
        ({"error": {"code": 429, "message": "slow"}}, RateLimited, "429"),
        ({"error": {"code": "401", "message": "who"}}, KeyRefused, "401"),
        ({"error": {"code": "insufficient_quota", "message": "none"}, "choices": []}, QuotaUsedUp, "insufficient_quota"),
        ({"error": "plain words"}, ServiceError, None),
        ({"error": {"message": "m", "type": "server_error", "code": None}}, ServerFailed, "server_error"),
        ({"choices": [{"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "m"}}]}, ServerFailed, "502"),
        ("event: error\ndata: " + json.dumps(OVERFLOW), BadRequest, "context_length_exceeded"),
    ],
)
@pytest.mark.parametrize("before", [(), HELLO])
def test_an_error_inside_a_stream_is_the_error(
    event: JSON | str, kind: type[ServiceError], code: str | None, before: tuple[JSON, ...]
) -> None:
    heard: list[Delta] = []
    with LoopbackServer([answer(written(*map(chunk, before), event))]) as server, pytest.raises(ServiceError) as caught:
        client(server).ask(QUESTION, on_delta=heard.append)
    assert (type(caught.value), caught.value.code) == (kind, code)
    assert caught.value.detail and caught.value.body
    assert len(heard) == len(before)


def test_a_stream_that_breaks_off_is_asked_for_again_while_nothing_was_told() -> None:
    silent = answer(written(chunk({"role": "assistant", "content": ""})))
    reply, heard, requests = asked(silent, answer(streamed(*HELLO)), max_retries=1)
    assert (reply.message.get("content"), len(requests), len(heard)) == ("hello", 2, 2)


@pytest.mark.parametrize(
    "cut", [answer(written(*map(chunk, HELLO))), Answer(written(*map(chunk, HELLO)), headers={**EVENTS, "Content-Length": "9999"})]
)
def test_a_stream_that_breaks_off_in_the_middle_of_its_words_is_an_error(cut: Answer) -> None:
    heard: list[Delta] = []
    with LoopbackServer([cut], repeat=True) as server, pytest.raises(Unreachable):
        client(server, max_retries=3).ask(QUESTION, on_delta=heard.append)
    assert (len(heard), len(server.requests)) == (2, 1)


def test_a_stream_that_breaks_off_after_the_reason_is_whole() -> None:
    body = streamed(*HELLO, done=False)
    reply, _, _ = asked(Answer(body, headers={**EVENTS, "Content-Length": str(len(body) + 100)}))
    assert (reply.message.get("content"), reply.usage) == ("hello", None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        b": warm\n\n",
        b"data: [DONE]\n\n",
        written({"choices": []}, "data: [DONE]"),
        streamed({"role": "assistant"}, reason=None),
    ],
)
def test_a_stream_without_an_answer_is_an_empty_reply(body: bytes) -> None:
    with LoopbackServer([answer(body)]) as server, pytest.raises(EmptyReply):
        client(server).ask(QUESTION, on_delta=lambda delta: None)


def test_a_choice_that_says_nothing_is_a_reply() -> None:
    reply, heard, _ = asked(answer(streamed({"role": "assistant", "content": ""}, usage={"prompt_tokens": 36_000})))
    assert (reply.message.get("content"), reply.finish_reason, reply.usage, heard) == ("", "stop", Usage(36_000), [])


@pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>", b"[]", b"\xff\xfe", b"{not json"])
def test_what_is_no_stream_is_unreadable(body: bytes) -> None:
    with LoopbackServer([answer(body)]) as server, pytest.raises(Unreadable):
        client(server).ask(QUESTION, on_delta=lambda delta: None)


def test_a_refusal_by_status_keeps_its_class_body_and_limits() -> None:
    step = fault(
        429, "slow down", code="rate_limit_exceeded", headers={"Retry-After": "40", "X-RateLimit-Remaining-Tokens": "0", "X-Other": "1"}
    )
    with LoopbackServer([step]) as server, pytest.raises(RateLimited) as caught:
        client(server).ask(QUESTION, on_delta=lambda delta: None)
    assert (caught.value.retry_after, caught.value.code) == (40.0, "rate_limit_exceeded")
    assert caught.value.headers == {"retry-after": "40", "x-ratelimit-remaining-tokens": "0"}
    assert caught.value.body["error"]["message"] == "slow down"


def test_a_stream_that_only_keeps_the_line_warm_times_out() -> None:
    with LoopbackServer([answer(b": warm\n\n" * 2_000, drip=0.02)]) as server, pytest.raises(TimedOut):
        client(server).ask(QUESTION, timeout=0.5, on_delta=lambda delta: None)


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, RuntimeError])
def test_what_the_listener_raises_ends_the_call_as_it_is(interrupt: type[BaseException]) -> None:
    def stop(delta: Delta) -> None:
        raise interrupt("enough")

    with LoopbackServer([answer(streamed(*HELLO)), "next"]) as server:
        with pytest.raises(interrupt, match="enough"):
            client(server, max_retries=2).ask(QUESTION, on_delta=stop)
        assert len(server.requests) == 1
        assert client(server).ask(QUESTION).message.get("content") is not None


def test_only_objects_and_the_end_are_events() -> None:
    lines = b'data: 1\n\ndata: {"a": 1}\n\nnoise\n\ndata: {"b":\ndata: 2}\n\ndata: [DONE]\n\n'
    assert list(events([lines])) == [{"a": 1}, {"b": 2}, "[DONE]"]


NAMES = """choices delta message index content refusal reasoning reasoning_details tool_calls function name arguments id type text
    summary thinking finish_reason usage prompt_tokens error code response x_groq role"""
KEYS = st.sampled_from(NAMES.split())
JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1, 2), st.sampled_from(["", "stop", "text", "x", "\ud83d"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
JUNK_CHOICES = st.lists(
    st.fixed_dictionaries({"delta": st.dictionaries(KEYS, JUNK, max_size=4)}, optional={"finish_reason": JUNK}), max_size=2
)


@settings(max_examples=200)
@given(st.lists(st.one_of(JUNK, st.fixed_dictionaries({"choices": JUNK_CHOICES})), max_size=5))
def test_whatever_a_stream_holds_it_is_a_reply_or_an_error_of_ours(told: list[Any]) -> None:
    try:
        reply, _ = read(written(*told, "data: [DONE]"))
    except ServiceError:
        return
    assert isinstance(reply.message["role"], str)
    assert all(each["id"] and isinstance(each["function"]["arguments"], str) for each in reply.message.get("tool_calls") or [])
