"""Which files are read: the clients' folders, and what was named."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from host.errors import NotAConversation, UsageError
from host.formats import latest
from host.importing.places import project_folders
from tests.importing.conftest import NOON, Desk, encoded, rollout, session_id, turns


def test_every_session_of_every_client_is_found_side_chains_and_what_was_put_away_too(desk: Desk) -> None:
    projects = desk.user_home / ".claude" / "projects"
    desk.claude("one", turns("one", 1))
    desk.write(projects / "-p" / "agent-a1.jsonl", turns("two", 1))
    desk.write(projects / "-p" / session_id("one") / "subagents" / "agent-a2.jsonl", turns("three", 1))
    desk.write(desk.user_home / ".config" / "claude" / "projects" / "-p" / "four.jsonl", turns("four", 1))
    desk.codex("five", rollout("five", 1))
    desk.codex("six", rollout("six", 1), folder="archived_sessions")
    desk.write(projects / "-p" / "notes.txt", b"no session")
    desk.write(projects / "-p" / "memory" / "deeper.jsonl", b"no session")
    assert desk.run().conversations == 6


@pytest.mark.parametrize(("client", "found"), [("claude-code", 1), ("codex", 2)])
def test_one_client_is_read_alone(desk: Desk, client: str, found: int) -> None:
    desk.claude("one", turns("one", 1))
    desk.codex("two", rollout("two", 1))
    desk.codex("three", rollout("three", 1))
    assert desk.run(client=client).conversations == found


def test_the_clients_own_variables_move_their_folders(desk: Desk, tmp_path: Path) -> None:
    desk.claude("at home", turns("at home", 1))
    desk.environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved"), "CODEX_HOME": str(tmp_path / "codex")}
    desk.write(tmp_path / "moved" / "projects" / "-p" / "one.jsonl", turns("one", 1))
    desk.write(tmp_path / "codex" / "sessions" / "rollout-1.jsonl", rollout("two", 1))
    assert desk.run().conversations == 2
    assert desk.texts("one") and desk.texts("two")


def test_side_chains_are_never_the_latest_session(desk: Desk) -> None:
    newest = desk.claude("one", turns("one", 1), age=10)
    desk.write(newest.with_suffix("") / "subagents" / "x.jsonl", turns("two", 1), age=0)
    assert latest("claude-code", desk.user_home, {}) == newest


@pytest.mark.parametrize(("client", "says"), [(None, ["any client", ".claude", ".codex"]), ("codex", ["codex", ".codex"])])
def test_no_session_anywhere_says_where_was_looked(desk: Desk, client: str | None, says: list[str]) -> None:
    with pytest.raises(UsageError) as refused:
        desk.run(client=client)
    assert all(word in refused.value.what for word in says) and "CODEX_HOME" in refused.value.advice


@pytest.mark.parametrize(("client", "says"), [("openai", "no folder of their own"), ("codecks", "did you mean 'codex'")])
def test_a_client_without_folders_wants_a_path(desk: Desk, client: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        desk.run(client=client)


def test_a_folder_is_read_to_its_depths_and_foreign_files_in_it_are_counted(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "all of it"
    desk.write(folder / "a b" / "one two.jsonl", turns("one", 1))
    desk.write(folder / "deep" / "er" / "two.jsonl", rollout("two", 1))
    desk.write(folder / "talk.json", b'[{"role": "user", "content": "hello"}]')
    desk.write(folder / "package.json", b'{"name": "x", "version": "1", "dependencies": {}}')
    desk.write(folder / "rows.jsonl", b'{"a": 1}\n{"b": 2}\n')
    desk.write(folder / "empty.jsonl", b"")
    desk.write(folder / "picture.json", b"\x89PNG\r\n")
    desk.write(folder / "readme.md", b"# no recording")
    done = desk.run(folder)
    assert (done.read, done.passed_over, done.conversations) == (3, 4, 3) and done.is_complete


def test_links_are_followed_to_files_once_and_circles_end(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    real = desk.write(folder / "real.jsonl", turns("one", 1))
    (folder / "again.jsonl").symlink_to(real)
    (folder / "circle").symlink_to(folder, target_is_directory=True)
    (folder / "self.jsonl").symlink_to(folder / "self.jsonl")
    (folder / "gone.jsonl").symlink_to(folder / "nowhere.jsonl")
    done = desk.run(folder)
    assert (done.read, done.conversations, done.messages) == (1, 1, 2)
    assert desk.run(folder / "again.jsonl").unchanged == 1


def test_a_file_whose_name_is_no_text_is_read_and_remembered(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9 \xff.jsonl")
    try:
        desk.write(path, b"oops\n" + encoded(turns("one", 1)))
    except OSError:
        pytest.skip("this file system takes no such name")
    done = desk.run(path)
    assert (done.messages, len(done.damaged)) == (2, 1)
    assert "\\udcff" in str(done.damaged[0]) and str(done.damaged[0]).encode()
    assert desk.run(path).unchanged == 1


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"", "an empty file"), (b"once upon a time", "plain text"), (b'{"cells": [], "nbformat": 4}', "a Jupyter notebook")],
)
def test_a_named_file_that_holds_something_else_is_an_error_before_anything_is_kept(
    desk: Desk, tmp_path: Path, content: bytes, what: str
) -> None:
    fine, other = desk.write(tmp_path / "fine.jsonl", turns("one", 1)), desk.write(tmp_path / "other.jsonl", content)
    with pytest.raises(NotAConversation, match=what):
        desk.run(fine, other)
    assert desk.rows() == 0


def test_a_path_that_is_not_there_and_one_that_is_no_file_are_errors(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        desk.run(tmp_path / "nowhere")
    with pytest.raises(NotAConversation, match="no regular file"):
        desk.run(Path(os.devnull))


@pytest.mark.parametrize("content", [None, b'{"a": 1}\n'])
def test_a_folder_without_a_conversation_is_an_error(desk: Desk, tmp_path: Path, content: bytes | None) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if content is not None:
        desk.write(folder / "x.jsonl", content)
    with pytest.raises(UsageError, match="was found in"):
        desk.run(folder)


def test_a_named_client_takes_the_files_as_its_own(desk: Desk, tmp_path: Path) -> None:
    unusual = [{**row, "uuid": "", "sessionId": session_id("one")} for row in turns("one", 1)]
    path = desk.write(tmp_path / "one.jsonl", unusual)
    assert desk.run(path, client="claude-code").messages == 2
    assert desk.store.sessions.get(session_id("one")).source == "claude-code"


def test_a_file_that_is_gone_when_its_turn_comes_is_named_and_the_others_are_read(desk: Desk) -> None:
    desk.claude("first", turns("first", 1, begin=NOON + timedelta(days=1)))
    gone = desk.claude("gone", turns("gone", 1))
    desk.claude("last", turns("last", 1, begin=NOON - timedelta(days=1)))
    done = desk.importer.run(progress=lambda *_: gone.unlink(missing_ok=True))
    assert done.messages == 4 and [trouble.file for trouble in done.unreadable] == [str(gone)]
    assert not done.is_complete and desk.run().unchanged == 2


@pytest.mark.parametrize(
    ("directory", "name"), [("/home/ann/shop", "-home-ann-shop"), ("/home/ann/my.app_2/ü", "-home-ann-my-app-2--"), ("/", "-")]
)
def test_the_folder_of_a_working_directory_bears_its_name(directory: str, name: str) -> None:
    assert name in project_folders(directory)
