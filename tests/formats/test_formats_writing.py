"""What is written is read back equal, and appears whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.errors import UsageError
from host.formats import read, write_dialogues, write_openai

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
