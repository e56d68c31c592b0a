"""Real recordings: everything reads, breaks no rule, and agrees with a plain scan of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from host.errors import NotAConversation
from host.formats import read
from host.messages.reading import call_id, calls_of, text_of
from host.messages.types import Message
from host.messages.violations import violations

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")

NO_CONVERSATIONS = {"decisions.jsonl", "events.jsonl", "expected-conversation.jsonl"}


def files(folder: str, pattern: str = "*") -> list[Any]:
    found = sorted((DATA / folder).glob(pattern)) if DATA.is_dir() else []
    return [pytest.param(path, id=path.name) for path in found if path.name not in NO_CONVERSATIONS]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ids(messages: list[Message]) -> list[str]:
    return [call_id(call) for message in messages for call in calls_of(message)]


@pytest.mark.parametrize("path", [*files("claude-code"), *files("codex"), *files("swe-agent"), *files(".", "*-*/*.json*")])
def test_every_conversation_reads_and_breaks_no_rule(path: Path) -> None:
    for transcript in read(path):
        assert transcript.messages
        assert violations(transcript.messages) == []


@pytest.mark.parametrize("path", files("claude-code"))
def test_claude_code_agrees_with_a_plain_scan(path: Path) -> None:
    recorded = [row["message"] for row in rows(path) if row["type"] in ("user", "assistant")]
    blocks = [block for message in recorded if isinstance(message["content"], list) for block in message["content"]]
    [transcript] = read(path)
    assert ids(transcript.messages) == [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert len({message["id"] for message in recorded if message["role"] == "assistant"}) == sum(
        message["role"] == "assistant" for message in transcript.messages
    )
    prompts = [message["content"] for message in recorded if message["role"] == "user" and isinstance(message["content"], str)]
    said = [text_of(message) for message in transcript.messages if message["role"] == "user"]
    assert [text for text in said if text in prompts] == prompts
    spoken = [block["text"] for block in blocks if block["type"] == "text"]
    assert all(any(text in text_of(message) for message in transcript.messages) for text in spoken)
    assert transcript.mended == {}


def test_claude_code_keeps_a_real_compaction_and_what_came_before() -> None:
    [transcript] = read(DATA / "claude-code" / "session-624a4a58.jsonl")
    summaries = [
        place for place, message in enumerate(transcript.messages) if text_of(message).startswith("This session is being continued")
    ]
    assert len(summaries) == 1
    assert 50 < summaries[0] < len(transcript.messages) - 10


@pytest.mark.parametrize("path", files("codex"))
def test_codex_agrees_with_a_plain_scan(path: Path) -> None:
    payloads = [row["payload"] for row in rows(path)]
    [transcript] = read(path)
    assert ids(transcript.messages) == [item["call_id"] for item in payloads if item.get("type") in ("function_call", "custom_tool_call")]
    prompts = [item["message"] for item in payloads if item.get("type") == "user_message"]
    said = [text_of(message) for message in transcript.messages if message["role"] == "user"]
    assert [text for text in said if text in prompts] == prompts
    answers = [text_of(message) for message in transcript.messages if message["role"] == "assistant" and text_of(message)]
    items = [part["text"] for item in payloads if item.get("role") == "assistant" for part in item["content"]]
    assert answers == items
    outputs = sum(str(item.get("type")).endswith("_call_output") for item in payloads)
    assert len(ids(transcript.messages)) - outputs == transcript.mended.get("unanswered calls", 0)


@pytest.mark.parametrize("path", files("swe-agent"))
def test_swe_agent_sends_what_the_model_saw(path: Path) -> None:
    history = json.loads(path.read_text(encoding="utf-8"))["history"]
    [transcript] = read(path)
    assert [message["content"] for message in transcript.messages] == [entry["content"] for entry in history]
    assert {key for message in transcript.messages for key in message} <= {"role", "content", "tool_calls", "tool_call_id"}
    assert transcript.mended == {}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("tau-airline-openai/gpt-4o-airline.json", "traj"),
        ("jmultiwoz-openai-ja/dialogues.jsonl", "messages"),
        ("crosswoz-zh/dialogues.jsonl", "messages"),
    ],
)
def test_openai_messages_come_out_equal(name: str, key: str) -> None:
    path = DATA / name
    records = json.loads(path.read_text(encoding="utf-8")) if path.suffix == ".json" else rows(path)
    transcripts = read(path)
    assert [transcript.messages for transcript in transcripts] == [record[key] for record in records]
    assert all(transcript.mended == {} for transcript in transcripts)
    assert len({transcript.title for transcript in transcripts}) == len(records)


@pytest.mark.parametrize("name", sorted(NO_CONVERSATIONS))
def test_other_json_lines_are_refused_by_name(name: str) -> None:
    with pytest.raises(NotAConversation, match=r"is no conversation: (JSON lines with the keys|an event log)"):
        read(DATA / "codex" / name)
