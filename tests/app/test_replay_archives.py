"""Archives of replays: held while they are used, the newest kept, whatever runs at the same time."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from host.app import archive_of, open_archive, open_replay, using_replay
from host.app.replays import KEPT_REPLAYS
from host.app.stores import replays_in
from host.errors import UsageError
from host.testing.messages import user

ROOT = Path(__file__).parents[2]


def finished(home: Path, recording: str = "talk") -> str:
    """A replay with a message that ran to its end; returns its name."""
    with open_replay(home, recording) as (name, store):
        store.archive(store.sessions.create().conversation).append(user(f"said in {name}"))
    return name


def names(home: Path) -> set[str]:
    return {path.name for path in (home / "replays").iterdir() if path.is_dir()}


def test_a_running_replay_is_not_removed_by_later_ones(tmp_path: Path) -> None:
    with open_replay(tmp_path, "long") as (name, store):
        conversation = store.sessions.create().conversation
        store.archive(conversation).append(user("before the others"))
        for _ in range(KEPT_REPLAYS + 2):
            finished(tmp_path)
        store.archive(conversation).append(user("after them"))
    assert name in names(tmp_path) and len(names(tmp_path)) == KEPT_REPLAYS
    store = open_archive(tmp_path, replay=name)
    assert store.sessions.listed()[0].messages == 2
    store.close()


def test_the_newest_are_kept_by_when_they_ended(tmp_path: Path) -> None:
    made = [finished(tmp_path) for _ in range(KEPT_REPLAYS + 3)]
    assert [path.name for path in replays_in(tmp_path)] == made[:2:-1]


def test_a_replay_that_is_looked_into_is_not_removed_meanwhile(tmp_path: Path) -> None:
    oldest = finished(tmp_path)
    with using_replay(tmp_path, oldest):
        for _ in range(KEPT_REPLAYS + 1):
            finished(tmp_path)
        assert oldest in names(tmp_path)
    finished(tmp_path)
    assert oldest not in names(tmp_path)
    with pytest.raises(UsageError, match="no replay is called"), using_replay(tmp_path, oldest):
        pass


def test_what_holds_no_message_counts_for_nothing_and_is_removed(tmp_path: Path) -> None:
    kept = [finished(tmp_path) for _ in range(KEPT_REPLAYS)]
    for number in range(4):
        (tmp_path / "replays" / f"empty-{number}").mkdir()
    with pytest.raises(ZeroDivisionError), open_replay(tmp_path, "failed") as (name, store):
        store.sessions.create()
        _ = 1 / 0
    assert name not in names(tmp_path)
    assert names(tmp_path) == set(kept)


def test_a_folder_with_something_of_somebodys_else_is_left_alone(tmp_path: Path) -> None:
    notes = tmp_path / "replays" / "mine" / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("precious")
    finished(tmp_path)
    assert notes.read_text() == "precious"


def test_replays_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(open_replay(tmp_path, "same")) for _ in range(4)]
        assert len({name for name, _ in opened}) == len({store.path for _, store in opened}) == 4


def in_a_process_of_its_own(home: Path, messages: int) -> None:
    with open_replay(home, "parallel") as (_, store):
        archive = store.archive(store.sessions.create().conversation)
        for number in range(messages):
            archive.append(user(f"number {number}"))
        assert archive.range() == (1, messages)


def test_replays_side_by_side_leave_each_other_alone_and_ten_are_kept(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=in_a_process_of_its_own, args=(tmp_path, 40)) for _ in range(KEPT_REPLAYS + 3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * len(processes)
    assert len(names(tmp_path)) == KEPT_REPLAYS
    for path in replays_in(tmp_path):
        with sqlite3.connect(path / "archive.db") as connection:
            assert connection.execute("SELECT count(*) FROM messages").fetchone() == (40,)
        connection.close()


def test_a_replay_that_was_killed_is_free_again(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from host.app import open_replay
from host.testing.messages import user
with open_replay(Path({json.dumps(str(tmp_path))}), "killed") as (name, store):
    store.archive(store.sessions.create().conversation).append(user("the last words"))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=60)
    (killed,) = names(tmp_path)
    assert archive_of(tmp_path, killed).is_file()
    for _ in range(KEPT_REPLAYS):
        finished(tmp_path)
    assert killed not in names(tmp_path)
