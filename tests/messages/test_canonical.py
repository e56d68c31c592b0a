"""Bytes for the archive, digests for recognising."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.canonical import canonical, identity, without_private

words = st.text('aé_\ud800\x00"', max_size=5)  # a small alphabet is quick to build

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
any_message: Any = st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "name", "odd"]), json_values)


def call(arguments: Any, **more: Any) -> Any:
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": arguments}, **more}]}


def said(content: Any, **more: Any) -> Any:
    return {"role": "user", "content": content, **more}


def test_canonical_keeps_key_order_null_and_lone_surrogates() -> None:
    message: Any = {"content": None, "role": "assistant", "x": "é\ud800\x00"}
    assert canonical(message) == b'{"content":null,"role":"assistant","x":"\xc3\xa9\xed\xa0\x80\\u0000"}'


@given(any_message)
def test_canonical_bytes_give_the_message_back(message: Any) -> None:
    told = json.loads(canonical(message).decode("utf-8", "surrogatepass"))
    assert told == message
    assert list(told) == list(message)


def test_private_keys_go_and_a_message_without_any_is_the_same_object() -> None:
    plain = said("hello")
    assert without_private(plain) is plain
    marked = said("hello", _compressed=True)
    assert without_private(marked) == plain
    assert "_compressed" in marked


SAME = [
    (call('{"a": 1, "b": 2}'), call('{"b":2,"a":1}')),
    (call('{"a":1}'), call({"a": 1})),
    (call(""), call("{}")),
    (call("{}"), {"tool_calls": call("{}")["tool_calls"], "role": "assistant"}),
    (said("hi"), said("hi", timestamp=17, cache_control={"type": "ephemeral"}, _row=3)),
    (said("hi"), said([{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}])),
    (said([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
     said([{"type": "text", "text": "a"}, {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}}])),
    (said([{"type": "thinking", "thinking": "hm", "signature": "S1"}]), said([{"type": "thinking", "thinking": "hm", "signature": "S2"}])),
    (said([{"type": "redacted_thinking", "data": "S1"}]), said([{"type": "redacted_thinking", "data": "S2"}])),
    (said("x", codex_reasoning_items=[{"id": "r", "encrypted_content": "S1"}]), said("x", codex_reasoning_items=[{"id": "r"}])),
    (call("{}", extra_content={"google": {"thought_signature": "S1"}}), call("{}", extra_content={"google": {}})),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_tellings_of_one_message_are_recognised(one: Any, other: Any) -> None:
    before = copy.deepcopy((one, other))
    assert identity(one) == identity(other)
    assert (one, other) == before


DIFFERENT = [
    (said("hi"), said("hi ")),
    (said("hi"), said("hi", name="bob")),
    (said(""), said(None)),
    (said("hi"), {"role": "assistant", "content": "hi"}),
    (said("hi"), said([{"type": "text", "text": "hi", "lang": "en"}])),
    (call('{"a": 1}'), call('{"a": 2}')),
    (call('{"signature": "x"}'), call('{"signature": "y"}')),
    (call('{"a": '), call('{"a":')),
    (said([{"type": "tool_use", "input": {"cache_control": 1}}]), said([{"type": "tool_use", "input": {}}])),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_messages_are_told_apart(one: Any, other: Any) -> None:
    assert identity(one) != identity(other)


@given(any_message)
def test_a_copy_with_other_key_order_has_the_same_identity(message: Any) -> None:
    assert identity(dict(reversed(copy.deepcopy(message).items()))) == identity(message)  # type: ignore[arg-type]


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def cyclic() -> Any:
    value: dict[str, Any] = {"role": "user"}
    value["content"] = value
    return value


@pytest.mark.parametrize(
    "odd",
    [cyclic(), said(nested(100_000)), said(object), said(b"bytes"), said({1: "a", "b": {2, 3}}), said("\ud800"), {}, None, "text", 3],
    ids=lambda odd: type(odd).__name__,
)
def test_odd_input_has_an_identity_of_its_own(odd: Any) -> None:
    assert identity(odd) == identity(odd) != identity(said("plain"))


def test_arguments_nested_beyond_the_parser_count_as_text() -> None:
    assert identity(call("[" * 100_000)) != identity(call("[" * 100_001))
