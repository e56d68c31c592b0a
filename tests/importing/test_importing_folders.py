"""Finding session files again and again: what changed is seen, what did not is not listed twice, and time is kept."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from host.formats.sessions import CLIENTS
from host.importing.catching_up import FILE, UNSEEN
from host.importing.folders import Folders, Found
from host.importing.places import Place, Places
from host.importing.unread import Changed, Stamp, stamp_of
from host.importing.values import counted
from host.importing.watching import ALWAYS, STRIDE, Watch
from tests.importing.conftest import Desk, append, encoded, rollout, turns

AMPLE = 1e12  # a time that does not come
OVER = 0.0  # one that is over
AGES = 3_600  # seconds: a folder that changed so long ago has settled


def settle(*folders: Path) -> None:
    """Let folders have changed long ago."""
    for folder in folders:
        os.utime(folder, (time.time() - AGES, time.time() - AGES))


def listed(folders: Folders, root: Path, pattern: str = "projects/*/*.jsonl", until: float = AMPLE) -> set[str]:
    """The names of the files found, without their folders."""
    return {Path(file.path).name for file in folders.files(Place(root, pattern, "claude-code"), until)}


def made(path: Path) -> Path:
    """A file with something in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    return path


def test_what_is_found_is_what_a_whole_search_finds_links_and_circles_included(desk: Desk) -> None:
    path = desk.claude("one", turns("one", 1))
    projects = path.parents[1]
    made(path.with_suffix("") / "subagents" / "agent-a1.jsonl")
    made(projects / "-p" / "memory" / "deeper.jsonl")
    made(projects / "-p" / "notes.txt")
    desk.codex("two", rollout("two", 1))
    desk.codex("three", rollout("three", 1), folder="archived_sessions")
    desk.codex("four", rollout("four", 1), folder="sessions")
    (projects / "linked").symlink_to(path.parent, target_is_directory=True)
    (projects / "-p" / "again.jsonl").symlink_to(path)
    (projects / "-p" / "gone.jsonl").symlink_to(projects / "nowhere.jsonl")
    (projects / "-p" / "self.jsonl").symlink_to(projects / "-p" / "self.jsonl")
    (projects / "-p" / "folder.jsonl").mkdir()
    (desk.user_home / ".codex" / "sessions" / "circle").symlink_to(desk.user_home / ".codex", target_is_directory=True)
    places, folders = Places(desk.user_home, {}), Folders()
    for client in CLIENTS:
        found = [file for place in places.searched(client) for file in folders.files(place, AMPLE)]
        whole = [path for place in places.searched(client) for path in place.root.glob(place.pattern) if path.is_file()]
        assert {file.name for file in found} == {os.path.realpath(path) for path in whole}
        assert all(file.recorded().client == client for file in found)


def test_what_changes_in_a_folder_is_seen_and_what_does_not_is_not_listed_again(tmp_path: Path) -> None:
    first, folders = made(tmp_path / "projects" / "a" / "1.jsonl"), Folders()
    settle(first.parent, first.parents[1])
    assert listed(folders, tmp_path) == {"1.jsonl"}
    made(first.with_name("2.jsonl"))
    assert listed(folders, tmp_path) == {"1.jsonl", "2.jsonl"}
    made(tmp_path / "projects" / "b" / "3.jsonl")
    first.unlink()
    assert listed(folders, tmp_path) == {"2.jsonl", "3.jsonl"}
    settle(first.parent)
    assert listed(folders, tmp_path) == {"2.jsonl", "3.jsonl"}
    before = first.parent.stat().st_mtime_ns
    hidden = made(first.with_name("hidden.jsonl"))
    os.utime(first.parent, ns=(before, before))
    assert listed(folders, tmp_path) == {"2.jsonl", "3.jsonl"}
    hidden.touch()
    os.utime(first.parent)
    assert listed(folders, tmp_path) == {"2.jsonl", "3.jsonl", "hidden.jsonl"}
    (tmp_path / "projects" / "b" / "3.jsonl").unlink()
    (tmp_path / "projects" / "b").rmdir()
    assert listed(folders, tmp_path) == {"2.jsonl", "hidden.jsonl"}


def test_a_folder_that_changed_just_now_is_listed_again_though_its_time_is_the_same(tmp_path: Path) -> None:
    first, folders = made(tmp_path / "projects" / "a" / "1.jsonl"), Folders()
    moment = time.time_ns()
    os.utime(first.parent, ns=(moment, moment))
    assert listed(folders, tmp_path) == {"1.jsonl"}
    made(first.with_name("2.jsonl"))
    os.utime(first.parent, ns=(moment, moment))  # a file system that counts time in large steps
    assert listed(folders, tmp_path) == {"1.jsonl", "2.jsonl"}


def test_without_time_known_folders_are_looked_at_and_others_counted(tmp_path: Path) -> None:
    first, folders = made(tmp_path / "projects" / "a" / "1.jsonl"), Folders()
    assert listed(folders, tmp_path, until=OVER) == set()
    assert folders.unlisted == 1
    listed(folders, tmp_path)
    made(first.with_name("2.jsonl"))
    made(tmp_path / "projects" / "b" / "3.jsonl")
    folders.unlisted = 0
    assert listed(folders, tmp_path, until=OVER) == {"1.jsonl", "2.jsonl"}
    assert folders.unlisted == 1


@pytest.fixture
def many(tmp_path: Path) -> dict[str, Found]:
    """Files, more than are looked at each time; the first was written last."""
    found = {}
    for number in range(ALWAYS + 3 * STRIDE):
        path = made(tmp_path / f"{number:04}.jsonl")
        os.utime(path, (1_000_000 - number, 1_000_000 - number))
        found[str(path)] = Found(str(path), str(path), "claude-code")
    return found


def stamps(files: Iterable[str]) -> dict[str, Stamp]:
    """The files as they are, as if they had been read."""
    return {name: stamp for name in files if (stamp := stamp_of(name)) is not None}


def names(changed: Iterable[Changed]) -> list[str]:
    """Of files that changed."""
    return [Path(each.file.path).stem for each in changed]


def test_without_time_the_newest_are_looked_at_and_the_others_in_turn(many: dict[str, Found]) -> None:
    known, watch = stamps(many), Watch()
    oldest, newest = list(many)[-1], next(iter(many))
    append(Path(oldest), b"{}\n")
    append(Path(newest), b"{}\n")
    for unseen in (2 * STRIDE, STRIDE):
        assert names(watch.changed(many, known, OVER)) == [Path(newest).stem]
        assert watch.unseen == unseen
    assert set(names(watch.changed(many, known, OVER))) == {Path(newest).stem, Path(oldest).stem}
    assert watch.unseen == 0


def test_what_changed_once_is_among_the_first_from_then_on_and_told_until_it_is_read(many: dict[str, Found]) -> None:
    known, watch = stamps(many), Watch()
    assert watch.changed(many, known, AMPLE) == []
    oldest = list(many)[-1]
    append(Path(oldest), b"{}\n")
    assert names(watch.changed(many, known, AMPLE)) == [Path(oldest).stem]
    for _ in range(3):
        append(Path(oldest), b"{}\n")
        (seen,) = watch.changed(many, known, OVER)
        assert seen.stamp == stamp_of(oldest)
    assert watch.changed(many, known | stamps([oldest]), OVER) == []


def test_files_that_go_and_come_are_no_trouble(many: dict[str, Found]) -> None:
    watch = Watch()
    assert len(watch.changed(many, {}, AMPLE)) == len(many)
    first = next(iter(many))
    Path(first).unlink()
    assert len(watch.changed(many, {}, AMPLE)) == len(many) - 1
    rest = {name: file for name, file in many.items() if name != first}
    assert len(watch.changed(rest, {}, AMPLE)) == len(rest)
    made(Path(first))
    assert names(watch.changed(many, stamps(rest), AMPLE)) == [Path(first).stem]


def test_files_that_were_never_looked_at_are_said_and_read_by_the_next_searches(desk: Desk) -> None:
    for number in range(ALWAYS + 2 * STRIDE):
        desk.claude(str(number), turns(str(number), 1))
    desk.run()
    last = desk.claude("0", turns("0", 1), age=10)
    append(last, encoded(turns("0", 1, first=2)))
    importer = desk.another()
    caught = [importer.catch_up((), 1e-9) for _ in range(9)]
    assert all(set(each.notices) <= {UNSEEN.format(counted(number, FILE)) for number in range(1, 300)} for each in caught)
    assert caught[-1].notices == ()
    assert sum(each.messages for each in caught) == 2


def test_a_first_search_of_many_new_sessions_says_about_how_much_is_left(desk: Desk) -> None:
    for number in range(ALWAYS):
        desk.claude(str(number), turns(str(number), 2))
    left = desk.importer.catch_up((), 1e-9).lines_left
    assert 0.8 * 4 * ALWAYS < left <= 4 * ALWAYS
