"""Files that are read whole: message lists, requests, trajectories, dialogues."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from host.importing.documents import time_of
from host.messages.reading import text_of
from tests.importing.conftest import NOON, Desk, append

TALK: list[Any] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": None, "tool_calls": [], "x": {"unknown": 1}},
    {"role": "tool", "tool_call_id": "c9", "content": "an answer to no call"},
    {"role": "assistant", "content": "Bye."},
]
CONTAINERS = {
    "openai": ("talk.json", json.dumps(TALK)),
    "request": ("talk.json", json.dumps({"model": "gpt-test", "messages": TALK})),
    "trajectories": ("talk.json", json.dumps([{"task_id": 7, "trial": 0, "traj": TALK}])),
    "dialogues": ("talk.jsonl", json.dumps({"id": "d1", "messages": TALK}) + "\n"),
    "openai-jsonl": ("talk.jsonl", "\n".join(map(json.dumps, TALK)) + "\n"),
}


@pytest.mark.parametrize("format", CONTAINERS)
def test_messages_are_kept_as_they_were_recorded_in_every_container(desk: Desk, tmp_path: Path, format: str) -> None:
    name, content = CONTAINERS[format]
    desk.write(tmp_path / "talks" / name, content.encode())
    done = desk.run(tmp_path / "talks")
    (session,) = desk.store.sessions.listed()
    assert (done.conversations, done.messages, session.source) == (1, 5, format)
    assert [row.message for row in desk.store.archive(session.conversation).current()] == TALK
    assert session.id.startswith("talk") and session.about["client"] == format
    assert desk.run(tmp_path / "talks").unchanged == 1


def test_a_swe_agent_trajectory_is_read(desk: Desk, tmp_path: Path) -> None:
    desk.write(tmp_path / "run.traj", json.dumps({"instance_id": "fix-1", "history": TALK}).encode())
    assert desk.run(tmp_path / "run.traj", client="openai").messages == 5
    assert desk.store.sessions.get("run-fix-1").source == "swe-agent"


def test_a_document_that_changed_adds_only_what_is_new(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "talk.json", json.dumps(TALK).encode())
    desk.run(path)
    inserted: list[Any] = [*TALK[:2], {"role": "user", "content": "Hello?"}, *TALK[2:], {"role": "user", "content": "Hello."}]
    path.write_text(json.dumps(inserted))
    assert desk.run(path).messages == 2
    (session,) = desk.store.sessions.listed()
    assert [text_of(row.message) for row in desk.store.archive(session.conversation).current()[5:] if row.message] == ["Hello?", "Hello."]
    path.write_text(json.dumps(inserted, indent=2))
    assert desk.run(path).messages == 0


def test_a_copy_of_a_document_adds_nothing_and_another_of_its_name_is_another(desk: Desk, tmp_path: Path) -> None:
    first = desk.write(tmp_path / "a" / "messages.json", json.dumps(TALK[:3]).encode())
    copy = desk.write(tmp_path / "b" / "messages.json", json.dumps(TALK).encode())
    other = desk.write(tmp_path / "c" / "messages.json", json.dumps([{"role": "user", "content": "Good morning."}]).encode())
    desk.run(first)
    grown = desk.run(copy)
    assert (grown.conversations, grown.messages) == (0, 2)
    assert desk.run(other).conversations == 1
    assert len(desk.store.sessions.listed()) == 2


def test_every_conversation_of_a_file_is_one_and_titles_that_come_again_are_told_apart(desk: Desk, tmp_path: Path) -> None:
    rows = [{"id": name, "messages": [{"role": "user", "content": f"said in {number}"}]} for number, name in enumerate(["a", "a", "b"])]
    path = desk.write(tmp_path / "talks.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    assert desk.run(path).conversations == 3
    append(path, json.dumps({"id": "c", "messages": TALK}).encode() + b"\n")
    grown = desk.run(path)
    assert (grown.conversations, grown.messages) == (1, 5)


def test_damaged_lines_are_named_and_an_unfinished_last_one_waits(desk: Desk, tmp_path: Path) -> None:
    lines = [json.dumps(message) for message in TALK]
    path = desk.write(tmp_path / "talk.jsonl", "\n".join([lines[0], "{broken", '{"no": "role"}', *lines[1:4], lines[4][:9]]).encode())
    done = desk.run(path)
    assert [(damage.line, damage.why.partition(":")[0]) for damage in done.damaged] == [(2, "not JSON"), (3, "a message without a role")]
    assert (done.unfinished, done.messages) == (1, 4)
    append(path, lines[4][9:].encode() + b"\n")
    assert desk.run(path).messages == 1


def test_a_document_that_breaks_off_is_damaged_and_read_when_it_is_whole(desk: Desk, tmp_path: Path) -> None:
    text = json.dumps(TALK, indent=1)
    path = desk.write(tmp_path / "talk.json", text[:-20].encode())
    done = desk.run(tmp_path / "talk.json")
    assert (done.messages, [damage.file for damage in done.damaged]) == (0, [str(path)]) and "breaks off" in done.damaged[0].why
    path.write_text(text)
    assert desk.run(path).messages == 5


@pytest.mark.parametrize(
    ("message", "time"),
    [
        ({"timestamp": "2026-03-04T12:00:00Z"}, NOON),
        ({"timestamp": "2026-03-04T12:00:00"}, NOON),
        ({"created_at": NOON.timestamp()}, NOON),
        ({"created_at": NOON.timestamp() * 1000}, NOON),
        ({"timestamp": "yesterday", "created_at": int(NOON.timestamp())}, NOON),
        ({"timestamp": True}, None),
        ({"timestamp": 10**400}, None),
        ({"timestamp": float("nan")}, None),
        ({"timestamp": {"$date": 1}}, None),
        ({}, None),
    ],
)
def test_when_a_message_was_said(message: Any, time: datetime | None) -> None:
    assert time_of(message) == time


def test_without_a_time_a_message_has_that_of_its_file(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "talk.json", json.dumps(TALK).encode(), age=60)
    desk.run(path)
    (session,) = desk.store.sessions.listed()
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    assert {row.time for row in desk.store.archive(session.conversation).current()} == {modified}
