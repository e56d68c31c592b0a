"""Whose a recording is: ids that come again, files that hold another session now, clients that are named wrongly."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from host.errors import NotAConversation
from host.messages.reading import text_of
from host.store.query import Query
from tests.importing.conftest import NOON, Desk, Record, append, encoded, line, rollout, session_id, turns

OTHER = "/home/ann/other"
AMPLE = 60.0
CHAT = [{"role": "user", "content": "a question"}, {"role": "assistant", "content": "an answer"}]


def foreign_ids(rows: list[Record]) -> list[Record]:
    """The same session with lines of other ids, as another one would have."""
    return [{**row, "uuid": f"x{row['uuid']}", "parentUuid": row["parentUuid"] and f"x{row['parentUuid']}"} for row in rows]


def found_in(desk: Desk, directory: str, words: str) -> int:
    """How many messages a search in one project finds."""
    desk.store.search.catch_up()
    return len(desk.store.search.find(Query(words, directories=(directory,))).hits)


def test_one_id_in_two_projects_is_two_conversations_and_neither_sees_the_other(desk: Desk) -> None:
    desk.claude("talk", turns("talk", 2))
    desk.claude("talk", foreign_ids(turns("talk", 3, cwd=OTHER, begin=NOON + timedelta(days=1))), folder="-home-ann-other")
    done = desk.run()
    assert (done.conversations, done.messages) == (2, 10)
    assert (found_in(desk, OTHER, "talk"), found_in(desk, "/home/ann/shop", "talk")) == (6, 4)
    ids = {session.id for session in desk.store.sessions.listed()}
    assert session_id("talk") in ids and all(name.startswith(session_id("talk")) for name in ids)
    desk.claude("talk", foreign_ids(turns("talk", 3, cwd=OTHER)), folder="-backup-of-other")
    assert (desk.run().messages, len(desk.store.sessions.listed())) == (0, 2)


def test_one_agent_in_two_projects_is_two_conversations(desk: Desk) -> None:
    for cwd, folder in (("/home/ann/shop", "-home-ann-shop"), (OTHER, "-home-ann-other")):
        chain = [line("talk", "user", f"the agent in {cwd}", 2, isSidechain=True, agentId="a1b2c3d", cwd=cwd)]
        desk.write(desk.user_home / ".claude" / "projects" / folder / "agent-a1b2c3d.jsonl", chain)
    assert (desk.run().conversations, len(desk.store.sessions.listed())) == (2, 2)


def test_two_chains_of_one_file_that_want_one_name_get_two(desk: Desk, tmp_path: Path) -> None:
    talks = [{"id": name, "messages": [{"role": "user", "content": f"said by {name}"}]} for name in ("a b", "a/b", "a?b")]
    desk.write(tmp_path / "talks.jsonl", encoded(talks))
    assert desk.run(tmp_path / "talks.jsonl").conversations == 3
    assert desk.run(tmp_path / "talks.jsonl").unchanged == 1


def test_a_file_that_holds_another_session_now_is_another_conversation(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "newest.jsonl", turns("first", 2))
    desk.run(path)
    desk.write(path, turns("second", 3), age=-60)
    done = desk.run(path)
    assert (done.conversations, done.messages) == (1, 6)
    assert (len(desk.texts("first")), len(desk.texts("second"))) == (4, 6)
    append(path, encoded(turns("second", 1, first=4)))
    assert desk.run(path).messages == 2 and len(desk.texts("second")) == 8
    desk.write(path, turns("first", 3), age=-120)
    assert desk.run(path).messages == 2 and len(desk.texts("first")) == 6


def test_a_rollout_in_the_place_of_another_is_another_conversation(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "rollout.jsonl", rollout("first", 1))
    desk.run(path)
    desk.write(path, turns("second", 1), age=-60)
    assert desk.run(path).conversations == 1 and len(desk.texts("second")) == 2


def test_a_file_that_mixes_the_ids_of_two_sessions_is_one_conversation(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "mixed.jsonl", [*turns("first", 2), *turns("second", 2)])
    assert (desk.run(path).conversations, len(desk.texts("first"))) == (1, 8)
    path.write_bytes(b"\n" + path.read_bytes())
    assert (desk.run(path).messages, len(desk.store.sessions.listed())) == (0, 1)


def test_a_named_file_of_another_client_is_an_error_and_is_read_when_it_is_named_rightly(desk: Desk, tmp_path: Path) -> None:
    chat = desk.write(tmp_path / "chat.jsonl", CHAT)
    for client in ("claude-code", "codex"):
        with pytest.raises(NotAConversation, match=r"chat\.jsonl is no conversation"):
            desk.run(chat, client=client)
    assert desk.run(chat).messages == 2
    claude = desk.write(tmp_path / "talk.jsonl", turns("talk", 1))
    with pytest.raises(NotAConversation):
        desk.run(claude, client="openai")
    assert desk.run(claude).messages == 2


def test_in_a_folder_the_files_of_other_clients_are_passed_over_and_not_remembered(desk: Desk, tmp_path: Path) -> None:
    desk.write(tmp_path / "all" / "chat.jsonl", CHAT)
    desk.write(tmp_path / "all" / "talk.jsonl", turns("talk", 1))
    for unchanged in (0, 1):
        done = desk.run(tmp_path / "all", client="claude-code")
        assert (done.messages, done.passed_over, done.unchanged) == (2 * (1 - unchanged), 1, unchanged)
    assert desk.run(tmp_path / "all").messages == 2


def test_a_file_that_was_read_as_another_clients_is_read_anew(desk: Desk, tmp_path: Path) -> None:
    both = [*rollout("rolled", 1), *turns("talk", 1)]
    path = desk.write(tmp_path / "both.jsonl", both)
    assert desk.run(path, client="codex").messages == 2
    assert desk.run(path, client="claude-code").messages == 2
    assert {session.source for session in desk.store.sessions.listed()} == {"codex", "claude-code"}
    assert desk.run(path, client="claude-code").unchanged == 1


DAMAGED = b"{damaged\nand this\n"


def test_a_file_that_brought_nothing_is_told_again_each_time(desk: Desk, tmp_path: Path) -> None:
    desk.claude("damaged", DAMAGED)
    desk.claude("empty", b"")
    desk.claude("only a snapshot", [{"type": "file-history-snapshot", "messageId": "1"}])
    for _ in range(2):
        done = desk.run()
        assert (done.read, done.unchanged, done.empty, done.passed_over, len(done.damaged)) == (0, 0, 2, 1, 2)
    path = desk.claude("only a snapshot", [{"type": "file-history-snapshot", "messageId": "1"}, *turns("talk", 1)])
    assert desk.run().messages == 2
    append(path, DAMAGED)
    assert len(desk.run().damaged) == 2 + 2
    assert len(desk.run().damaged) == 2


@pytest.mark.parametrize("content", [b'{"type": "file-history-snapshot", "messageId": "1"}\n', b'{"model": "x", "messages": []}'])
def test_a_named_file_without_a_message_is_told_again_each_time(desk: Desk, tmp_path: Path, content: bytes) -> None:
    path = desk.write(tmp_path / "named.json", content)
    for _ in range(2):
        (trouble,) = desk.run(path).unreadable
        assert "holds no message" in trouble.why and trouble.file == str(path)


def test_catching_up_reads_a_file_without_a_message_once(desk: Desk) -> None:
    desk.claude("damaged", DAMAGED)
    path = desk.claude("snapshot", [{"type": "file-history-snapshot", "messageId": "1"}])
    caught = desk.importer.catch_up((), AMPLE)
    assert (caught.lines_left, len(caught.notices)) == (0, 1) and caught.notices[0].startswith("2 damaged lines were passed over")
    assert desk.importer.catch_up((), AMPLE).notices == ()
    append(path, encoded(turns("snapshot", 1)))
    assert desk.importer.catch_up((), AMPLE).messages == 2


def test_what_is_wrong_in_another_projects_file_is_told_without_its_name(desk: Desk) -> None:
    theirs = desk.claude("theirs", encoded(turns("theirs", 1, cwd="/home/ann-shop")) + b"oops\n", age=2)
    desk.claude("nobody's", b"oops\n", age=1)
    ours = desk.claude("ours", encoded(turns("ours", 1)) + b"oops\n")
    caught = desk.importer.catch_up(("/home/ann/shop",), AMPLE)
    assert caught.messages == 2 and caught.notices == (f"2 damaged lines were passed over, the first: {ours}:3: not JSON: {WHY}",)
    assert desk.importer.catch_up(("/home/ann-shop",), AMPLE).notices == (
        f"1 damaged line was passed over, the first: {theirs}:3: not JSON: {WHY}",
    )


WHY = "Expecting value at column 1"


def test_a_session_whose_path_is_no_text_is_followed(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9 \xff") / "talk.jsonl"
    try:
        desk.write(path, turns("talk", 1))
    except OSError:
        pytest.skip("this file system takes no such name")
    desk.run(path)
    append(path, encoded(turns("talk", 1, first=2)))
    assert desk.importer.catch_up(("/home/ann/shop",), AMPLE).messages == 2


def test_another_container_of_the_same_messages_is_the_same_conversation(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "chat.json", json.dumps(CHAT).encode())
    desk.run(path)
    path.write_text(json.dumps({"model": "test", "messages": [*CHAT, CHAT[0]]}))
    assert desk.run(path).messages == 1
    (session,) = desk.store.sessions.listed()
    said = [text_of(row.message) for row in desk.store.archive(session.conversation).current() if row.message]
    assert said == ["a question", "an answer", "a question"]
