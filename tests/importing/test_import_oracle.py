"""Everything imported, nothing twice: the archive against the raw files (issue 4, Must be shown)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from host.app.stores import open_archive
from host.formats import read
from host.importing.importer import Importer
from host.store.protocols import Store
from tests.importing.oracle import check, counts
from tests.importing.raw_files import Spoken, Talk, talks_in, talks_of, texts_of
from tests.importing.round import DATA, ROOT, import_twice, imported

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")
CUTS = 12  # of a growing file
GIVEN = ROOT / "tests" / "given" / "recall" / "conversations"


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(DATA, id="shared data", marks=needs_data),
        pytest.param(ROOT / "examples", id="examples"),
        pytest.param(GIVEN, id="made up sessions"),
    ],
)
def test_an_import_is_complete_the_first_time_and_adds_nothing_the_second(folder: Path, tmp_path: Path) -> None:
    talks = talks_in(folder.resolve())
    found = import_twice(tmp_path, [folder.resolve()], talks)
    assert not found.checked.differences, "\n".join(map(str, found.checked.differences))
    assert found.first[0] == found.checked.conversations > 0
    assert found.second == found.first


@needs_data
@pytest.mark.parametrize("path", sorted((DATA / "claude-code").glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_reader_of_whole_files_says_what_the_file_says(path: Path) -> None:
    [talk], [transcript] = talks_of(path), read(path)
    told = [Spoken(message["role"], texts_of(dict(message)), ()) for message in transcript.messages]
    assert Counter(said.key for said in told) == Counter(said.key for said in talk.messages)


GROWING = [
    pytest.param(GIVEN / "tool-library.jsonl", id="made up session"),
    pytest.param(ROOT / "examples" / "claude-code.jsonl", id="claude code example"),
    pytest.param(ROOT / "examples" / "codex-rollout.jsonl", id="codex example"),
    *(
        pytest.param(path, id=path.name, marks=needs_data)
        for path in (*sorted((DATA / "claude-code").glob("*.jsonl")), *sorted((DATA / "codex").glob("rollout-*.jsonl")))
    ),
]


@pytest.mark.parametrize("path", GROWING)
def test_a_file_that_grew_between_imports_holds_the_same_in_the_end(path: Path, tmp_path: Path) -> None:
    written, growing = path.read_bytes(), tmp_path / "sessions" / path.name
    growing.parent.mkdir()
    chance = Random(path.name)
    cuts = sorted(chance.sample(range(1, len(written)), CUTS))  # in the middle of lines and of characters, too
    store = open_archive(tmp_path)
    for cut in (*cuts, len(written)):
        growing.write_bytes(written[:cut])
        Importer(store, user_home=tmp_path, environ={}).run([growing.parent])
    before, found = counts(store), check(store, talks_of(growing))
    assert not found.differences, "\n".join(map(str, found.differences))
    Importer(store, user_home=tmp_path, environ={}).run([growing.parent])
    assert counts(store) == before
    store.close()


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, list[Talk]]]:
    """An archive with nothing but the made up sessions, and what they say."""
    home = tmp_path_factory.mktemp("made up")
    imported(home, [GIVEN])
    store = open_archive(home)
    yield store, talks_in(GIVEN)
    store.close()


FAULTS = ("a lost message", "another text", "another order", "another time", "another directory", "a lost conversation")


@pytest.mark.parametrize("fault", FAULTS)
def test_the_oracle_sees(fault: str, made_up: tuple[Store, list[Talk]]) -> None:
    store, (talk, *others) = made_up
    assert check(store, [talk, *others]).differences == []
    assert check(store, [_spoiled(talk, fault), *others]).differences


def _spoiled(talk: Talk, how: str) -> Talk:
    """What the file would say if the archive had that fault."""
    first, second, *rest = talk.messages
    match how:
        case "a lost message":
            return replace(talk, messages=(first, replace(first, texts=(("content", "never imported"),)), second, *rest))
        case "another text":
            return replace(talk, messages=(replace(first, texts=(("content", "other words"),)), second, *rest))
        case "another order":
            return replace(talk, messages=(second, first, *rest))
        case "another time":
            return replace(talk, messages=(replace(first, times=second.times), second, *rest))
        case "another directory":
            return replace(talk, directory="/elsewhere")
    return replace(talk, file=talk.file.with_name("lost.jsonl"))
