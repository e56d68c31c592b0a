"""Claude Code sessions: pieces of one answer, forks that are none, branches, side chains, and what was never sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from host.formats import Transcript, read
from host.messages.reading import call_id, calls_of, text_of
from host.messages.types import Message
from host.messages.violations import violations
from tests.formats.session_rows import SessionRows


class Session(SessionRows):
    """A session file."""

    def result(self, key: str, content: Any = "ok", **more: Any) -> str:
        return self.user([{"type": "tool_result", "tool_use_id": key, "content": content}], **more)

    def read(self, folder: Path) -> list[Transcript]:
        path = folder / "session.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        transcripts = read(path)
        assert all(violations(transcript.messages) == [] for transcript in transcripts)
        return transcripts


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(key: str, name: str = "Read", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": name, "input": arguments}


def shape(messages: list[Message]) -> list[str]:
    """Each message as role, calls and text in short."""
    return [f"{m['role']}{''.join(f'+{call_id(call)}' for call in calls_of(m))}:{m.get('tool_call_id') or text_of(m)}" for m in messages]


def test_pieces_with_one_message_id_become_one_answer(tmp_path: Path) -> None:
    session = Session()
    session.user("读两个文件")
    session.answer("m1", {"type": "thinking", "thinking": "two", "signature": "sig"})
    session.line("system", subtype="turn_duration")
    session.answer("m1", text("好的"))
    session.answer("m1", use("a", path="一.txt"))
    session.answer("m1", use("b"))
    session.result("b")
    session.result("a")
    [transcript] = session.read(tmp_path)
    answer = transcript.messages[1]
    assert answer == {
        "role": "assistant",
        "content": "好的",
        "reasoning_content": "two",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "Read", "arguments": '{"path": "一.txt"}'}},
            {"id": "b", "type": "function", "function": {"name": "Read", "arguments": "{}"}},
        ],
    }
    assert shape(transcript.messages)[2:] == ["tool:b", "tool:a"]
    assert (transcript.mended, transcript.model, transcript.title) == ({}, "claude-x", "s-1")


def test_parallel_uses_fork_the_chain_without_being_branches(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    first = session.answer("m1", use("a"))
    second = session.answer("m1", use("b"))
    session.result("a", parent=first)
    session.line("progress", parent=first)
    session.result("b", parent=second)
    session.answer("m2", text("done"))
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == ["user:go", "assistant+a+b:", "tool:a", "tool:b", "assistant:done"]
    assert transcript.mended == {}


def test_a_result_written_while_the_answer_still_streams_stays_in_its_group(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    session.answer("m1", use("a"))
    session.result("a")
    session.answer("m1", use("b"))
    session.result("b")
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == ["user:go", "assistant+a+b:", "tool:a", "tool:b"]
    assert transcript.mended == {}


def test_a_rewound_prompt_is_a_branch_of_its_own(tmp_path: Path) -> None:
    session = Session()
    session.user("start")
    fork = session.answer("m1", text("yes?"))
    session.user("first try")
    session.answer("m2", text("wrong way"))
    session.user("second try", parent=fork)
    session.answer("m3", text("right way"))
    live, left = session.read(tmp_path)
    assert shape(live.messages) == ["user:start", "assistant:yes?", "user:second try", "assistant:right way"]
    assert shape(left.messages) == ["user:start", "assistant:yes?", "user:first try", "assistant:wrong way"]
    assert (live.title, left.title) == ("s-1", "s-1 branch 1")


def test_a_retried_answer_is_left_out_and_counted(tmp_path: Path) -> None:
    session = Session()
    prompt = session.user("start")
    session.answer("m1", text("half an ans"))
    session.answer("m2", text("whole answer"), parent=prompt)
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == ["user:start", "assistant:whole answer"]
    assert transcript.mended == {"lines of abandoned branches": 1}


@pytest.mark.parametrize("parent", [None, "not in this file"])
def test_a_line_without_a_known_parent_follows_the_line_before(tmp_path: Path, parent: str | None) -> None:
    session = Session()
    session.user("before")
    session.answer("m1", text("a"))
    session.user("after a resume", parent=parent)
    session.answer("m2", text("b"))
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == ["user:before", "assistant:a", "user:after a resume", "assistant:b"]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    session = Session()
    session.user("a", parent="u1")
    session.user("b", parent="u0")
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == ["user:a", "user:b"]


def test_a_compaction_keeps_what_came_before_and_its_summary(tmp_path: Path) -> None:
    session = Session()
    session.user("long work")
    last = session.answer("m1", text("much"))
    session.line("system", parent=None, subtype="compact_boundary", logicalParentUuid=last)
    session.user("summary of it", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    session.answer("m2", text("on we go"))
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == ["user:long work", "assistant:much", "user:summary of it", "assistant:on we go"]


def test_side_chains_are_conversations_of_their_own(tmp_path: Path) -> None:
    session = Session()
    session.user("ask the agent")
    main = session.answer("m1", use("t", "Task"))
    session.user("look around", parent=None, isSidechain=True, agentId="ag-7")
    session.answer("s1", text("found"), isSidechain=True, agentId="ag-7")
    old = session.user("older kind", parent=None, isSidechain=True)
    session.answer("s2", text("found too"), parent=old, isSidechain=True)
    session.result("t", "found", parent=main)
    transcripts = session.read(tmp_path)
    assert [shape(transcript.messages) for transcript in transcripts] == [
        ["user:ask the agent", "assistant+t:", "tool:t"],
        ["user:look around", "assistant:found"],
        ["user:older kind", "assistant:found too"],
    ]
    assert [transcript.title for transcript in transcripts[:2]] == ["s-1", "ag-7"]


def test_a_file_of_one_side_chain_reads(tmp_path: Path) -> None:
    session = Session()
    session.user("look", isSidechain=True, agentId="ag-7")
    session.answer("s1", text("found"), isSidechain=True, agentId="ag-7")
    [transcript] = session.read(tmp_path)
    assert (transcript.title, len(transcript.messages)) == ("ag-7", 2)


def test_what_the_client_kept_for_itself_is_not_sent(tmp_path: Path) -> None:
    session = Session()
    session.user("note to the model", isMeta=True)
    session.user("only for the eye", isVisibleInTranscriptOnly=True)
    session.line("system", subtype="local_command")
    session.rows[-1]["content"] = "<local-command-stdout>3</local-command-stdout>"
    session.line("attachment", attachment={"type": "todo_reminder", "content": []})
    session.line("attachment", attachment={"type": "queued_command", "prompt": "and quickly"})
    session.answer("m1", text("API Error: 500"), isApiErrorMessage=True)
    session.rows.append({"type": "queue-operation", "operation": "enqueue", "content": "later"})
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == [
        "user:note to the model",
        "user:<local-command-stdout>3</local-command-stdout>",
        "user:and quickly",
    ]
    assert transcript.mended == {"error notices of the client": 1}


def test_pictures_documents_and_unknown_blocks_are_kept(tmp_path: Path) -> None:
    png = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    session = Session()
    session.user(
        [
            text("see"),
            png,
            {"type": "document", "title": "p.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "BB"}},
        ]
    )
    session.answer("m1", use("a"))
    session.result("a", [text("1"), png, {"type": "tool_reference", "tool_name": "x"}])
    session.answer("m2", use("b"))
    session.user([text("also this"), {"type": "tool_result", "tool_use_id": "b", "is_error": True, "content": "no such file"}])
    [transcript] = session.read(tmp_path)
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    document = {"type": "file", "file": {"filename": "p.pdf", "file_data": "data:application/pdf;base64,BB"}}
    assert transcript.messages[0]["content"] == [text("see"), url, document]
    assert transcript.messages[2]["content"] == [text("1"), url, text('{"type": "tool_reference", "tool_name": "x"}')]
    assert shape(transcript.messages)[4:] == ["tool:b", "user:also this"]
    assert transcript.messages[4]["content"] == "no such file"


@pytest.mark.parametrize("content", [[], "", None, [None], ["bare"], [{"type": "text"}], {"odd": 1}])
def test_odd_contents_do_not_stop_the_reader(tmp_path: Path, content: Any) -> None:
    session = Session()
    session.user("hello")
    session.user([] if content is None else content)
    session.answer("m1", *(content if isinstance(content, list) else [content]))
    [transcript] = session.read(tmp_path)
    assert text_of(transcript.messages[0]) == "hello"


def test_lines_written_twice_count_once(tmp_path: Path) -> None:
    session = Session()
    session.user("once")
    session.answer("m1", use("a"))
    session.rows += session.rows[:2]
    session.rows.append({**session.rows[0], "uuid": "r", "parentUuid": "u1", "message": {"role": "user", "content": "then"}})
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == ["user:once", "assistant+a:", "tool:a", "user:then"]
    assert transcript.mended == {"repeated lines": 2, "unanswered calls": 1}


def test_a_side_chain_of_which_only_an_orphan_is_left_is_none(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    session.result("gone", parent=None, isSidechain=True)
    [transcript] = session.read(tmp_path)
    assert shape(transcript.messages) == ["user:go"]


def test_many_left_branches_are_read_in_bounded_time(tmp_path: Path) -> None:
    session = Session()
    session.user("root")
    for number in range(4_000):
        session.user(f"try {number}", parent="u0")
        session.answer(f"m{number}", text("no"))
    transcripts = session.read(tmp_path)
    assert len(transcripts) == 21
    assert text_of(transcripts[0].messages[1]) == "try 3999"
    assert transcripts[0].mended == {"lines of abandoned branches": 2 * (4_000 - 21)}
