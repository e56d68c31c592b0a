"""What an import cannot read or keep, and what is written while it reads."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from host.formats.source import open_source
from host.importing.catching_up import UNMATCHED, WRITING
from host.importing.documents import keep_document
from host.importing.places import RecordedFile
from host.importing.recording import COMPARED_BYTES
from host.importing.values import Pace
from host.store.care import Forget
from host.store.readings import FORGOTTEN
from host.store.sqlite.store import FILE
from tests.importing.conftest import NOON, PROJECT, Desk, Record, append, encoded, line, rollout, turns

AMPLE = 60.0
CHAT = [{"role": "user", "content": "one"}]


@pytest.fixture
def forbidding() -> Iterator[Any]:
    """Takes the rights to files and folders, and gives them back."""
    taken: list[Path] = []

    def forbid(path: Path) -> Path:
        path.chmod(0)
        taken.append(path)
        if os.access(path, os.R_OK):
            pytest.skip("whoever runs this may look everywhere")
        return path

    yield forbid
    for path in reversed(taken):
        path.chmod(0o700)


def test_a_folder_of_a_client_without_rights_is_named(desk: Desk, forbidding: Any) -> None:
    hidden = desk.claude("hidden", turns("hidden", 1), folder="-home-ann-hidden").parent
    desk.claude("talk", turns("talk", 1))
    forbidding(hidden)
    done = desk.run()
    assert (done.messages, [str(trouble) for trouble in done.unreadable]) == (2, [f"{hidden}: Permission denied"])


def test_a_named_folder_without_rights_is_named(desk: Desk, tmp_path: Path, forbidding: Any) -> None:
    desk.write(tmp_path / "all" / "talk.jsonl", turns("talk", 1))
    hidden = desk.write(tmp_path / "all" / "hidden" / "talk.jsonl", turns("hidden", 1)).parent
    forbidding(hidden)
    done = desk.run(tmp_path / "all")
    assert (done.messages, [str(trouble) for trouble in done.unreadable]) == (2, [f"{hidden}: Permission denied"])
    (trouble,) = desk.run(forbidding(tmp_path / "all")).unreadable
    assert trouble.file == str(tmp_path / "all")


def test_folders_that_cannot_be_listed_are_named(desk: Desk, tmp_path: Path) -> None:
    """As root, who may look everywhere: a link in a circle cannot be listed by anybody."""
    projects = desk.claude("talk", turns("talk", 1)).parents[1]
    (projects / "circle").symlink_to(projects / "circle")
    (desk.user_home / ".codex").mkdir()
    (desk.user_home / ".codex" / "sessions").symlink_to(desk.user_home / ".codex" / "sessions")
    done = desk.run()
    assert done.messages == 2 and [trouble.file for trouble in done.unreadable] == [str(desk.user_home / ".codex" / "sessions")]


def test_a_file_that_cannot_be_read_is_named_once(desk: Desk, tmp_path: Path, forbidding: Any) -> None:
    path = desk.write(tmp_path / "all" / "talk.json", json.dumps(CHAT).encode())
    forbidding(path)
    (trouble,) = desk.run(tmp_path / "all").unreadable
    assert str(trouble) == f"{path}: Permission denied"


def test_a_file_that_is_replaced_while_it_is_read_is_read_again(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "talk.json", json.dumps(CHAT).encode())
    file = RecordedFile(path, os.path.realpath(path))
    with path.open("rb") as opened, open_source(path, tolerant=True) as source:
        status = os.fstat(opened.fileno())
        desk.write(path.with_suffix(".new"), json.dumps([*CHAT, {"role": "user", "content": "two"}]).encode(), age=-60).replace(path)
        assert keep_document(desk.store, file, source, opened, status, Pace(lambda: False)).messages == 1
    assert desk.run(path).messages == 1


def test_another_process_that_writes_costs_no_more_than_the_time_left(desk: Desk) -> None:
    desk.claude("talk", turns("talk", 1))
    other = sqlite3.connect(desk.home / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    caught = desk.importer.catch_up((PROJECT,), 0.05)
    waited = time.monotonic() - begun
    other.execute("ROLLBACK")
    other.close()
    assert (caught.lines_left, caught.messages, caught.notices) == (2, 0, (WRITING,))
    assert waited < 2.0  # the usual patience is longer
    assert desk.importer.catch_up((PROJECT,), AMPLE).messages == 2


def padded(name: str, count: int) -> list[Record]:
    """A session of more than is compared in a short look."""
    return [{**row, "pad": "x" * (COMPARED_BYTES // count)} for row in turns(name, count)]


@pytest.mark.parametrize("is_copy", [True, False])
def test_a_large_file_that_has_to_be_compared_is_left_to_an_import(desk: Desk, is_copy: bool) -> None:
    rows = padded("talk", 40)
    path = desk.claude("talk", rows)
    desk.run()
    if is_copy:
        path = desk.write(desk.user_home / ".config/claude/projects" / path.parent.name / path.name, rows, age=-60)
    else:
        desk.claude("talk", rows[10:], age=-60)
    importer = desk.another()
    for _ in range(2):
        caught = importer.catch_up((PROJECT,), AMPLE)
        assert (caught.lines_left, caught.messages, caught.notices) == (80 if is_copy else 70, 0, (UNMATCHED.format("1 session file"),))
    assert desk.run().messages == 0
    append(path, encoded(turns("talk", 1, first=41)))
    assert importer.catch_up((PROJECT,), AMPLE).messages == 2


NO_TIME = [None, "", "yesterday", 7, "0001-01-01T00:00:00+23:59"]


@pytest.mark.parametrize("stamp", NO_TIME)
def test_a_line_without_a_time_has_that_of_the_line_before(desk: Desk, stamp: object) -> None:
    rows = turns("talk", 3)
    rows[2]["timestamp"] = rows[5]["timestamp"] = stamp
    path = desk.claude("talk", rows)
    desk.run()
    times = [(row.time - NOON) // timedelta(minutes=1) for row in desk.current("talk")]
    assert times == [2, 3, 3, 5, 6, 6]
    (late,) = turns("talk", 1, first=4)[:1]
    append(path, encoded([{**late, "timestamp": stamp}]))
    desk.run()
    assert desk.current("talk")[-1].time == NOON + timedelta(minutes=6)


def test_the_first_line_without_a_time_has_that_of_the_next_and_without_any_that_of_the_file(desk: Desk) -> None:
    rows = turns("talk", 2)
    desk.claude("talk", [{**rows[0], "timestamp": None}, *rows[1:]])
    path = desk.codex("rolled", [{**row, "timestamp": None} for row in rollout("rolled", 1)[1:]])
    desk.run()
    assert desk.current("talk")[0].time == desk.current("talk")[1].time == NOON + timedelta(minutes=3)
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    assert {row.time for row in desk.current("rolled")} == {modified}


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("words", "its message should be an object, this is a string"),
        (["a"], "its message should be an object, this is a list"),
        (None, "its message should be an object, this is null"),
        ("missing", "it has no message"),
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_line_whose_message_is_no_object_is_damaged(desk: Desk, role: str, message: object, why: str) -> None:
    odd = line("talk", role, "x", 4) | {"message": message}
    if message == "missing":
        del odd["message"]
    path = desk.claude("talk", [*turns("talk", 1), odd, *turns("talk", 1, first=3)])
    done = desk.run()
    assert done.messages == 4 and [str(damage) for damage in done.damaged] == [f"{path}:3: {why}"]


def test_a_message_that_cannot_be_kept_is_named_with_its_number(desk: Desk, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(700):
        deep = [deep]
    chat = desk.write(tmp_path / "chat.jsonl", [*CHAT, {"role": "user", "content": deep}])
    (trouble,) = desk.run(chat).refused
    assert str(trouble).startswith(f"{chat}: message 2: a message cannot be kept: ")


def test_a_line_of_what_was_erased_is_told_once_and_no_failure(desk: Desk) -> None:
    results = [{"type": "tool_result", "tool_use_id": f"c{number}", "content": f"the secret {number}"} for number in range(2)]
    desk.claude("talk", [*turns("talk", 1), line("talk", "user", results, 4)])
    desk.run()
    desk.store.admin.forget(Forget(text="the secret"), apply=True)
    path = desk.claude("copy", [*turns("copy", 1), line("copy", "user", results, 4)])
    done = desk.run()
    assert (done.messages, done.refused, done.is_complete) == (2, (), True)
    assert [str(trouble) for trouble in done.erased] == [f"{path}:3: {FORGOTTEN}"]


@pytest.mark.parametrize("gap", [300, 700])
def test_a_line_that_comes_again_is_read_the_same_at_once_and_in_two_parts(desk: Desk, gap: int) -> None:
    for name, parts in (("whole", 1), ("cut", 2)):
        rows = turns(name, gap // 2)
        path = desk.claude(name, rows if parts == 2 else [*rows, *rows[:2]])
        desk.run()
        if parts == 2:
            append(path, encoded(rows[:2]))
            desk.run()
    assert len(desk.texts("whole")) == len(desk.texts("cut"))
