"""OpenAI messages in every container, and SWE-agent's dialect of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from host.formats import read, recognise

TALK: list[dict[str, Any]] = [
    {"role": "developer", "content": "be brief", "x_trace": {"id": 1}},
    {"role": "user", "content": [{"type": "text", "text": "读一下"}], "name": "lin"},
    {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "reasoning_content": "hm",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}, "index": 0}],
    },
    {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "1"}]},
    {"role": "assistant", "content": "", "audio": None},
]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


def lines(*values: Any) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


CONTAINERS: dict[str, tuple[str, str, str]] = {
    "compact list": ("t.json", json.dumps(TALK), "openai"),
    "indented list": ("t.json", json.dumps(TALK, indent=2), "openai"),
    "list in one line of a .jsonl": ("t.jsonl", json.dumps(TALK), "openai"),
    "a message a line": ("t.jsonl", lines(*TALK), "openai-jsonl"),
    "request body": ("t.json", json.dumps({"model": "m", "messages": TALK, "tools": TOOLS}, indent=1), "request"),
    "a dialogue in one line": ("t.jsonl", lines({"id": "d", "messages": TALK}), "dialogues"),
    "dialogues": ("t.jsonl", lines({"id": "d", "messages": TALK}, {"id": "e", "messages": TALK}), "dialogues"),
    "a list a line": ("t.jsonl", lines(TALK, TALK), "dialogues"),
    "trajectories": ("t.json", json.dumps([{"task_id": 3, "trial": 1, "traj": TALK}]), "trajectories"),
    "list of dialogues": ("t.json", json.dumps([{"messages": TALK}, {"messages": TALK}]), "trajectories"),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_messages_come_out_equal_whatever_they_were_kept_in(tmp_path: Path, name: str) -> None:
    file, text, source = CONTAINERS[name]
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    assert recognise(path).name == source
    for transcript in read(path):
        assert transcript.messages == TALK
        assert json.dumps(transcript.messages) == json.dumps(TALK)  # key order too
        assert transcript.mended == {}


def test_a_request_body_gives_model_and_tools(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"model": "gpt-4o", "messages": TALK, "tools": TOOLS, "temperature": 0}))
    [transcript] = read(path)
    assert (transcript.model, transcript.tools, transcript.window) == ("gpt-4o", TOOLS, None)


def test_legacy_functions_become_tools(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"messages": TALK, "functions": [{"name": "f", "parameters": {}}]}))
    assert read(path)[0].tools == [{"type": "function", "function": {"name": "f", "parameters": {}}}]


@pytest.mark.parametrize(
    ("record", "title"),
    [
        ({"id": "d-1"}, "d-1"),
        ({"id": 12}, "12"),
        ({"task_id": 3, "trial": 0}, "task-3-trial-0"),
        ({"task_id": "x"}, "task-x"),
        ({"instance_id": "repo-1"}, "repo-1"),
        ({}, "1"),
    ],
)
def test_a_conversation_is_named_by_its_record(tmp_path: Path, record: dict[str, Any], title: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(lines({**record, "messages": TALK}))
    assert read(path)[0].title == title


def test_an_empty_conversation_among_others_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(lines({"id": "a", "messages": []}, {"id": "b", "messages": TALK}))
    assert [transcript.title for transcript in read(path)] == ["b"]


def traj(tmp_path: Path, *history: dict[str, Any], **document: Any) -> Path:
    path = tmp_path / "run.traj"
    path.write_text(json.dumps({"history": history, **document}))
    return path


def test_swe_agent_notes_are_not_sent(tmp_path: Path) -> None:
    part = {"type": "text", "text": "issue", "cache_control": {"type": "ephemeral"}}
    path = traj(
        tmp_path,
        {"role": "user", "content": [part], "agent": "main", "message_type": "observation", "is_demo": True, "tags": []},
        {"role": "assistant", "content": "look", "thought": "look", "action": "ls", "agent": "main", "tool_calls": None},
        {"role": "user", "content": "a.py", "agent": "main"},
    )
    [transcript] = read(path)
    assert transcript.messages == [
        {"role": "user", "content": [{"type": "text", "text": "issue"}]},
        {"role": "assistant", "content": "look"},
        {"role": "user", "content": "a.py"},
    ]
    assert (transcript.title, transcript.mended) == ("run", {})


def test_swe_agent_results_get_the_id_of_their_call(tmp_path: Path) -> None:
    path = traj(
        tmp_path,
        {
            "role": "assistant",
            "content": "x",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "a.py", "tool_call_ids": ["c"]},
        replay_config={"agent": {"model": {"name": "gpt-4o"}}},
    )
    [transcript] = read(path)
    assert transcript.messages[1] == {"role": "tool", "content": "a.py", "tool_call_id": "c"}
    assert (transcript.model, transcript.mended) == ("gpt-4o", {})


@pytest.mark.parametrize("name", ["c.json", "c.jsonl"])
@pytest.mark.parametrize("content", [None, []])
def test_a_user_message_without_content_stays(tmp_path: Path, name: str, content: list[str] | None) -> None:
    messages = [{"role": "user", "content": content}, {"role": "assistant", "content": "yes?"}]
    texts = [json.dumps(message) for message in messages]
    path = tmp_path / name
    path.write_text("\n".join(texts) if name.endswith("l") else f"[{','.join(texts)}]")
    assert read(path)[0].messages == messages
