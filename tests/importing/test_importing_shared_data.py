"""Every real recording of ../shared/data, twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from host.formats import FORMATS, read
from tests.importing.conftest import Desk

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")
WHOLE = tuple(known.name for known in FORMATS if known.name not in ("claude-code", "codex"))


def test_the_second_import_of_everything_adds_no_row(desk: Desk, tmp_path: Path) -> None:
    done = desk.run(DATA)
    again = desk.run(DATA)
    assert done.is_complete and done.messages == desk.rows() > 10_000
    assert (again.messages, again.versions, again.read, again.unchanged) == (0, 0, 0, done.read)
    assert not desk.store.admin.verify(prove=True).findings


@pytest.mark.parametrize("folder", ["claude-code", "codex"])
def test_a_copy_of_a_clients_sessions_elsewhere_adds_no_row(desk: Desk, tmp_path: Path, folder: str) -> None:
    done = desk.run(DATA / folder)
    for path in (DATA / folder).glob("*.jsonl"):
        (tmp_path / "copy").mkdir(exist_ok=True)
        (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
    copied = desk.run(tmp_path / "copy")
    assert (copied.messages, copied.versions, copied.read) == (0, 0, done.read)


def test_as_many_messages_of_each_document_are_archived_as_it_holds(desk: Desk) -> None:
    files = [
        path for path in DATA.rglob("*") if path.suffix in (".json", ".traj", ".jsonl") and path.parent.name not in ("claude-code", "codex")
    ]
    done = desk.run(*files)
    held = Counter(transcript.source for path in files for transcript in read(path))
    assert set(held) <= set(WHOLE)
    assert Counter(session.source for session in desk.store.sessions.listed()) == held
    assert done.conversations == held.total()
