"""Which projects the user trusts."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host.config import is_trusted, trust, trusted_projects, untrust
from host.errors import UsageError

Desk = Any  # conftest.Desk
Put = Callable[[str, str], Path]


def test_trust_is_kept_with_the_path_and_taken_back(desk: Desk) -> None:
    desk.write("context: {}", project=True)
    assert not is_trusted(desk.project, desk.home)
    assert trust(desk.project, desk.home).project == desk.project.resolve()
    assert is_trusted(desk.project, desk.home)
    assert [each.project for each in trusted_projects(desk.home)] == [desk.project.resolve()]
    assert untrust(desk.project, desk.home)
    assert not is_trusted(desk.project, desk.home)
    assert not untrust(desk.project, desk.home)


def test_trust_of_one_folder_says_nothing_about_a_copy(desk: Desk, tmp_path: Path) -> None:
    desk.write("context: {}", project=True)
    trust(desk.project, desk.home)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "config.yaml").write_text("context: {}")
    assert not is_trusted(tmp_path / "copy", desk.home)


def moved_down(folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "a.py").rename(folder / "d" / "a.py")


def compiled_and_never_checked(folder: Path) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_bytes(b"\xa7\r\r\n" + b"\1\0\0\0" + b"\0" * 20)


CHANGES: dict[str, Callable[[Path], object]] = {
    "edited": lambda folder: (folder / "a.py").write_text("2"),
    "added": lambda folder: (folder / "b.py").write_text(""),
    "renamed": lambda folder: (folder / "a.py").rename(folder / "c.py"),
    "removed": lambda folder: (folder / "a.py").unlink(),
    "moved down": moved_down,
    "compiled beside the source": lambda folder: (folder / "z.pyc").write_bytes(b"\0" * 20),
    "compiled, never checked": compiled_and_never_checked,
    "a pipe": lambda folder: os.mkfifo(folder / "pipe"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_asks_again(desk: Desk, plugin: Put, change: str) -> None:
    path = plugin("mine/a.py", "1")
    trust(desk.project, desk.home)
    CHANGES[change](path.parent)
    assert not is_trusted(desk.project, desk.home)


def test_a_changed_file_behind_a_link_asks_again(desk: Desk, plugin: Put, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.py").write_text("1")
    plugin("mine/a.py", "1").with_name("linked").symlink_to(outside)
    trust(desk.project, desk.home)
    assert is_trusted(desk.project, desk.home)
    (outside / "x.py").write_text("2")
    assert not is_trusted(desk.project, desk.home)


def test_folders_that_link_to_themselves_and_dangling_links_end(desk: Desk, plugin: Put) -> None:
    folder = plugin("mine/a.py", "1").parent
    (folder / "again").symlink_to(folder.parent)
    (folder / "gone.py").symlink_to(folder / "nowhere")
    trust(desk.project, desk.home)
    assert is_trusted(desk.project, desk.home)


def test_what_python_compiles_on_its_own_does_not_ask_again(desk: Desk, plugin: Put) -> None:
    folder = plugin("mine/a.py", "1").parent
    trust(desk.project, desk.home)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"\xa7\r\r\n" + b"\0" * 12)
    assert is_trusted(desk.project, desk.home)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"projects": 3}', '{"projects": {"/x": 3}}', "\udcff"])
def test_a_damaged_list_trusts_nobody_and_is_replaced(desk: Desk, text: str) -> None:
    desk.write("context: {}", project=True)
    (desk.home / "trust.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert not is_trusted(desk.project, desk.home)
    trust(desk.project, desk.home)
    assert is_trusted(desk.project, desk.home)


def test_the_list_is_the_users_own(desk: Desk) -> None:
    desk.write("context: {}", project=True)
    trust(desk.project, desk.home)
    path = desk.home / "trust.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(json.loads(path.read_text())["projects"]) == [str(desk.project.resolve())]


def test_a_folder_with_nothing_in_it_cannot_be_trusted(desk: Desk) -> None:
    with pytest.raises(UsageError, match="nothing to trust"):
        trust(desk.project, desk.home)
