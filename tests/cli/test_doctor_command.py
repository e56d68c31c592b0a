"""``ctxhost doctor``: every state of the home folder is a line, never a traceback, and nothing is made or changed."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from host.cli import store_checks
from host.cli.globals import Globals
from host.cli.store_checks import CHECKS, Level, Patient, Remark, check_filesystem
from host.errors import NotStorable
from host.store.filesystems import NETWORK
from host.store.sqlite.glance import glance
from tests.cli.conftest import Home

Printed = pytest.CaptureFixture[str]


def told(home: Home, printed: Printed) -> tuple[int, dict[str, list[Any]]]:
    """Exit status, and the remarks by subject."""
    printed.readouterr()
    status = home.run("doctor", "--json")
    remarks: dict[str, list[Any]] = {}
    for one in json.loads(printed.readouterr().out)["checks"]:
        remarks.setdefault(one["subject"], []).append(one)
    return status, remarks


def tamper(home: Home, sql: str) -> None:
    connection = sqlite3.connect(home.path / "archive.db")
    connection.execute(sql)
    connection.commit()
    connection.close()


def files(folder: Path) -> list[tuple[str, int, int]]:
    """Everything below a folder, with size and time."""
    return sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in [folder, *folder.rglob("*")])


def test_without_a_home_everything_is_well_and_nothing_is_made(home: Home, capsys: Printed) -> None:
    assert home.run("doctor") == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("ok") for line in lines) and "none yet" in "".join(lines)
    assert not home.path.exists()


def test_a_sound_home_is_told_with_its_figures(home: Home, capsys: Printed) -> None:
    home.talk()
    before = files(home.path)
    status, remarks = told(home, capsys)
    assert status == 0 and {one["level"] for of in remarks.values() for one in of} == {"ok"}
    assert remarks["contents"][0]["text"] == "7 messages in 1 conversation"
    assert "7 messages not indexed yet" in remarks["index"][0]["text"]
    assert "schema 3, journal mode WAL" in remarks["archive"][0]["text"]
    assert remarks["engine"][0]["text"] == "compressor (built-in)"
    assert list(remarks) == [subject for subject, _ in CHECKS]
    assert files(home.path) == before


def test_an_archive_in_use_is_read_as_it_is(home: Home, capsys: Printed) -> None:
    with home.opened() as store:
        kept = store.sessions.create(title="now")
        lease = store.leases.acquire(kept.conversation, "somebody", 60)
        status, remarks = told(home, capsys)
        assert status == 0 and lease is not None
        assert f"{kept.conversation} is being compacted by somebody" in remarks["leases"][0]["text"]
        store.leases.release(lease)  # the archive is none the worse


def garbage(home: Home) -> None:
    (home.path / "archive.db").write_bytes(b"garbage" * 1_000)


def overwritten(home: Home) -> None:
    path = home.path / "archive.db"
    data = bytearray(path.read_bytes())
    data[4_096:] = b"\xff" * (len(data) - 4_096)
    path.write_bytes(data)


def newer(home: Home) -> None:
    tamper(home, "PRAGMA user_version = 99")


def without_a_table(home: Home) -> None:
    tamper(home, "DROP TABLE quarantine")


def a_folder(home: Home) -> None:
    (home.path / "archive.db").unlink()
    (home.path / "archive.db").mkdir()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (garbage, "is damaged"),
        (overwritten, "is damaged"),
        (newer, "has schema 99"),
        (without_a_table, "is damaged"),
        (a_folder, "cannot be used"),
    ],
)
def test_an_archive_that_cannot_be_read_is_an_error_with_what_to_do(
    home: Home, capsys: Printed, harm: Callable[[Home], None], said: str
) -> None:
    home.talk()
    harm(home)
    before = files(home.path)
    status, remarks = told(home, capsys)
    (error,) = remarks["archive"]
    assert status == 1 and error["level"] == "error" and said in error["text"] and error["advice"]
    assert remarks["sqlite"][0]["level"] == "ok"  # the rest is looked at all the same
    assert files(home.path) == before


def test_an_empty_file_is_an_archive_to_be(home: Home, capsys: Printed) -> None:
    home.path.mkdir(mode=0o700)
    (home.path / "archive.db").touch(mode=0o600)
    status, remarks = told(home, capsys)
    assert status == 0 and "schema 0, brought to 3" in remarks["archive"][0]["text"]


def test_a_log_that_a_dead_process_left_is_told_and_not_taken_in(home: Home, capsys: Printed, tmp_path: Path) -> None:
    home.talk()
    died = Home(tmp_path / "died")
    died.path.mkdir(mode=0o700)
    with home.opened() as store:
        store.sessions.create(title="in the log")
        for name in ("archive.db", "archive.db-wal"):
            shutil.copy(home.path / name, died.path / name)
            (died.path / name).chmod(0o600)
    before = files(died.path)
    status, remarks = told(died, capsys)
    assert status == 0 and "left by a process that died" in remarks["archive"][0]["text"]
    assert files(died.path) == before


def test_modes_that_let_others_in_are_warnings(home: Home, capsys: Printed) -> None:
    home.talk()
    home.path.chmod(0o755)
    (home.path / "archive.db").chmod(0o644)
    status, remarks = told(home, capsys)
    assert status == 0
    assert remarks["home"][0]["level"] == "warning" and remarks["home"][0]["advice"] == f"chmod 700 {home.path}"
    assert remarks["files"][0]["level"] == "warning" and "0644" in remarks["files"][0]["text"]


def test_a_read_only_home_is_an_error(home: Home, capsys: Printed) -> None:
    home.talk()
    home.path.chmod(0o500)
    try:
        status, remarks = told(home, capsys)
    finally:
        home.path.chmod(0o700)
    assert status == 1 and "read-only" in remarks["home"][0]["text"]
    assert remarks["contents"][0]["text"] == "7 messages in 1 conversation"


def test_a_home_that_is_a_file_is_an_error(home: Home, capsys: Printed) -> None:
    home.path.write_text("")
    assert Patient(Globals(home=home.path)).glance is None
    remarks = [remark for _, check in CHECKS[:1] for remark in check(Patient(Globals(home=home.path)))]
    assert remarks == [Remark(Level.ERROR, f"{home.path} is no folder", "move it away, or name another with --home")]


def test_what_could_not_be_kept_is_told_with_time_and_error(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    with home.opened() as store, pytest.raises(NotStorable):
        store.archive(conversation).append({"role": "user", "content": {"a \x1b[2J set"}})  # type: ignore[typeddict-item]
    status, remarks = told(home, capsys)
    assert status == 0
    count, entry = remarks["quarantine"]
    assert "1 message could not be kept" in count["text"] and "TypeError" in entry["text"]
    assert "TypeError" in remarks["last error"][0]["text"]
    home.run("doctor")
    assert "\x1b" not in capsys.readouterr().out


def test_a_broken_configuration_and_a_missing_engine_are_told(home: Home, capsys: Printed) -> None:
    home.path.mkdir(mode=0o700)
    config = home.path / "config.yaml"
    config.write_text("compression: {threshold: 7}\n")
    status, remarks = told(home, capsys)
    assert status == 1 and "config.yaml:1:" in remarks["config"][0]["text"] and remarks["engine"][0]["level"] == "error"
    config.write_text("context: {engine: nobody}\n")
    status, remarks = told(home, capsys)
    assert status == 0 and remarks["engine"][0]["level"] == "warning" and "compressor runs in its place" in remarks["engine"][0]["text"]
    config.write_text("context: {engine: nobody, on_missing: error}\n")
    assert told(home, capsys)[0] == 1


def test_another_journal_mode_is_a_warning(home: Home, capsys: Printed) -> None:
    home.talk()
    tamper(home, "PRAGMA journal_mode = DELETE")
    assert glance(home.path / "archive.db").journal == "delete"
    status, remarks = told(home, capsys)
    assert status == 0 and remarks["archive"][0]["level"] == "warning"


def test_a_network_file_system_is_a_warning(home: Home) -> None:
    (remark,) = check_filesystem(Patient(Globals(home=home.path)))
    assert remark.level is (Level.WARNING if remark.text in NETWORK else Level.OK)


def test_a_disk_without_much_room_is_a_warning(home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    home.talk()
    for free, level in ((49_000_000, "warning"), (51_000_000, "ok")):
        disk = SimpleNamespace(f_flag=0, f_bavail=free // 1_000, f_frsize=1_000)
        with monkeypatch.context() as patch:
            patch.setattr(os, "statvfs", lambda path, disk=disk: disk)
            status, remarks = told(home, capsys)
        assert status == 0 and remarks["space"][0]["level"] == level
    size = (home.path / "archive.db").stat().st_size
    monkeypatch.setattr(store_checks, "LEAST_FREE", 0)
    disk = SimpleNamespace(f_flag=0, f_bavail=2 * size - 1, f_frsize=1)
    monkeypatch.setattr(os, "statvfs", lambda path: disk)
    assert told(home, capsys)[1]["space"][0]["level"] == "warning"


@pytest.mark.parametrize("name", ["archive.db", "archive.db.lock"])
def test_a_file_that_cannot_be_written_is_an_error(home: Home, capsys: Printed, name: str) -> None:
    home.talk()
    (home.path / name).chmod(0o400)
    status, remarks = told(home, capsys)
    (error,) = remarks["writing"]
    assert status == 1 and error["level"] == "error" and name in error["text"]


DAMAGES = (
    "UPDATE messages SET body = x'ff' WHERE position = 6",
    "UPDATE sessions SET title = CAST(x'ff' AS TEXT)",
    "UPDATE messages SET role = CAST(x'ff' AS TEXT) WHERE position = 3",
)


@pytest.mark.parametrize("sql", DAMAGES)
def test_rows_that_cannot_be_read_are_an_error_that_names_verify(home: Home, capsys: Printed, sql: str) -> None:
    home.talk()
    tamper(home, sql)
    status, remarks = told(home, capsys)
    (error,) = remarks["soundness"]
    assert status == 1 and error["level"] == "error" and "`ctxhost archive verify`" in error["advice"]


@pytest.mark.parametrize("sql", DAMAGES)
@pytest.mark.parametrize(
    "words", ["grep door", "sessions", "sessions view last", "sessions export last", "archive verify", "sessions show last"]
)
def test_rows_that_cannot_be_read_are_no_fault_of_ctxhost(home: Home, capsys: Printed, sql: str, words: str) -> None:
    home.talk()
    tamper(home, sql)
    assert home.run(*words.split()) in (0, 1, 2)
    said = capsys.readouterr().err
    assert "ctxhost failed" not in said and ("Could not decode" not in said or "is damaged" in said)


def test_a_page_of_flipped_bytes_is_an_error_that_names_what_to_do(home: Home, capsys: Printed) -> None:
    home.talk()
    with sqlite3.connect(home.path / "archive.db") as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'receipts'").fetchone()[0]
    connection.close()
    data = bytearray((home.path / "archive.db").read_bytes())
    start = (root - 1) * 4_096
    data[start : start + 4_096] = bytes(byte ^ 0xFF for byte in data[start : start + 4_096])
    (home.path / "archive.db").write_bytes(data)
    status, remarks = told(home, capsys)
    (error,) = remarks["soundness"]
    assert status == 1 and "table receipts" in error["text"] and "archive repair" in error["advice"]
