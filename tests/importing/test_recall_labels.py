"""The labels of ``tests/given/recall`` against what an import and the recall tools make of their sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from host.app.stores import open_archive
from host.importing.importer import Importer
from host.recall.boundary import Boundary
from host.recall.leaving import left_behind
from host.recall.recall import Recall
from host.store.protocols import FileStore
from host.tokens import Counter
from tests.importing.raw_files import Talk, talks_of, texts_of
from tests.importing.round import DATA, ROOT

JSON = dict[str, Any]
GIVEN = ROOT / "tests" / "given" / "recall"
REAL = DATA / "claude-code" / "session-624a4a58.jsonl"
MADE_UP, OTHER = GIVEN / "conversations" / "tool-library.jsonl", GIVEN / "conversations" / "other-desk.jsonl"
BUDGET = 800  # tokens of the hook's text
WANTED_TO, WANTED = 100, 11  # the line where a compaction is thought of, and how many of its fifteen values the text has at least
READ_TO = {1: 12, 2: None}  # the line up to which the made up session is read for each compaction
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")
count = Counter().text


def labels(name: str) -> list[JSON]:
    return [json.loads(line) for line in (GIVEN / name).read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Imported:
    store: FileStore
    session: str
    talk: Talk

    def position_of(self, line: int) -> int:
        """Where the message of a line is archived: the import keeps the order of the file."""
        place = next(place for place, said in enumerate(self.talk.messages) if line in said.lines)
        return self.store.archive(self.session).current()[place].place


def imported(home: Path, files: Sequence[Path]) -> Imported:
    store = open_archive(home)
    Importer(store, user_home=home, environ={}).run(files)
    talk = talks_of(files[0])[0]
    return Imported(store, talk.session, talk)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imported]:
    """The real session beside all the others of its folder."""
    made = imported(tmp_path_factory.mktemp("real"), [REAL, *sorted(REAL.parent.glob("*.jsonl"))])
    yield made
    made.store.close()


@pytest.fixture(scope="module", params=[1, 2])
def made_up(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """The hook's text after each compaction of the made up session, beside another session of its working directory."""
    home = tmp_path_factory.mktemp("made up")
    lines = MADE_UP.read_text(encoding="utf-8").splitlines(keepends=True)
    cut = home / MADE_UP.name
    cut.write_text("".join(lines[: READ_TO[request.param]]), encoding="utf-8")
    made = imported(home, [cut, OTHER])
    yield request.param, hook(made)
    made.store.close()


def hook(made: Imported) -> str:
    text = left_behind(made.store, made.session, everything=False, budget=BUDGET, count=count)
    assert text is not None
    return text


@pytest.mark.parametrize(
    "name", [*(pytest.param(f"{name}.jsonl", marks=needs_data) for name in ("values", "constraints", "wanted")), "left_behind.jsonl"]
)
def test_every_label_stands_where_it_says(name: str) -> None:
    for label in labels(name):
        folder = ROOT if label["file"].startswith("tests/") else DATA
        row = json.loads((folder / label["file"]).read_text(encoding="utf-8").split("\n")[label["line"] - 1])
        assert label["text"] in "\n".join(_strings(row["message"]["content"])), label
        assert len(label["text"]) <= 80


@needs_data
@pytest.mark.parametrize("label", labels("values.jsonl"), ids=lambda label: label["text"])
def test_a_value_is_found_on_its_side_of_the_compaction_and_opened_byte_for_byte(label: JSON, real: Imported) -> None:
    recall = Recall(real.store, Boundary(directories=(real.talk.directory,)), count=count)
    hits = _every_hit(recall, {"query": label["text"], "mode": "literal", "scope": real.session})
    summary = real.store.views(real.session).history()[0].upto
    found = {int(hit["message"].rsplit(":", 1)[1]): hit["open"] for hit in hits}
    assert set(found) == {real.position_of(line) for line in (label["line"], *label["also"])}
    assert all((position < summary) == (label["side"] == "before") for position in found)
    row = next(row for row in real.store.archive(real.session).rows() if row.position == min(found))
    opened = _opened(recall, found[row.position])
    for kind, text in texts_of(dict(row.message or {})):
        assert kind == "call" or text in opened


@needs_data
@pytest.mark.parametrize("label", labels("constraints.jsonl"), ids=lambda label: label["text"])
def test_after_the_real_compaction_the_hook_prints(label: JSON, real: Imported) -> None:
    assert label["expect"] == "may" or (label["text"] in hook(real)) == (label["expect"] == "must"), label["why"]


@needs_data
def test_after_the_real_compaction_the_hook_prints_no_value_that_is_still_in_the_window(real: Imported) -> None:
    text = hook(real)
    assert [label["text"] for label in labels("values.jsonl") if label["side"] == "after" and label["text"] in text] == []
    assert count(text) <= BUDGET


def test_after_each_compaction_of_the_made_up_session_the_hook_prints_what_the_labels_say(made_up: tuple[int, str]) -> None:
    compaction, text = made_up
    asked = [label for label in labels("left_behind.jsonl") if label["compaction"] == compaction]
    assert [label["text"] for label in asked if label["expect"] == "must" and label["text"] not in text] == []
    assert [label["text"] for label in asked if label["expect"] == "no" and label["text"] in text] == []
    assert count(text) <= BUDGET


@needs_data
@pytest.mark.parametrize("file", sorted({label["file"] for label in labels("wanted.jsonl")}))
def test_where_no_summary_is_known_yet_most_of_what_is_wanted_of_a_long_session_is_printed(file: str, tmp_path: Path) -> None:
    cut = tmp_path / Path(file).name
    cut.write_text("".join((DATA / file).read_text(encoding="utf-8").splitlines(keepends=True)[:WANTED_TO]), encoding="utf-8")
    made = imported(tmp_path, [cut])
    text = left_behind(made.store, made.session, everything=True, budget=BUDGET, count=count) or ""
    made.store.close()
    assert len([label for label in labels("wanted.jsonl") if label["file"] == file and label["text"] in text]) >= WANTED
    assert count(text) <= BUDGET


def _every_hit(recall: Recall, arguments: JSON) -> Iterator[JSON]:
    """The hits of all pages."""
    following: JSON | None = arguments
    while following is not None:
        told = json.loads(recall.call("lcm_grep", following).text)
        yield from told["hits"]
        following = told.get("next")


def _opened(recall: Recall, arguments: JSON) -> str:
    """All pages of a message, put together again."""
    fields: dict[str, str] = {}
    following: JSON | None = arguments
    while following is not None:
        told = json.loads(recall.call("lcm_expand", following).text)
        for field in (field for message in told["messages"] for field in message["fields"]):
            fields[field["field"]] = fields.get(field["field"], "") + field.get("text", field.get("json", ""))
        following = told.get("next")
    return "\n".join(fields.values())


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(each)
