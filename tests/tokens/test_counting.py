"""Counting what goes over the wire."""

from __future__ import annotations

import argparse
import base64
import inspect
import json
import random
import time
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.types import Message
from host.tokens import IMAGE_TOKENS, MESSAGE_OVERHEAD, Counter, Estimator, MessageCounter
from host.tokens.vocabulary import load_encoding

COUNTER = Counter()
BOTH = pytest.mark.parametrize("counter", [COUNTER, Estimator()], ids=["vocabulary", "estimate"])
CASES = {
    case["id"]: case
    for line in (Path(__file__).parents[1] / "given" / "cases.jsonl").read_text().splitlines()
    if (case := json.loads(line))["kind"] == "tokens"
}
PROSE = inspect.getsource(typing) + inspect.getsource(argparse)
PICTURE = "data:image/png;base64," + "QUJD" * 350_000


def user(content: Any) -> Message:
    return cast(Message, {"role": "user", "content": content})


def vocabulary_count(text: str, name: str = "o200k_base") -> int:
    encoding = load_encoding(name)
    assert encoding is not None
    return len(encoding.encode_ordinary(text))


@BOTH
@pytest.mark.parametrize("case", ["C143", "C144"])
def test_special_tokens_are_text(counter: MessageCounter, case: str) -> None:
    assert counter.text(CASES[case]["input"]["text"]) >= CASES[case]["expected"]["tokens_at_least"]


@BOTH
@given(text=st.text(st.characters(exclude_categories=()), max_size=300))
def test_every_text_has_a_count(counter: MessageCounter, text: str) -> None:
    assert (counter.text(text) > 0) == bool(text)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
def test_ordinary_text_is_counted_exactly(model: str) -> None:
    text = (PROSE * 3)[:200_000] + "上下文压缩，" * 2_000
    name = {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base"}[model]
    assert Counter(model).text(text) == vocabulary_count(text, name)


SCRAPS = ["word", "Don't", "THE", " ", "\n", "\r\n", "  ", ". ", "'s", "9", "1234", "上下", "，", "é", "e\u0301", "_x", "/", "+", "©", "ß"]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
def test_cutting_into_pieces_changes_nothing(seed: int, model: str) -> None:
    text = "".join(random.Random(seed).choices(SCRAPS, k=6_000))
    name = {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base"}[model]
    assert Counter(model).text(text) == vocabulary_count(text, name)


def _random(alphabet: str, length: int) -> str:
    return "".join(random.Random(1).choices(alphabet, k=length))


LONG: dict[str, Callable[[int], str]] = {
    "english": lambda size: (PROSE * (size // len(PROSE) + 1))[:size],
    "one letter": lambda size: "a" * size,
    "blanks": lambda size: " " * size,
    "base64": lambda size: base64.b64encode(random.Random(1).randbytes(size))[:size].decode(),
    "chinese": lambda size: "".join(_random("的一是在不了有和人这中大为上个国我以要他，。", 9) for _ in range(size // 27)),
    "letters": lambda size: _random("abcdefghijklmnopqrstuvwxyz", size),
    "mixed": lambda size: PROSE[: size // 2] + LONG["base64"](size // 4) + "\n" * 99 + LONG["chinese"](size // 4),
}


@pytest.mark.parametrize("kind", LONG)
def test_a_long_text_is_sampled_within_three_percent(kind: str) -> None:
    text = LONG[kind](600_000)
    assert COUNTER.text(text) == pytest.approx(Counter(sampled=False).text(text), rel=0.03)


@pytest.mark.parametrize("kind", LONG)
def test_no_kind_of_long_text_takes_much_longer_than_english(kind: str) -> None:
    def seconds(text: str) -> float:
        started = time.process_time()
        COUNTER.text(text)
        return time.process_time() - started

    english, text = LONG["english"](1_000_000), LONG[kind](1_000_000)
    pairs = [(seconds(english), seconds(text)) for _ in range(9)]  # in turns, so that both meet the same load
    assert min(other for _, other in pairs) < 4 * min(reference for reference, _ in pairs)


@pytest.mark.parametrize("run", ["a", " ", "\t", "-", "ab", "\0", "\ud800"])
def test_a_run_neither_raises_nor_takes_quadratic_time_C145(run: str) -> None:
    started = time.monotonic()
    assert Counter(sampled=False).text(run * 1_000_000) > 0
    assert time.monotonic() - started < 2


@BOTH
def test_chinese_is_not_a_quarter_of_its_length_C156(counter: MessageCounter) -> None:
    assert counter.text("上下文压缩" * 1000) >= CASES["C156"]["expected"]["estimate_at_least"]


@BOTH
@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": PICTURE}},
        {"type": "image_url", "image_url": PICTURE},
        {"type": "input_image", "image_url": PICTURE},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 9_000}},
        {"type": "image_generation_call", "result": "QUJD" * 9_000},
        {"type": "tool_result", "content": [{"type": "image", "source": {"type": "base64", "data": "QUJD" * 9_000}}]},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64," + "QUJD" * 9_000}},
        {"type": "input_audio", "input_audio": {"format": "wav", "data": "QUJD" * 9_000}},
    ],
    ids=lambda part: part["type"],
)
def test_a_picture_has_a_flat_cost_C149(counter: MessageCounter, part: dict[str, Any]) -> None:
    assert IMAGE_TOKENS <= counter.message(user([{"type": "text", "text": "look"}, part])) < IMAGE_TOKENS + 60


@BOTH
def test_pictures_of_the_cases(counter: MessageCounter) -> None:
    assert counter.messages([user([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": PICTURE}}])]) < 5_000
    assert counter.messages(CASES["C152"]["input"]["messages"]) >= 200


@BOTH
@pytest.mark.parametrize(
    "extra",
    [
        {"tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "write", "arguments": '{"a": "some words of text"}'}}]},
        {"tool_calls": [{"id": "call_1", "function": {"name": "write", "arguments": {"a": "never was text"}}}]},
        {"reasoning_content": "I should first look at the file"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "look at the file"}]},
        {"codex_reasoning_items": [{"encrypted_content": "some words"}]},
        {"name": "a long name of a participant"},
        {"vendor_key": {"nested": ["some", "words", "here"]}},
    ],
    ids=lambda extra: next(iter(extra)),
)
def test_everything_that_is_sent_is_counted(counter: MessageCounter, extra: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"role": "assistant", "content": "hi"}
    assert counter.message(cast(Message, plain | extra)) >= counter.message(cast(Message, plain)) + 4


@BOTH
@pytest.mark.parametrize(
    "extra", [{"content": None}, {"tool_calls": None}, {"tool_calls": []}, {"_db_id": "x" * 99}, {"content": ""}, {"reasoning": ""}]
)
def test_empty_and_private_keys_are_free(counter: MessageCounter, extra: dict[str, Any]) -> None:
    assert counter.message(cast(Message, {"role": "assistant"} | extra)) == MESSAGE_OVERHEAD


@BOTH
@given(
    content=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_no_content_is_too_strange_to_count(counter: MessageCounter, content: Any) -> None:
    assert counter.message(user(content)) >= MESSAGE_OVERHEAD


@BOTH
def test_system_prompt_and_tools_are_part_of_the_request_C153(counter: MessageCounter) -> None:
    schema = {"type": "object", "properties": {f"field_{n}": {"type": "string", "description": "a short text"} for n in range(25)}}
    tools = [{"type": "function", "function": {"name": f"tool_{n}", "description": "does it", "parameters": schema}} for n in range(50)]
    assert len(json.dumps(tools)) >= 80_000
    system: Message = {"role": "system", "content": PROSE[:20_000]}
    assert counter.messages([system, user("hi")]) + counter.tools(tools) >= CASES["C153"]["expected"]["estimate_at_least"]
