"""Plugins that are asked before a compaction: which are loaded, and what becomes of their answers and faults."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from host.discovery import Places, load_memories
from host.discovery.loading import load_directory
from host.hookspecs import hookimpl
from host.testing.messages import user

MEMORY = """
from host.plugin import hookimpl
@hookimpl
def on_pre_compress(messages, session):
    print("heard")
    messages[0]["content"] = "scribbled"
    messages.clear()
    return "  {word} of " + session + " "
"""
ENGINE = "from host.plugin import ContextEngine\nclass Demo(ContextEngine): name = 'engine'\n"


def plant(folder: Path, source: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(source)
    return folder


@dataclass(frozen=True)
class Entry:
    """An entry point of a distribution that need not be installed."""

    name: str
    plugin: Any
    owner: str = "Some_Memory"
    value: str = "somewhere"

    @property
    def dist(self) -> Any:
        return SimpleNamespace(name=self.owner)

    def load(self) -> Any:
        if isinstance(self.plugin, BaseException):
            raise self.plugin
        return self.plugin


class Attached:
    @hookimpl
    def on_pre_compress(self, messages: Any) -> str:
        return f"{len(messages)} messages"


class Silent:
    @hookimpl
    def on_pre_compress(self) -> None: ...


class Odd:
    @hookimpl
    def on_pre_compress(self) -> int:
        return 7


class Broken:
    @hookimpl
    def on_pre_compress(self) -> str:
        raise SystemExit("no")


class Misspelt:
    @hookimpl
    def on_pre_compres(self) -> str:
        return ""


def places(home: Path, *enabled: str, entries: tuple[Entry, ...] = (), **more: Any) -> Places:
    return Places(built_ins={}, home=home / "plugins" / "context_engine", enabled=frozenset(enabled), entry_points=lambda: entries, **more)


def test_only_what_is_named_is_imported(tmp_path: Path) -> None:
    named = plant(tmp_path / "plugins" / "notes", MEMORY.format(word="word"))
    plant(tmp_path / "plugins" / "other", "raise RuntimeError('imported')")
    told: list[str] = []
    entries = (Entry("elsewhere", RuntimeError("imported")),)
    memories = load_memories(places(tmp_path, "notes", entries=entries), told.append)
    assert memories is not None and memories([user("a")], "S") == "word of S"
    assert told == [] and load_directory(named)
    assert load_memories(places(tmp_path, entries=entries), told.append) is None and told == []


@pytest.mark.parametrize("folder", ["plugins/notes", "plugins/context_engine/notes"])
def test_a_folder_beside_the_engines_or_above_them_is_found(tmp_path: Path, folder: str) -> None:
    plant(tmp_path / folder, MEMORY.format(word="word"))
    assert load_memories(places(tmp_path, "notes"), pytest.fail) is not None


def test_disabled_unsafe_and_untrusted_ones_stay_out(tmp_path: Path) -> None:
    plant(tmp_path / "plugins" / "notes", "raise RuntimeError('imported')")
    plant(tmp_path / "project" / "notes", "raise RuntimeError('imported')")
    assert load_memories(places(tmp_path, "notes", disabled=frozenset({"notes"})), pytest.fail) is None
    told: list[str] = []
    assert load_memories(places(tmp_path / "none", "../notes", "notes", untrusted=tmp_path / "project"), told.append) is None
    assert [text.partition(",")[0] for text in told] == ["plugins.enabled names ../notes", "plugins.enabled names notes"]


def test_an_engine_that_is_enabled_is_no_memory(tmp_path: Path) -> None:
    plant(tmp_path / "plugins" / "context_engine" / "engine", ENGINE)
    assert load_memories(places(tmp_path, "engine"), pytest.fail) is None


def test_a_name_that_nobody_has_is_told(tmp_path: Path) -> None:
    plant(tmp_path / "plugins" / "notes", "")
    plant(tmp_path / "plugins" / "context_engine" / "engine", ENGINE)
    entries = (Entry("recorder", SimpleNamespace(), owner="Some_Recorder"),)
    names = ("notes", "engine", "recorder", "some-recorder", "off", "ntoes", "Recorder")
    told: list[str] = []
    load_memories(places(tmp_path, *names, entries=entries, disabled=frozenset({"off"})), told.append)
    assert [text.partition(",")[0] for text in told] == ["plugins.enabled names Recorder", "plugins.enabled names ntoes"]


def test_messages_are_copies_and_what_is_printed_is_no_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path / "plugins" / "notes", MEMORY.format(word="word"))
    memories = load_memories(places(tmp_path, "notes", registered={"here": Attached()}), pytest.fail)
    given = [user("a"), user("b")]
    assert memories is not None and memories(given, "S") == "word of S\n\n2 messages"
    assert given == [user("a"), user("b")]
    assert capsys.readouterr() == ("", "heard\n")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Entry("m", ImportError("no module")), "its import raised ImportError"),
        (Entry("m", Misspelt()), "did you mean 'on_pre_compress'"),
    ],
)
def test_one_that_cannot_be_loaded_is_told_and_the_others_are_heard(tmp_path: Path, entry: Entry, words: str) -> None:
    told: list[str] = []
    entries = (entry, Entry("good", Attached()))
    memories = load_memories(places(tmp_path, "some-memory", entries=entries), told.append)
    assert memories is not None and memories([], "") == "0 messages"
    (warning,) = told
    assert words in warning and warning.startswith("plugin m (entry point of Some_Memory)")


@pytest.mark.parametrize(("plugin", "words"), [(Broken(), "raised SystemExit"), (Odd(), "returned int, not a text")])
def test_one_that_fails_is_told_once_and_the_others_are_heard(tmp_path: Path, plugin: object, words: str) -> None:
    told: list[str] = []
    known = {"bad": plugin, "good": Attached(), "silent": Silent()}
    memories = load_memories(places(tmp_path, registered=known), told.append)
    assert memories is not None
    assert [memories([], ""), memories([], "")] == ["0 messages"] * 2
    (warning,) = told
    assert words in warning and "bad" in warning


def test_the_example_of_the_docs_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text("utf-8")
    source = page.split("```python\n")[1].split("```")[0]
    plant(tmp_path / "plugins" / "notebook", source)
    memories = load_memories(places(tmp_path, "notebook"), pytest.fail)
    assert memories is not None
    assert memories([user("do not touch public/")], "S1") == ""
    assert memories([user("now the tests")], "S1") == "S1: do not touch public/"
    assert not any("notebook" in path for path in sys.path)
