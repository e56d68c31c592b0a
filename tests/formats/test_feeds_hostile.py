"""Feeds and rows that nobody checked: nothing raises, whatever a row holds, and the state stays JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.formats.feeds import FEEDS, Said, TakenBack, feed_format_of
from host.formats.source import open_source
from host.messages.types import JSON
from tests.formats.feeding import fed

KEYS = [
    *("type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "isSidechain", "agentId", "isMeta", "isCompactSummary"),
    *("isVisibleInTranscriptOnly", "isApiErrorMessage", "message", "role", "content", "id", "model", "cwd", "version", "gitBranch"),
    *("timestamp", "leafUuid", "summary", "customTitle", "attachment", "prompt", "payload", "text", "thinking", "tool_use_id", "name"),
    *(
        "input",
        "arguments",
        "call_id",
        "output",
        "num_turns",
        "operation",
        "reason",
        "images",
        "image_url",
        "base_instructions",
        "git",
        "source",
        "subagent",
    ),
]
WORDS = [
    *("user", "assistant", "system", "attachment", "summary", "custom-title", "queued_command", "local_command", "compact_boundary"),
    *("session_meta", "response_item", "event_msg", "turn_context", "compacted", "message", "reasoning", "function_call"),
    *("function_call_output", "user_message", "agent_message", "task_started", "thread_rolled_back", "thread_name_updated"),
    *("queue-operation", "enqueue", "dequeue", "remove", "popAll", "absorbed_mid_turn"),
    *("text", "input_text", "output_text", "tool_use", "tool_result", "thinking", "input_image", "image", "u1", "u2", "\ud800", "a\0b", ""),
]
ATOMS = st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.floats(allow_nan=False), st.sampled_from(WORDS))
VALUES = st.recursive(
    ATOMS, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)), max_leaves=20
)


def objects(**known: st.SearchStrategy[Any]) -> st.SearchStrategy[JSON]:
    """Objects that look right in some keys and hold anything in others."""
    odd = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3)
    return st.builds(lambda right, wrong: {**right, **wrong}, st.fixed_dictionaries({}, optional=known), odd)


BLOCKS = st.lists(st.one_of(VALUES, objects(type=st.sampled_from(WORDS), id=ATOMS, tool_use_id=ATOMS, text=ATOMS)), max_size=4)
SPOKEN = objects(role=st.sampled_from(["user", "assistant"]), id=st.sampled_from(["m1", "m2"]), content=st.one_of(BLOCKS, ATOMS))
LINES = objects(
    type=st.sampled_from(WORDS), uuid=st.sampled_from(WORDS), parentUuid=st.sampled_from(WORDS), message=SPOKEN, isSidechain=ATOMS
)
ITEMS = objects(type=st.sampled_from(WORDS), role=st.sampled_from(["user", "assistant"]), content=BLOCKS, call_id=ATOMS, message=ATOMS)
QUEUE = objects(
    type=st.just("queue-operation"),
    operation=st.sampled_from(["enqueue", "enqueue", "remove", "dequeue", "popAll"]),
    content=SPOKEN | BLOCKS | ATOMS,
)
ROWS = st.one_of(LINES, QUEUE, objects(type=st.sampled_from(WORDS), payload=ITEMS), ITEMS)


@pytest.mark.parametrize("client", FEEDS)
@given(rows=st.lists(ROWS, max_size=12), cuts=st.sets(st.integers(0, 11)))
def test_no_row_raises_and_every_cut_gives_the_same(client: str, rows: list[JSON], cuts: set[int]) -> None:
    told = fed(client, rows, cuts)
    for event in told.events:
        key = event.after if isinstance(event, TakenBack) else event.key
        assert isinstance(event.chain, str) and (key is None or (isinstance(key, str) and key))
        assert isinstance(event, TakenBack) or isinstance(event.message["role"], str)
    assert json.loads(json.dumps(told.abouts)) == told.abouts
    assert fed(client, rows).outcome == told.outcome


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


DEEP: dict[str, Callable[[Any], JSON]] = {
    "claude-code": lambda deep: {"type": "user", "uuid": "u0", "message": {"role": "user", "content": {"odd": deep}}},
    "codex": lambda deep: {"type": "response_item", "payload": {"type": "message", "role": "user", "content": {"odd": deep}}},
}


@pytest.mark.parametrize("client", FEEDS)
def test_a_row_that_is_nested_too_deeply_is_passed_over(client: str) -> None:
    told = fed(client, [DEEP[client](nested(100_000)), DEEP[client](nested(3)) | {"uuid": "u1"}])
    assert len(told.events) == 1


RECOGNISED: dict[str, tuple[list[JSON], str | None]] = {
    "claude-code": ([{"type": "summary", "leafUuid": "x"}, {"type": "user", "uuid": "u", "message": {"content": "hi"}}], "claude-code"),
    "codex": ([{"type": "session_meta", "payload": {"id": "s"}}, {"type": "event_msg", "payload": {}}], "codex"),
    "one line of codex": ([{"type": "session_meta", "payload": {"id": "s"}}], "codex"),
    "openai": ([{"role": "user", "content": "hi"}] * 2, None),
    "other": ([{"x": 1}] * 2, None),
}


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_file_is_recognised_by_its_lines(tmp_path: Path, name: str) -> None:
    rows, client = RECOGNISED[name]
    path = tmp_path / "file.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with open_source(path) as source:
        found = feed_format_of(source)
    assert (found.name if found else None) == client


def test_every_feed_is_named_as_its_format() -> None:
    assert {name: known.name for name, known in FEEDS.items()} == {"claude-code": "claude-code", "codex": "codex"}
    for known in FEEDS.values():
        feed = known.start(Path("empty.jsonl"), {}, lambda chain, key: None)
        assert feed.take(1, {}) == []
        assert known.start(Path("empty.jsonl"), feed.state(), lambda chain, key: None).state() == feed.state()


@pytest.mark.parametrize("shape", [{}, {"shape": 0}, {"shape": "1"}])
@pytest.mark.parametrize("client", FEEDS)
def test_a_state_of_another_shape_is_not_gone_on_with(client: str, shape: dict[str, object]) -> None:
    parts = {"trail": {"messages": [[1]], "prompts": [3]}, "echoes": {"user": {"event": [1]}}, "queue": {"waiting": [7]}}
    feed = FEEDS[client].start(Path("s.jsonl"), {**shape, **parts}, lambda chain, key: None)
    assert feed.state() == FEEDS[client].start(Path("s.jsonl"), {}, lambda chain, key: None).state()


def test_an_answer_of_an_earlier_reading_is_asked_for_with_the_next_line_of_its_chain() -> None:
    asked: list[tuple[str, str]] = []
    piece = {"type": "assistant", "message": {"role": "assistant", "id": "m1", "content": [{"type": "text", "text": "a"}]}}

    def known(chain: str, key: str) -> None:
        asked.append((chain, key))

    feed = FEEDS["claude-code"].start(Path("s.jsonl"), {}, known)
    assert isinstance(feed.take(1, {**piece, "uuid": "u1"})[0], Said)
    feed = FEEDS["claude-code"].start(Path("s.jsonl"), feed.state(), known)
    assert asked == []
    feed.take(2, {**piece, "uuid": "s1", "isSidechain": True})
    assert asked == []
    feed.take(3, {**piece, "uuid": "u2"})
    assert asked == [("", "u1")]
