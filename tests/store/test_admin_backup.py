"""A backup is the store at one moment."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from host.errors import StoreError, UsageError
from host.messages.types import Message
from host.store.sqlite.store import FILE, SqliteStore
from tests.stores_for_tests import compacted, furnished, pages_of, spoken, zero_page

WRITER = """
import sys
from pathlib import Path
from host.store.sqlite.store import SqliteStore
store = SqliteStore(Path(sys.argv[1]), durability="normal")
archive = store.archive(sys.argv[2])
while True:
    archive.append({"role": "user", "content": "written meanwhile " * 20})
    print(flush=True)
"""


def test_a_backup_is_whole_private_and_opens_as_a_store(tmp_path: Path) -> None:
    target = tmp_path / "backups" / "archive-20261130-120000.db"
    said: list[tuple[int, int, str]] = []
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
        assert store.admin.backup(target, progress=lambda *word: said.append(word)) == target
        rows = list(store.archive(conversation).rows())
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert said[-1][0] == said[-1][1] > 0
    restored = tmp_path / "restored" / FILE
    restored.parent.mkdir()
    shutil.copy(target, restored)
    with closing(SqliteStore(restored)) as store:
        assert list(store.archive(conversation).rows()) == rows
        assert store.admin.verify().is_clean
        assert store.connection.value("PRAGMA journal_mode") == "wal"


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    target.write_text("precious")
    with furnished(tmp_path) as (store, _), pytest.raises(UsageError):
        store.admin.backup(target)
    assert target.read_text() == "precious"


def test_it_is_one_moment_while_another_process_writes(tmp_path: Path) -> None:
    long: list[Message] = [{"role": "user", "content": "long " * 1_000}] * 3_000
    with furnished(tmp_path, long) as (store, conversation):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / FILE), conversation], stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            process.stdout.readline()
            before = store.archive(conversation).range()[1]
            steps: list[int] = []

            def while_it_writes(done: int, total: int, text: str) -> None:
                steps.append(done)
                assert process.stdout is not None
                process.stdout.readline()

            store.admin.backup(tmp_path / "backup.db", progress=while_it_writes)
            assert len(steps) > 1
            assert store.archive(conversation).range()[1] > before
        finally:
            process.terminate()
            process.communicate()
    with closing(SqliteStore(tmp_path / "backup.db")) as copy:
        assert copy.archive(conversation).range()[1] >= before
        assert copy.admin.verify().is_clean


def test_a_copy_that_is_not_sound_is_taken_away_and_said_so(tmp_path: Path) -> None:
    with furnished(tmp_path, spoken(400)):
        pass
    zero_page(tmp_path / FILE, pages_of(tmp_path / FILE, "messages")[2])
    with closing(SqliteStore(tmp_path / FILE)) as store, pytest.raises(StoreError):
        store.admin.backup(tmp_path / "backup.db")
    assert not (tmp_path / "backup.db").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with furnished(tmp_path) as (store, _), pytest.raises(StoreError) as caught:
        store.admin.backup(tmp_path / "file" / "backup.db")
    assert "file" in str(caught.value)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
