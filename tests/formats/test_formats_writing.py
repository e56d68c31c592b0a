"""What is written is read back equal, and appears whole or not at all."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.errors import UsageError
from host.formats import check_writable, read, write_dialogues, write_openai

characters = st.text(st.characters(exclude_categories=()).filter(lambda c: not "\ud800" <= c <= "\udfff") | st.just("\ud800"), max_size=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


@pytest.mark.parametrize("name", ["out.json", "out.jsonl", "out"])
@given(text=characters)
def test_messages_survive_writing_and_reading(folder: Path, name: str, text: str) -> None:
    messages: Any = [{"role": "user", "content": text, "x": None}, {"role": "assistant", "content": "灯台\n\r\u2028"}]
    path = folder / name
    write_openai(path, messages)
    assert read(path)[0].messages == messages
    path.read_bytes().decode("utf-8")


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_several_conversations_keep_their_titles(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_dialogues(path, [("a", [{"role": "user", "content": "1"}]), ("b", [{"role": "user", "content": "2"}])])
    assert [(transcript.title, transcript.messages[0]["content"]) for transcript in read(path)] == [("a", "1"), ("b", "2")]


def test_a_failed_writing_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_openai(path, [{"role": "user", "content": "old"}])
    broken: Any = [{"role": "user", "content": object()}]
    with pytest.raises(TypeError):
        write_openai(path, broken)
    assert read(path)[0].messages[0]["content"] == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_a_link_keeps_being_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_text("[]")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    write_openai(link, [{"role": "user", "content": "new"}])
    assert link.is_symlink() and "new" in target.read_text()


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write_openai(tmp_path / "no" / "out.json", [])


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "out.json"
    path.write_text("[]")
    path.chmod(mode)
    write_openai(path, [{"role": "user", "content": "new"}])
    assert stat.S_IMODE(path.stat().st_mode) == mode and "new" in path.read_text()


def test_a_new_file_has_the_mode_that_files_have_here(tmp_path: Path) -> None:
    (tmp_path / "touched").touch()
    write_openai(tmp_path / "written", [])
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "touched").stat().st_mode


def test_a_read_only_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("kept")
    path.chmod(0o444)
    with pytest.raises(UsageError, match="read-only"):
        write_openai(path, [])
    assert path.read_text() == "kept" and list(tmp_path.iterdir()) == [path]


def test_the_longest_name_can_be_written_and_a_longer_one_is_a_usage_error(tmp_path: Path) -> None:
    write_openai(tmp_path / ("n" * 255), [])
    with pytest.raises(UsageError, match="too long"):
        write_openai(tmp_path / ("n" * 256), [])


def test_looking_whether_a_file_can_be_written_makes_none(tmp_path: Path) -> None:
    check_writable(tmp_path / "out.json")
    check_writable(Path("/dev/null"), recording=Path("/dev/null"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_numbers_that_json_does_not_have_are_written_as_null(tmp_path: Path, name: str) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    path = tmp_path / name
    odd: Any = [
        {"role": "user", "content": "NaN \ud800", "x": [float("nan"), float("-inf"), 1.5]},
        {"role": "assistant", "y": float("inf")},
    ]
    write_openai(path, odd)
    texts = path.read_text("utf-8").splitlines() if name.endswith("l") else [path.read_text("utf-8")]
    for text in texts:
        json.loads(text, parse_constant=refuse)
    assert read(path)[0].messages[0] == {"role": "user", "content": "NaN \ud800", "x": [None, None, 1.5]}
    assert odd[1]["y"] == float("inf")
