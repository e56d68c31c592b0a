"""Where cache markers go, for whom, and that what was marked once is read again."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.canonical import canonical
from host.messages.reading import calls_of, is_system, parts_of
from host.messages.types import Message
from host.provider.caching import (
    LAYOUTS,
    LOOK_BACK,
    MARKER,
    MOST_MARKERS,
    SERVICES,
    Layout,
    Ttl,
    Unmarked,
    banner,
    layout_for,
    mark,
    unmarked,
)
from host.testing.histories import assistant_messages, histories, tool_groups, user_messages

NATIVE, ENVELOPE = Layout.NATIVE, Layout.ENVELOPE
HERE = {"type": "ephemeral"}
LAYOUT = st.sampled_from(list(Layout))

# --- who understands markers ------------------------------------------------------------------------------------------

KNOWN: list[tuple[str, str, str | None, Layout | None]] = [
    ("claude-sonnet-4-5", "anthropic", None, NATIVE),
    ("claude-sonnet-4-5", "", "https://api.anthropic.com/v1", NATIVE),
    ("claude-sonnet-4-5", "", "https://gateway.example.org/anthropic", NATIVE),
    ("Claude-Opus-4.6", "custom", "https://gateway.example.org/anthropic/v1/", NATIVE),
    ("glm-5", "custom", "https://gateway.example.org/anthropic", None),
    ("MiniMax-M2", "minimax", "https://api.minimax.io/anthropic", NATIVE),
    ("MiniMax-M2", "", "https://api.minimaxi.com/anthropic/v1", NATIVE),
    ("MiniMax-M2", "minimax", "https://api.minimax.io/v1", None),
    ("anthropic/claude-sonnet-4.5", "openrouter", None, ENVELOPE),
    ("anthropic/claude-sonnet-4.5", "anthropic", "https://openrouter.ai/api/v1", ENVELOPE),
    ("moonshotai/kimi-k2", " OpenRouter ", None, ENVELOPE),
    ("qwen/qwen3-max", "openrouter", None, None),
    ("openai/gpt-5", "openrouter", None, None),
    ("qwen3-max", "nous", "https://inference-api.nousresearch.com/v1", ENVELOPE),
    ("moonshot-v1", "nous", None, ENVELOPE),
    ("qwen3-coder", "opencode", None, ENVELOPE),
    ("qwen3-coder", "opencode-zen", None, ENVELOPE),
    ("qwen3-coder", "opencode-go", None, ENVELOPE),
    ("claude-sonnet-4-5", "opencode", None, None),
    ("qwen3-max", "alibaba", None, ENVELOPE),
    ("qwen3-max", "", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", ENVELOPE),
    ("claude-sonnet-4-5", "", "https://openrouter.ai.example.org/v1", None),
    ("claude-sonnet-4-5", "", "https://notopenrouter.ai/v1", None),
    ("claude-sonnet-4-5", "", "http://localhost:8000/v1", None),
    ("claude-sonnet-4-5", "", "http://[", None),
    ("gpt-5", "openai", "https://api.openai.com/v1", None),
    ("", "", "", None),
]


@pytest.mark.parametrize(("model", "provider", "base_url", "layout"), KNOWN)
def test_markers_are_sent_only_where_they_are_understood(model: str, provider: str, base_url: str | None, layout: Layout | None) -> None:
    assert layout_for(model, provider, base_url) is layout


@pytest.mark.parametrize("rule", LAYOUTS)
def test_every_rule_is_reached(rule: Any) -> None:
    service = rule.service or SERVICES[1]
    url = f"https://{service.hosts[0] if rule.service else 'example.org'}{'/anthropic' if rule.wire else '/v1'}"
    assert layout_for((rule.models or ("any",))[0], "", url) is rule.layout


@pytest.mark.parametrize("ttl", ["5m", "1h"])
def test_the_banner_names_model_layout_and_time(ttl: Ttl) -> None:
    assert banner("claude-x", NATIVE, ttl) == f"💾 Prompt caching: ENABLED (claude-x, native layout, {ttl} TTL)"


# --- carriers ---------------------------------------------------------------------------------------------------------

CALL = {"id": "k", "type": "function", "function": {"name": "run", "arguments": "{}"}}
TEXT = {"type": "text", "text": "hi"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
ONE_PART = [{**TEXT, MARKER: HERE}]

CARRIERS: list[tuple[Any, ...]] = [  # the message, what is different in the native layout, and in the envelope
    ({"role": "user", "content": "hi"}, {"content": ONE_PART}, {"content": ONE_PART}),
    ({"role": "user", "content": ""}, {MARKER: HERE}, None),
    ({"role": "user", "content": " \n"}, {MARKER: HERE}, None),
    ({"role": "user", "content": None}, {MARKER: HERE}, None),
    ({"role": "user", "content": []}, {MARKER: HERE}, None),
    ({"role": "user", "content": [TEXT, IMAGE]}, *[{"content": [TEXT, {**IMAGE, MARKER: HERE}]}] * 2),
    ({"role": "user", "content": [TEXT, {"type": "text", "text": ""}]}, *[{"content": [*ONE_PART, {"type": "text", "text": ""}]}] * 2),
    ({"role": "user", "content": [{"type": "text", "text": ""}]}, {MARKER: HERE}, None),
    ({"role": "user", "content": [TEXT, {"type": "text", "text": None}]}, *[{"content": [*ONE_PART, {"type": "text", "text": None}]}] * 2),
    ({"role": "user", "content": [TEXT, "odd"]}, *[{"content": [*ONE_PART, "odd"]}] * 2),
    ({"role": "assistant", "content": "", "tool_calls": [CALL]}, {MARKER: HERE}, None),
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, {MARKER: HERE}, None),
    ({"role": "assistant", "content": "hi", "tool_calls": [CALL]}, {"content": ONE_PART}, {"content": ONE_PART}),
    ({"role": "assistant", "content": ""}, None, None),
    ({"role": "assistant", "content": None}, None, None),
    (
        {"role": "assistant", "content": [TEXT, {"type": "thinking", "thinking": "hm"}]},
        *[{"content": [*ONE_PART, {"type": "thinking", "thinking": "hm"}]}] * 2,
    ),
    ({"role": "tool", "tool_call_id": "k", "content": "hi"}, {MARKER: HERE}, {"content": ONE_PART}),
    ({"role": "tool", "tool_call_id": "k", "content": ""}, {MARKER: HERE}, None),
]


@pytest.mark.parametrize(("message", "native", "envelope"), CARRIERS)
def test_what_carries_a_marker_and_where(message: Any, native: dict[str, Any] | None, envelope: dict[str, Any] | None) -> None:
    for layout, carried in ((NATIVE, native), (ENVELOPE, envelope)):
        [found] = mark([message], layout)
        assert found == {**message, **(carried or {})}
        assert (found is message) is (carried is None)


def test_a_message_that_carries_none_takes_none_of_the_four() -> None:
    empty: Message = {"role": "assistant", "content": None, "tool_calls": [cast(Any, CALL)]}
    said: list[Message] = [{"role": "user", "content": f"{n}"} for n in range(5)]
    assert _places(mark([*said, empty, empty], ENVELOPE)) == [1, 2, 3, 4]


def test_a_system_message_midway_carries_none() -> None:
    midway: list[Message] = [{"role": role, "content": "x"} for role in ("user", "user", "user", "user", "system", "user")]
    assert _places(mark(midway, ENVELOPE)) == [1, 2, 3, 5]


def test_markers_of_the_input_are_taken_away_wherever_they_are() -> None:
    inner = {"type": "tool_result", "content": [{**TEXT, MARKER: HERE}], MARKER: HERE}
    old: Any = {"role": "user", "content": [inner, TEXT], "tool_calls": [{**CALL, MARKER: HERE}], MARKER: None}
    clean: Message = {"role": "user", "content": [{"type": "tool_result", "content": [TEXT]}, TEXT], "tool_calls": [cast(Any, CALL)]}
    later: list[Message] = [{"role": "user", "content": f"{n}"} for n in range(4)]
    before = deepcopy(old)
    assert mark([old, *later], ENVELOPE)[0] == clean and old == before
    assert unmarked(clean) is clean


@pytest.mark.parametrize("calls", [None, [], {}, {"a": 1}, "odd", 3, [None], ["odd"], [CALL, None]])
def test_malformed_calls_go_through_as_they_are(calls: Any) -> None:
    message: Message = {"role": "assistant", "content": None, "tool_calls": calls}
    assert mark([message], ENVELOPE)[0] is message


def test_an_hour_is_said_in_every_marker_and_five_minutes_in_none() -> None:
    history: list[Message] = [{"role": role, "content": "x"} for role in ("system", "user", "assistant", "tool")]
    for ttl, marker in (("5m", HERE), ("1h", {"type": "ephemeral", "ttl": "1h"})):
        assert _markers(mark(history, NATIVE, cast(Ttl, ttl))) == [marker] * MOST_MARKERS


# --- whatever goes in -------------------------------------------------------------------------------------------------


@st.composite
def touched_histories(draw: st.DrawFn) -> list[Message]:
    """Histories in which somebody has set markers before."""
    history = draw(histories(assistant_end=True))
    layout = draw(LAYOUT)
    return [mark([m], layout)[0] if draw(st.booleans()) else m for m in history]


@given(touched_histories(), LAYOUT)
def test_at_most_four_markers_and_nothing_else_is_changed(history: list[Message], layout: Layout) -> None:
    before = deepcopy(history)
    found = mark(history, layout)
    assert history == before
    assert len(list(_markers(found))) <= MOST_MARKERS
    assert _bytes(found) == _bytes(history)
    for old, new in zip(history, found, strict=True):
        assert MARKER in json.dumps(new) or new is old or MARKER in json.dumps(old)
    assert mark(found, layout) == found


@given(touched_histories())
def test_in_the_openai_format_markers_stand_on_parts_with_content(history: list[Message]) -> None:
    for message in mark(history, ENVELOPE):
        assert MARKER not in message
        for part in parts_of(message):
            assert MARKER not in part or part.get("type") not in ("text", "input_text") or part["text"].strip()


# --- what was marked once is read again -------------------------------------------------------------------------------


@st.composite
def growing(draw: st.DrawFn) -> list[list[Message]]:
    """The requests of a conversation: each is the former, one message of the model, and what came after that."""
    requests = [draw(histories(max_turns=2))]
    for _ in range(draw(st.integers(1, 5))):
        step = draw(st.one_of(tool_groups(), _bundles(), _answers()))
        requests.append([*requests[-1], *step])
    return requests


@st.composite
def _bundles(draw: st.DrawFn) -> list[Message]:
    """Many calls at once."""
    ids = [f"b{n}" for n in range(draw(st.integers(5, 60)))]
    caller: Any = {
        "role": "assistant",
        "content": draw(st.sampled_from((None, "", "look"))),
        "tool_calls": [{**CALL, "id": i} for i in ids],
    }
    return [caller, *({"role": "tool", "tool_call_id": i, "content": draw(st.sampled_from(("", "out")))} for i in ids)]


@st.composite
def _answers(draw: st.DrawFn) -> list[Message]:
    return [draw(assistant_messages()), *draw(st.lists(user_messages(), min_size=1, max_size=3))]


@given(growing(), LAYOUT)
def test_a_request_begins_with_the_bytes_of_the_former_one(requests: list[list[Message]], layout: Layout) -> None:
    for former, new in pairwise(_bytes(mark(request, layout)) for request in requests):
        assert new.startswith(former) and len(new) > len(former)


@given(growing(), LAYOUT)
def test_from_a_marker_the_end_of_the_former_request_is_in_reach(requests: list[list[Message]], layout: Layout) -> None:
    for former, new in pairwise(requests):
        kept = [index for index in _places(mark(former, layout)) if not is_system(former[index])]
        if kept:
            markers = [index for index in _places(mark(new, layout)) if index >= kept[-1]]
            assert min(_blocks(new[kept[-1] : index + 1]) for index in markers) <= LOOK_BACK


def test_the_prompt_stays_marked_however_much_comes() -> None:
    history: list[Message] = [{"role": "system", "content": "sys"}, {"role": "user", "content": "go"}]
    for count in (1, 30, 200):
        bundle: Any = {"role": "assistant", "content": None, "tool_calls": [CALL] * count}
        history += [bundle, *(Message(role="tool", tool_call_id="k", content="out") for _ in range(count))]
        assert _places(mark(history, ENVELOPE))[0] == 0


# --- looking at requests ----------------------------------------------------------------------------------------------


def _markers(value: Any) -> list[Any]:
    """All markers in there, at any depth."""
    if isinstance(value, list):
        return [marker for entry in value for marker in _markers(entry)]
    if not isinstance(value, dict):
        return []
    return [value[key] for key in value if key == MARKER] + [marker for entry in value.values() for marker in _markers(entry)]


def _places(messages: list[Message]) -> list[int]:
    return [index for index, message in enumerate(messages) if _markers(message)]


def _bytes(messages: list[Message]) -> bytes:
    """What a provider reads: without markers, a text as its only part."""
    return b"".join(canonical(_as_parts(unmarked(message))) + b"\n" for message in messages)


def _as_parts(message: Message) -> Message:
    content = message.get("content")
    return cast(Message, {**message, "content": [{"type": "text", "text": content}]}) if isinstance(content, str) else message


def _blocks(messages: list[Message]) -> int:
    details = sum(len(message.get("reasoning_details") or ()) for message in messages)
    return details + sum(len(parts_of(message)) + len(calls_of(message)) for message in messages)


@given(st.lists(histories(), min_size=2, max_size=4), LAYOUT)
def test_what_is_known_of_a_former_request_changes_no_request(requests: list[list[Message]], layout: Layout) -> None:
    known, growing = Unmarked(), cast(list[Message], [])
    for request in requests:
        growing = [*growing[: len(growing) // 2], *mark(growing[len(growing) // 2 :], layout), *request]
        before = deepcopy(growing)
        assert mark(growing, layout, known=known) == mark(growing, layout)
        assert growing == before
