"""How each service wants a request worded."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from host.messages.types import JSON, Message
from host.provider.dialects import AZURE, DIALECTS, MISTRAL, OPENAI, dialect_for, learnt
from host.provider.errors import BadRequest, ServerFailed, Service
from host.provider.wire import ANY, GOES_ON, Dialect, wire
from host.testing.histories import histories
from host.testing.messages import call, user

SERVICE = Service("m", "http://127.0.0.1/v1")
RESULT: Message = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
CALL: Message = {"role": "assistant", "content": None, "tool_calls": [call("call_1", "run", {})]}
GROUP: list[Message] = [user("a"), CALL, RESULT, user("b")]


@pytest.mark.parametrize(
    ("url", "model", "provider", "dialect"),
    [
        ("https://api.openai.com/v1", "gpt-5", "", OPENAI),
        ("https://API.OpenAI.com/v1/", "gpt-5", "", OPENAI),
        ("https://me.openai.azure.com/openai", "x", "", AZURE),
        ("https://api.mistral.ai/v1", "x", "", MISTRAL),
        ("http://127.0.0.1:8080/v1", "mistral-small-2506", "", MISTRAL),
        ("https://openrouter.ai/api/v1", "mistralai/Mixtral-8x7B", "", MISTRAL),
        ("https://openrouter.ai/api/v1", "open-mistral-nemo", "", MISTRAL),
        ("http://127.0.0.1/v1", "x", "Mistral", MISTRAL),
        ("http://127.0.0.1:8080/v1", "qwen3", "", ANY),
        ("https://api.openai.com.evil.example/v1", "gpt-5", "", ANY),
        ("https://notopenai.azure.com/v1", "gpt-5", "", ANY),
        ("http://[broken/v1", "m", "", ANY),
        ("", "", "", ANY),
    ],
)
def test_a_service_is_known_by_its_address_its_name_or_its_model(url: str, model: str, provider: str, dialect: Dialect) -> None:
    assert dialect_for(url, model, provider) is dialect


@pytest.mark.parametrize("dialect", [known.dialect for known in DIALECTS] + [ANY])
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=30)
@given(history=histories())
def test_no_dialect_touches_what_it_is_given_or_leaves_anything_empty(dialect: Dialect, history: list[Message]) -> None:
    before = copy.deepcopy(history)
    sent = wire(history, dialect)
    assert history == before
    assert all(message.get("content") or message.get("tool_calls") for message in sent)
    assert wire(history, dialect) == sent


def test_at_mistral_the_assistant_speaks_between_a_result_and_the_user() -> None:
    sent = wire(GROUP, MISTRAL)
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent[3] == {"role": "assistant", "content": GOES_ON}
    assert [message["role"] for message in wire(GROUP)] == ["user", "assistant", "tool", "user"]


def test_at_mistral_ids_have_nine_letters_and_stay_pairs() -> None:
    sent = wire(GROUP, MISTRAL)
    assert re.fullmatch(r"[A-Za-z0-9]{9}", sent[2]["tool_call_id"])
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"]
    short: list[Message] = [{**CALL, "tool_calls": [call("abcDEF123", "run", {})]}, {**RESULT, "tool_call_id": "abcDEF123"}]
    assert wire(short, MISTRAL) == short


def test_at_mistral_calls_that_are_none_go_as_they_are() -> None:
    torn: Any = {**CALL, "tool_calls": [None, 5]}
    assert wire([torn], MISTRAL)[0]["tool_calls"][:2] == [None, 5]


def test_at_mistral_only_results_have_names() -> None:
    sent = wire([{**user("a"), "name": "anna"}, {**RESULT, "name": "run"}], MISTRAL)
    assert [message.get("name") for message in sent] == [None, "run"]


def test_the_developer_speaks_at_openai_alone() -> None:
    message: Message = {"role": "developer", "content": "be brief"}
    assert wire([message], OPENAI)[0] is message
    assert wire([message], ANY)[0]["role"] == "system"


def request(*messages: Message, **keys: Any) -> JSON:
    return {"model": "m", "messages": list(messages), **keys}


LISTED: Message = {**RESULT, "content": [{"type": "text", "text": "t"}]}
DEVELOPER: Message = {"role": "developer", "content": "x"}
NAMED: Message = {**user("q"), "name": "anna"}


@pytest.mark.parametrize(
    ("words", "asked", "changed"),
    [
        ("Unsupported parameter: 'max_tokens'", request(max_tokens=5), {"cap": "max_completion_tokens"}),
        ("Unsupported parameter: 'max_tokens'", request(), {}),
        ("Unsupported parameter: 'top_k'", request(max_tokens=5), {}),
        ("max_tokens is too large: 9. This model supports at most 5 completion tokens", request(max_tokens=9), {}),
        ("Unrecognized request argument supplied: stream_options", request(stream_options={}), {"counts_streams": False}),
        ("stream_options", request(), {}),
        ("messages.2: tool message content must be a string", request(LISTED), {"changes": 1}),
        ("messages.2: tool message content must be a string", request(RESULT), {}),
        ("Unexpected role 'user' after role 'tool'", request(*GROUP), {"goes_on": True}),
        ("Conversation roles must alternate user/assistant/user/assistant/...", request(*GROUP), {"goes_on": True}),
        ("'developer' is not one of ['system', 'assistant', 'user', 'tool']", request(DEVELOPER), {"changes": 1}),
        ("Additional properties are not allowed ('name' was unexpected)", request(NAMED), {"unwanted": frozenset({"name"})}),
        ("Additional properties are not allowed ('content' was unexpected)", request(NAMED), {}),
        ("This model's maximum context length is 8192 tokens.", request(*GROUP, LISTED, NAMED, max_tokens=5, stream_options={}), {}),
    ],
)
def test_what_refusals_teach(words: str, asked: JSON, changed: dict[str, Any]) -> None:
    taught = learnt(ANY, BadRequest(SERVICE, words), asked)
    found = {} if taught is None else {key: value for key, value in vars(taught).items() if value != vars(ANY)[key]}
    assert found.keys() == changed.keys()
    assert all(found[key] == value for key, value in changed.items() if key != "changes")


def test_the_body_of_a_refusal_teaches_too() -> None:
    refusal = BadRequest(SERVICE, "Unprocessable", body={"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"]}]})
    assert learnt(ANY, refusal, request(max_tokens=5)) == Dialect(cap="max_completion_tokens")


@pytest.mark.parametrize(
    "words",
    [
        "{'loc': ('body', 'messages', 1, 'content'), 'msg': 'Input should be a valid string', 'input': None}",
        "messages.1.content: none is not an allowed value",
        "'dict object' has no attribute 'content'",
        "content cannot be null",
        "'NoneType' object is not iterable, reading content",
        "Invalid value for 'content': expected a string, got null.",
    ],
)
def test_a_server_that_takes_no_null_gets_an_empty_text_from_then_on(words: str) -> None:
    taught = learnt(ANY, ServerFailed(SERVICE, words, status=500), request(*GROUP))
    assert taught is not None
    assert wire(GROUP, taught)[1]["content"] == ""
    assert learnt(taught, ServerFailed(SERVICE, words, status=500), {"messages": wire(GROUP, taught)}) is None


def test_what_was_learnt_is_not_learnt_twice() -> None:
    refusal = BadRequest(SERVICE, "Unexpected role 'user' after role 'tool'")
    assert learnt(MISTRAL, refusal, request(*GROUP)) is None


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("Invalid param: tools[0].function.name must match ^[a-z]+$", True),
        ("messages[1].tool_calls[0].function.name: unexpected value", True),
        ('[{"loc": ["body", "tools", 0, "function", "name"], "msg": "Extra inputs are not permitted"}]', True),
        ("Invalid param: messages[0].name", False),
        ('[{"loc": ["body", "messages", 0, "user", "name"], "msg": "Extra inputs are not permitted"}]', False),
        ("Unsupported parameter: 'name'", False),
    ],
)
def test_a_key_of_a_tool_is_no_key_of_a_message(words: str, wanted: bool) -> None:
    request: JSON = {"messages": [{"role": "user", "name": "bob", "content": "a"}], "tools": []}
    taught = learnt(ANY, BadRequest(SERVICE, words, status=400), request)
    assert (taught is None) == wanted and (wanted or (taught is not None and taught.unwanted == {"name"}))
