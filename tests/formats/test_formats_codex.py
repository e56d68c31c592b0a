"""Codex rollouts: items, the events that repeat them, older files, and kinds of calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from host.formats import Transcript, read, recognise
from host.messages.reading import call_id, call_name, calls_of, text_of
from host.messages.types import Message
from host.messages.violations import violations

Row = tuple[str, dict[str, Any]]


def item(kind: str, **more: Any) -> Row:
    return "response_item", {"type": kind, **more}


def event(kind: str, **more: Any) -> Row:
    return "event_msg", {"type": kind, **more}


def said(role: str, *texts: str) -> Row:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def called(key: str, name: str = "exec") -> Row:
    return item("function_call", name=name, arguments="{}", call_id=key)


def output(key: str, value: Any = "ok") -> Row:
    return item("function_call_output", call_id=key, output=value)


def rollout(folder: Path, *rows: Row, bare: bool = False) -> Transcript:
    path = folder / "rollout.jsonl"
    values = [payload if bare else {"timestamp": "t", "type": kind, "payload": payload} for kind, payload in rows]
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    assert recognise(path).name == "codex"
    [transcript] = read(path)
    assert violations(transcript.messages) == []
    return transcript


def shape(messages: list[Message]) -> list[str]:
    return [f"{m['role']}{''.join(f'+{call_id(call)}' for call in calls_of(m))}:{m.get('tool_call_id') or text_of(m)}" for m in messages]


def test_items_of_one_answer_are_put_together(tmp_path: Path) -> None:
    transcript = rollout(
        tmp_path,
        said("user", "go"),
        item("reasoning", summary=[{"type": "summary_text", "text": "first look"}], encrypted_content="x"),
        said("assistant", "looking"),
        called("a"),
        called("b"),
        output("b"),
        output("a"),
        called("c"),
        output("c"),
        said("assistant", "part one"),
        said("assistant", "part two"),
    )
    assert shape(transcript.messages) == [
        "user:go",
        "assistant+a+b:looking",
        "tool:b",
        "tool:a",
        "assistant+c:",
        "tool:c",
        "assistant:part one",
        "assistant:part two",
    ]
    assert transcript.messages[1]["reasoning_content"] == "first look"
    assert transcript.mended == {}


def test_a_call_after_the_first_result_of_a_parallel_group_joins_it(tmp_path: Path) -> None:
    transcript = rollout(tmp_path, said("user", "go"), called("a"), called("b"), output("a"), called("c"), output("b"), output("c"))
    assert shape(transcript.messages) == ["user:go", "assistant+a+b+c:", "tool:a", "tool:b", "tool:c"]
    assert transcript.mended == {}


def test_an_answer_that_was_only_encrypted_reasoning_leaves_nothing(tmp_path: Path) -> None:
    transcript = rollout(tmp_path, said("user", "go"), item("reasoning", summary=[], encrypted_content="x"), said("user", "stop"))
    assert shape(transcript.messages) == ["user:go", "user:stop"]


EVENTS: dict[str, tuple[list[Row], list[str]]] = {
    "event after its item": ([said("user", "hi"), event("user_message", message="hi")], ["user:hi"]),
    "event before its item": ([event("agent_message", message="yo"), said("assistant", "yo")], ["assistant:yo"]),
    "item holds more than the event": ([said("user", "context", "hi"), event("user_message", message="hi\n")], ["user:context\nhi"]),
    "only events": ([event("user_message", message="hi"), event("agent_message", message="yo")], ["user:hi", "assistant:yo"]),
    "the same prompt twice": (
        [
            said("user", "p"),
            event("user_message", message="p"),
            said("assistant", "x"),
            said("user", "p"),
            event("user_message", message="p"),
        ],
        ["user:p", "assistant:x", "user:p"],
    ),
    "short prompt inside an older one": (
        [
            said("user", "please"),
            event("user_message", message="please"),
            event("user_message", message="ok"),
            event("user_message", message="p"),
        ],
        ["user:please", "user:ok", "user:p"],
    ),
    "context items are no prompts": (
        [said("user", "<environment_context/>"), event("user_message", message="hi")],
        ["user:<environment_context/>", "user:hi"],
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_events_count_only_where_no_item_says_the_same(tmp_path: Path, name: str) -> None:
    rows, expected = EVENTS[name]
    assert shape(rollout(tmp_path, *rows).messages) == expected


CALLS: dict[str, tuple[list[Row], str, str, Any]] = {
    "function": ([called("a"), output("a", "text")], "exec", "{}", "text"),
    "namespace": (
        [item("function_call", namespace="mcp__n__", name="js", arguments="{}", call_id="a"), output("a")],
        "mcp__n__js",
        "{}",
        "ok",
    ),
    "bare namespace": ([item("function_call", namespace="app", name="f", arguments="{}", call_id="a"), output("a")], "app__f", "{}", "ok"),
    "output as an object": ([called("a"), output("a", {"content": "no", "success": False})], "exec", "{}", "no"),
    "output as a list": (
        [called("a"), output("a", [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "data:i"}])],
        "exec",
        "{}",
        [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "data:i"}}],
    ),
    "custom call": (
        [
            item("custom_tool_call", name="apply_patch", input="*** 补丁", call_id="a"),
            item("custom_tool_call_output", call_id="a", output={"output": "ok", "metadata": {}}),
        ],
        "apply_patch",
        '{"input": "*** 补丁"}',
        '{"output": "ok", "metadata": {}}',
    ),
    "local shell": (
        [item("local_shell_call", call_id="a", status="completed", action={"type": "exec", "command": ["ls"]}), output("a")],
        "local_shell",
        '{"type": "exec", "command": ["ls"]}',
        "ok",
    ),
    "a later kind": (
        [item("tool_search_call", call_id="a", arguments={"query": "x"}), item("tool_search_output", call_id="a", output="none")],
        "tool_search",
        '{"query": "x"}',
        "none",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_kind_of_call_is_a_call_with_its_result(tmp_path: Path, name: str) -> None:
    rows, tool, arguments, content = CALLS[name]
    transcript = rollout(tmp_path, said("user", "go"), *rows)
    [call] = calls_of(transcript.messages[1])
    assert (call_name(call), call["function"]["arguments"]) == (tool, arguments)
    assert transcript.messages[2]["content"] == content
    assert transcript.mended == {}


def test_what_cannot_be_sent_is_passed_over(tmp_path: Path) -> None:
    transcript = rollout(
        tmp_path,
        said("user", "go"),
        item("web_search_call", status="completed", action={"type": "search", "query": "q"}),
        item("ghost_snapshot", ghost_commit={}),
        item("compaction", encrypted_content="x"),
        event("exec_command_end", call_id="a", stdout="x"),
        ("world_state", {"x": 1}),
        said("assistant", "done"),
    )
    assert shape(transcript.messages) == ["user:go", "assistant:done"]


def test_facts_of_the_session_are_taken(tmp_path: Path) -> None:
    transcript = rollout(
        tmp_path,
        ("session_meta", {"id": "s-9", "base_instructions": {"text": "be careful"}}),
        ("session_meta", {"id": "parent", "base_instructions": {"text": "older"}}),
        event("task_started", model_context_window=100_000),
        ("turn_context", {"model": "m-1"}),
        said("developer", "rules"),
        said("user", "go"),
        event("token_count", info={"model_context_window": 258_400}),
        event("token_count", info=None),
        ("turn_context", {"model": "m-2"}),
    )
    assert shape(transcript.messages) == ["system:be careful", "developer:rules", "user:go"]
    assert (transcript.title, transcript.model, transcript.window) == ("s-9", "m-2", 258_400)


def test_a_compaction_is_the_users_message_that_the_client_made_of_it(tmp_path: Path) -> None:
    transcript = rollout(
        tmp_path, said("user", "go"), ("compacted", {"message": "so far: x"}), ("compacted", {"message": ""}), said("user", "on")
    )
    assert shape(transcript.messages) == ["user:go", "user:so far: x", "user:on"]


def test_turns_that_were_taken_back_are_left_out(tmp_path: Path) -> None:
    turn = event("task_started")
    transcript = rollout(
        tmp_path,
        turn,
        said("user", "one"),
        turn,
        said("user", "two"),
        turn,
        said("user", "three"),
        event("thread_rolled_back", num_turns=2),
        turn,
        said("user", "four"),
    )
    assert shape(transcript.messages) == ["user:one", "user:four"]
    assert transcript.mended == {"turns taken back": 2}


def test_older_rollouts_hold_bare_items(tmp_path: Path) -> None:
    transcript = rollout(
        tmp_path,
        ("", {"id": "s-1", "timestamp": "t", "instructions": "from AGENTS.md", "git": {}}),
        ("", {"record_type": "state"}),
        said("user", "go"),
        called("a"),
        output("a"),
        said("assistant", "done"),
        bare=True,
    )
    assert shape(transcript.messages) == ["user:go", "assistant+a:", "tool:a", "assistant:done"]
    assert transcript.title == "s-1"


@pytest.mark.parametrize(
    "payload", [{}, {"type": 3}, {"type": "message"}, {"type": "message", "role": "user", "content": 5}, {"type": "function_call"}]
)
def test_odd_items_do_not_stop_the_reader(tmp_path: Path, payload: dict[str, Any]) -> None:
    transcript = rollout(tmp_path, said("user", "go"), ("response_item", payload), ("event_msg", payload), ("session_meta", payload))
    assert text_of(transcript.messages[0]) == "go"
