"""The openai client against a server on the loopback address."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from host.messages.types import Message, Usage
from host.provider.errors import (
    BadRequest,
    EmptyReply,
    KeyMissing,
    KeyRefused,
    NotThere,
    PaymentDue,
    QuotaUsedUp,
    RateLimited,
    ServerFailed,
    ServiceError,
    TimedOut,
    Unreachable,
    Unreadable,
)
from host.provider.openai_client import OPENAI_URL, OpenAIProvider
from host.provider.wire import wire
from host.testing import Answer, LoopbackServer, completion, fault
from host.testing.histories import histories
from host.testing.loopback import Step
from host.testing.messages import call, user

KEY = "sk-loopback-0123456789"
QUESTION = [user("hello?")]
TOOL = {"type": "function", "function": {"name": "run", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def client(server: LoopbackServer, *, max_retries: int = 0, api_key: str | None = KEY) -> OpenAIProvider:
    return OpenAIProvider("some-model", base_url=server.base_url, api_key=api_key, timeout=20.0, max_retries=max_retries)


def failure(step: Step, **asking: Any) -> ServiceError:
    with LoopbackServer([step]) as server, pytest.raises(ServiceError) as caught:
        client(server).ask(QUESTION, **asking)
    return caught.value


def test_an_answer_comes_back_whole() -> None:
    body = completion("你好 👋", usage={"prompt_tokens": 12, "completion_tokens": 3}, reasoning_content="hm", x_new={"a": [None]})
    with LoopbackServer([body]) as server:
        reply = client(server).ask(QUESTION)
    assert reply.message == {"role": "assistant", "content": "你好 👋", "reasoning_content": "hm", "x_new": {"a": [None]}}
    assert reply.usage == Usage(12, 3)
    assert reply.finish_reason == "stop"
    assert reply.raw == body


def test_a_request_holds_what_was_asked_and_no_more() -> None:
    with LoopbackServer(["a", "b"]) as server:
        provider = client(server)
        provider.ask(QUESTION)
        provider.ask(QUESTION, tools=[TOOL], max_tokens=50)
    plain = {"model": "some-model", "messages": QUESTION}
    assert [request.body for request in server.requests] == [plain, {**plain, "tools": [TOOL], "max_tokens": 50}]
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_tool_calls_come_back() -> None:
    with LoopbackServer([completion(None, calls=[call("c1", "run", {"n": 1})])]) as server:
        reply = client(server).ask(QUESTION, tools=[TOOL])
    assert reply.message == {"role": "assistant", "content": None, "tool_calls": [call("c1", "run", {"n": 1})]}
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0}, "many"])
def test_a_missing_usage_is_none(usage: object) -> None:
    with LoopbackServer([{**completion("a"), "usage": usage}]) as server:
        assert client(server).ask(QUESTION).usage is None


def test_a_refusal_with_null_content_is_a_reply() -> None:
    with LoopbackServer([completion(None, refusal="I cannot")]) as server:
        assert client(server).ask(QUESTION).message == {"role": "assistant", "content": None, "refusal": "I cannot"}


def test_a_message_without_role_is_the_assistants() -> None:
    with LoopbackServer([{"choices": [{"message": {"content": "a"}}]}]) as server:
        reply = client(server).ask(QUESTION)
    assert reply.message == {"role": "assistant", "content": "a"}
    assert reply.finish_reason is None


@pytest.mark.parametrize(
    ("status", "kind", "label"),
    [
        (400, BadRequest, "bad_request"),
        (401, KeyRefused, "auth"),
        (402, PaymentDue, "billing"),
        (403, KeyRefused, "auth"),
        (404, NotThere, "not_found"),
        (408, TimedOut, "timeout"),
        (409, BadRequest, "bad_request"),
        (422, BadRequest, "bad_request"),
        (429, RateLimited, "rate_limit"),
        (500, ServerFailed, "server"),
        (503, ServerFailed, "server"),
    ],
)
def test_a_status_becomes_a_failure_with_the_services_words(status: int, kind: type[ServiceError], label: str) -> None:
    error = failure(fault(status, "the service's words"))
    assert type(error) is kind
    assert (error.label, error.status, error.detail) == (label, status, "the service's words")
    assert f"(HTTP {status}): the service's words" in error.what
    assert error.advice


USED_UP = "You exceeded your current quota, please check your plan and billing details."
ANSWERS_429: list[tuple[Answer, type[ServiceError]]] = [
    (fault(429, "slow down"), RateLimited),
    (fault(429, "slow down", code="insufficient_quota"), QuotaUsedUp),
    (fault(429, USED_UP), QuotaUsedUp),
    (fault(429, USED_UP, headers={"retry-after": "40"}), RateLimited),
    (fault(400, USED_UP), BadRequest),
]


@pytest.mark.parametrize(("answer", "kind"), ANSWERS_429)
def test_a_quota_that_is_used_up_is_no_limit_that_passes(answer: Answer, kind: type[ServiceError]) -> None:
    error = failure(answer)
    assert type(error) is kind
    assert ("has no quota left" in error.what and "plan and billing" in error.advice) is (kind is QuotaUsedUp)


@pytest.mark.parametrize(
    ("status", "code", "what", "advice"),
    [
        (401, None, "refused the API key in SUMMARY_KEY", "the environment variable SUMMARY_KEY"),
        (402, None, "paid first for the key in SUMMARY_KEY", "the key in SUMMARY_KEY"),
        (429, "insufficient_quota", "no quota left for the key in SUMMARY_KEY", "the key in SUMMARY_KEY"),
    ],
)
def test_what_is_wrong_with_a_key_names_the_variable_that_it_is_from(status: int, code: str | None, what: str, advice: str) -> None:
    with LoopbackServer([fault(status, code=code)]) as server, pytest.raises(ServiceError) as caught:
        OpenAIProvider("m", base_url=server.base_url, api_key=KEY, max_retries=0, key_name="SUMMARY_KEY").ask(QUESTION)
    assert what in caught.value.what and advice in caught.value.advice
    assert "model.api_key_env" not in caught.value.advice


@pytest.mark.parametrize("body", ["", "<html>Bad Gateway</html>", b"\xff\xfe", '{"error": null}', "[]", '"text"'])
def test_an_error_body_of_any_shape_keeps_its_status(body: str | bytes) -> None:
    assert failure(Answer(body, status=502)).status == 502


def test_a_dropped_connection() -> None:
    error = failure(Answer(drop=True))
    assert type(error) is Unreachable
    assert "disconnected" in error.what.lower()


def test_an_answer_that_breaks_off() -> None:
    assert type(failure(Answer(b'{"choices": [', headers={"Content-Length": "500"}))) is Unreachable


def test_nobody_at_the_address() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        provider = OpenAIProvider("m", base_url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1", max_retries=0)
        with pytest.raises(Unreachable, match="refused"):
            provider.ask(QUESTION)


def test_an_address_without_http_is_told_so() -> None:
    with pytest.raises(Unreachable, match=r"m at localhost:1/v1 could not be reached: .*protocol"):
        OpenAIProvider("m", base_url="localhost:1/v1", max_retries=0).ask(QUESTION)


def test_no_answer_in_time() -> None:
    begun = time.monotonic()
    with LoopbackServer([Answer(delay=30)]) as server, pytest.raises(TimedOut):
        client(server, max_retries=5).ask(QUESTION, timeout=0.3)
    assert time.monotonic() - begun < 10
    assert len(server.requests) == 1


def test_a_server_that_only_keeps_the_line_warm_times_out_too() -> None:
    with LoopbackServer([Answer(" " * 10_000, drip=0.05)]) as server, pytest.raises(TimedOut):
        client(server).ask(QUESTION, timeout=0.5)


def test_the_providers_own_timeout_holds_where_none_is_given() -> None:
    with LoopbackServer([Answer(delay=30)]) as server, pytest.raises(TimedOut):
        OpenAIProvider("m", base_url=server.base_url, timeout=0.3).ask(QUESTION)


@pytest.mark.parametrize("body", [b"", b"{not json", b"<html>", b"[]", b'"text"', b"\xff{}", b"null", b"[" * 100_000])
def test_a_malformed_body(body: bytes) -> None:
    assert failure(Answer(body)).label == "malformed"


@pytest.mark.parametrize("body", [{}, {"choices": None}, {"choices": ["x"]}, {"choices": [{}]}, {"choices": [{"message": "text"}]}])
def test_json_that_is_no_completion(body: dict[str, Any]) -> None:
    assert type(failure(body)) is Unreadable


def test_no_choices_is_an_empty_reply() -> None:
    assert type(failure({"choices": []})) is EmptyReply


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ({"code": 429, "message": "slow down"}, RateLimited, "slow down"),
        ({"code": "server_error", "message": "broken"}, ServerFailed, "broken"),
        ({"code": "context_length_exceeded", "message": "long"}, BadRequest, "long"),
        ({"code": 7, "message": "odd"}, ServiceError, "odd"),
        ("plain words", ServiceError, "plain words"),
    ],
)
def test_an_error_inside_a_200_is_an_error(error: object, kind: type[ServiceError], words: str) -> None:
    found = failure({"error": error})
    assert (type(found), found.detail) == (kind, words)


def test_what_may_pass_is_tried_again() -> None:
    quick = {"Retry-After": "0"}
    with LoopbackServer([fault(503, headers=quick), fault(429, headers=quick), "at last"]) as server:
        assert client(server, max_retries=2).ask(QUESTION).message.get("content") == "at last"
    assert len(server.requests) == 3


def test_a_dropped_connection_is_tried_again_after_a_pause() -> None:
    with LoopbackServer([Answer(drop=True), "back"]) as server:
        assert client(server, max_retries=1).ask(QUESTION).message.get("content") == "back"


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (fault(400), BadRequest),
        (fault(401), KeyRefused),
        (fault(404), NotThere),
        (Answer("no json"), Unreadable),
        (fault(429, headers={"Retry-After": "3600"}), RateLimited),
    ],
)
def test_what_does_not_pass_soon_is_not_tried_again(step: Step, kind: type[ServiceError]) -> None:
    with LoopbackServer([step], repeat=True) as server, pytest.raises(kind):
        client(server, max_retries=3).ask(QUESTION)
    assert len(server.requests) == 1


def test_retries_end() -> None:
    with LoopbackServer([fault(500, headers={"Retry-After": "0"})], repeat=True) as server, pytest.raises(ServerFailed):
        client(server, max_retries=2).ask(QUESTION)
    assert len(server.requests) == 3


def test_the_wait_for_a_retry_counts_against_the_timeout() -> None:
    with LoopbackServer([fault(429, headers={"Retry-After": "5"})], repeat=True) as server, pytest.raises(RateLimited) as caught:
        client(server, max_retries=2).ask(QUESTION, timeout=2.0)
    assert caught.value.retry_after == 5.0
    assert len(server.requests) == 1


@pytest.mark.parametrize("header", ["soon", "", "-3", "nan"])
def test_a_retry_after_that_says_nothing_is_none(header: str) -> None:
    assert failure(fault(429, headers={"Retry-After": header})).retry_after is None


def test_a_retry_after_may_be_a_date_or_milliseconds() -> None:
    assert failure(fault(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})).retry_after == 0.0
    later = failure(fault(429, headers={"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"})).retry_after
    assert later is not None and later > 1e6
    assert failure(fault(429, headers={"Retry-After-Ms": "1500", "Retry-After": "9"})).retry_after == 1.5


def test_the_whole_error_is_kept_for_who_reads_it() -> None:
    error = failure(fault(400, "too long", code="context_length_exceeded", headers={"X-RateLimit-Limit-Tokens": "9", "X-Request-Id": "r"}))
    assert error.body == {"error": {"message": "too long", "type": "loopback_error", "param": None, "code": "context_length_exceeded"}}
    assert (error.code, error.headers) == ("context_length_exceeded", {"x-ratelimit-limit-tokens": "9"})


@pytest.mark.parametrize(
    ("body", "kept", "code"),
    [
        ("", None, None),
        ("<html>", "<html>", None),
        ('[{"error": {"code": 400, "message": "m"}}]', [{"error": {"code": 400, "message": "m"}}], "400"),
        (
            '{"Error": {"Code": "ValidationException", "Message": "m"}}',
            {"Error": {"Code": "ValidationException", "Message": "m"}},
            "ValidationException",
        ),
        ('{"error": "bare"}', {"error": "bare"}, None),
        ("[" * 100_000, "[" * 20_000, None),
    ],
)
def test_a_body_of_any_shape_is_kept(body: str, kept: object, code: str | None) -> None:
    error = failure(Answer(body, status=400))
    assert (error.body, error.code) == (kept, code)


@pytest.mark.parametrize("step", [fault(401, f"Incorrect API key provided: {KEY}"), Answer(f"no json {KEY}"), {"error": KEY}])
def test_no_text_ever_holds_the_key(step: Step) -> None:
    error = failure(step)
    shown = "".join(traceback.format_exception(error))
    assert KEY not in shown + repr(error) + error.detail
    assert "[key]" in error.what


FOREIGN = "sk-proj-AAAABBBBCCCCDDDDEEEEFFFF"


@pytest.mark.parametrize(
    "body",
    [{"error": {"message": f"Incorrect API key provided: {FOREIGN}"}}, {"error": f"no {FOREIGN}"}, f"no {FOREIGN}", [{"x": [FOREIGN]}]],
)
@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_no_error_shows_a_key_that_a_service_echoes(body: Any, status: int) -> None:
    error = failure(Answer(body if isinstance(body, str) else json.dumps(body), status=status))
    shown = "".join(traceback.format_exception(error))
    assert "AAAABBBBCCCC" not in f"{shown}{error!r}{error.detail}{error.body}{error.code}"


CAPPED = {"model": "some-model", "messages": QUESTION}
REFUSED_CAP = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."


def test_a_refused_name_of_the_cap_is_asked_by_the_other_and_kept() -> None:
    with LoopbackServer([fault(400, REFUSED_CAP, code="unsupported_parameter"), "a", "b"]) as server:
        provider = client(server)
        assert provider.ask(QUESTION, max_tokens=50).message.get("content") == "a"
        assert provider.ask(QUESTION, max_tokens=60).message.get("content") == "b"
    asked = [{key: value for key, value in request.body.items() if key not in CAPPED} for request in server.requests]
    assert asked == [{"max_tokens": 50}, {"max_completion_tokens": 50}, {"max_completion_tokens": 60}]


def test_a_service_that_refuses_both_names_is_asked_twice() -> None:
    steps = [fault(400, "unknown parameter: max_tokens"), fault(400, "unknown parameter: max_completion_tokens")]
    with LoopbackServer(steps) as server, pytest.raises(BadRequest, match="max_completion_tokens"):
        client(server, max_retries=3).ask(QUESTION, max_tokens=50)
    assert len(server.requests) == 2


def test_a_model_that_is_known_is_asked_in_its_dialect() -> None:
    history: Any = [*QUESTION, {"role": "assistant", "content": None, "tool_calls": [call("c1", "run", {})]}]
    history += [{"role": "tool", "tool_call_id": "c1", "content": ""}, user("b")]
    with LoopbackServer(["a", "b"]) as server:
        OpenAIProvider("mistral-small", base_url=server.base_url).ask(history)
        client(server).ask(history)
    assert [[message["role"] for message in request.messages][3:] for request in server.requests] == [["assistant", "user"], ["user"]]
    assert {request.messages[2]["content"] for request in server.requests} == {"(no output)"}


def test_a_cap_that_is_too_high_is_no_matter_of_words() -> None:
    with (
        LoopbackServer([fault(400, "max_tokens: 90000 > 8192, which is the maximum allowed for this model")]) as server,
        pytest.raises(BadRequest),
    ):
        client(server).ask(QUESTION, max_tokens=90_000)
    assert len(server.requests) == 1


def test_a_service_that_refuses_stream_options_streams_without_them() -> None:
    with LoopbackServer([fault(400, "Extra inputs are not permitted: stream_options"), "a", "b"]) as server:
        provider = client(server)
        for _ in range(2):
            provider.ask(QUESTION, on_delta=lambda delta: None)
    assert ["stream_options" in request.body for request in server.requests] == [True, False, False]
    assert all(request.body["stream"] is True for request in server.requests)


def test_a_service_that_takes_only_text_in_results_gets_text() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    result: Any = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "a"}, picture, {"type": "text", "text": "b"}]}
    history: Any = [*QUESTION, {"role": "assistant", "content": None, "tool_calls": [call("c1", "run", {})]}, result]
    refusal = Answer({"error": {"code": "400", "message": "Param Incorrect", "param": "text is not set"}}, status=400)
    with LoopbackServer([refusal, "seen", "again"]) as server:
        provider = client(server)
        provider.ask(history)
        provider.ask(history)
    sent = [request.messages[-1]["content"] for request in server.requests]
    assert sent[0] == result["content"]
    assert sent[1] == sent[2] and sent[1].startswith("a\n[picture") and sent[1].endswith("\nb")


def test_a_key_that_a_service_does_not_know_is_left_out_from_then_on() -> None:
    history: Any = [*QUESTION, {"role": "assistant", "content": "a", "reasoning_content": "hm"}, user("b")]
    with LoopbackServer([fault(400, "'messages.1' : property 'reasoning_content' is unsupported"), "ok"]) as server:
        client(server).ask(history)
    assert ["reasoning_content" in request.messages[1] for request in server.requests] == [True, False]


@pytest.mark.parametrize("words", ["This model's maximum context length is 8192 tokens", "bad request", ""])
def test_a_refusal_that_is_about_something_else_is_told_at_once(words: str) -> None:
    with LoopbackServer([fault(400, words)]) as server, pytest.raises(BadRequest):
        client(server).ask(QUESTION, max_tokens=50, on_delta=lambda delta: None)
    assert len(server.requests) == 1


def test_a_call_without_id_or_with_arguments_that_are_no_text_can_be_answered() -> None:
    calls: Any = [{"type": "function", "function": {"name": "run", "arguments": {"n": 1}}}, call("c2", "run", {})]
    with LoopbackServer([completion(None, calls=calls)]) as server:
        made = client(server).ask(QUESTION).message.get("tool_calls") or []
    assert made[0]["id"] and made[0]["function"]["arguments"] == '{"n": 1}'
    assert made[1] == calls[1]


def test_a_key_with_a_line_break_works_and_one_that_no_header_carries_is_refused() -> None:
    with LoopbackServer(["ok"]) as server:
        client(server, api_key=f"{KEY}\n").ask(QUESTION)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        with pytest.raises(KeyRefused, match="no HTTP header may carry") as caught:
            client(server, api_key=f"{KEY}…x").ask(QUESTION)
    assert KEY not in str(caught.value)


def test_a_local_server_needs_no_key_and_never_gets_the_one_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    with LoopbackServer(["ok"]) as server:
        client(server, api_key=None).ask(QUESTION)
    assert server.requests[0].headers["authorization"] == "Bearer not-needed"


def test_without_address_the_environment_says_where_and_who(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(["ok"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        OpenAIProvider("m").ask(QUESTION)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_missing_key_is_told_before_anything_is_sent() -> None:
    with pytest.raises(KeyMissing) as caught:
        OpenAIProvider("gpt-5").ask(QUESTION)
    assert caught.value.label == "auth"
    assert OPENAI_URL in caught.value.what


@pytest.mark.parametrize("text", ["cut \ud83d", "bad \udc81 byte", "nul \x00", "你好 👩‍💻", ""])
def test_any_text_arrives_as_valid_utf8(text: str) -> None:
    with LoopbackServer(["ok"]) as server:
        client(server).ask([user(text)], tools=[{**TOOL, "x": text}])
    server.requests[0].raw.decode()
    assert server.requests[0].messages == wire([user(text)])


def test_a_lone_surrogate_in_an_answer_is_kept() -> None:
    with LoopbackServer([Answer(json.dumps(completion("cut \ud83d")))]) as server:
        assert client(server).ask(QUESTION).message.get("content") == "cut \ud83d"


@pytest.fixture(scope="module")
def listening() -> Iterator[tuple[LoopbackServer, OpenAIProvider]]:
    with LoopbackServer(["ok"], repeat=True) as server:
        yield server, client(server)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None)
@given(history=histories())
def test_the_client_changes_nothing_on_the_way(listening: tuple[LoopbackServer, OpenAIProvider], history: list[Message]) -> None:
    server, provider = listening
    provider.ask(history)
    assert server.requests[-1].messages == wire(history)


def test_an_interrupt_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupted)
    with LoopbackServer([fault(503)]) as server, pytest.raises(KeyboardInterrupt):
        client(server, max_retries=1).ask(QUESTION)


@pytest.mark.parametrize("step", [fault(503), fault(400, "messages: stream_options is not supported")])
def test_who_lets_time_pass_may_end_the_call_and_nothing_is_sent_any_more(step: Step) -> None:
    def stopped(seconds: float) -> None:
        raise KeyboardInterrupt

    with LoopbackServer([step, "late"]) as server:
        provider = OpenAIProvider("m", base_url=server.base_url, api_key=KEY, timeout=20.0, sleep=stopped)
        with pytest.raises(KeyboardInterrupt):
            provider.ask(QUESTION, on_delta=lambda delta: None)
        assert len(server.requests) == 1


def test_the_client_is_imported_at_the_first_question_only() -> None:
    probe = (
        "import sys; from host.provider.openai_client import OpenAIProvider; import host.provider.facts, host.provider.ask; "
        "OpenAIProvider('m', base_url='http://127.0.0.1:1/v1'); print('openai' in sys.modules, 'genai_prices' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.split() == ["False", "False"]


def test_a_provider_shows_no_secret() -> None:
    provider = OpenAIProvider("m", base_url="http://me:pass-phrase@127.0.0.1/v1", api_key=KEY)
    assert repr(provider) == "OpenAIProvider(m at http://127.0.0.1/v1)"
    assert KEY not in repr(provider.service)
