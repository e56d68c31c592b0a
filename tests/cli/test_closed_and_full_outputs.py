"""A standard output that is closed or full, a full disk, a read-only file system: said in plain words, never a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from host.cli import run
from host.errors import FULL, LEAST_ROOM, READ_ONLY, StoreUnavailable, SystemFault
from tests.cli.conftest import Home

ROOT = Path(__file__).parents[2]
COMMANDS = ("--version", "--help", "sessions", "sessions view work", "sessions tree", "grep door", "grep door --json", "doctor", "engines")


def bash(home: Home, command: str) -> subprocess.CompletedProcess[str]:
    line = f"{sys.executable} -m host --home {home.path} {command}"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT, env=environ, check=False, timeout=60)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_standard_output_is_no_fault(home: Home, command: str) -> None:
    home.talk()
    done = bash(home, f"{command} >&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert bash(home, f"{command} >&- 2>&- <&-").returncode == 0


def test_the_archive_never_gets_the_number_of_a_closed_stream(home: Home) -> None:
    home.talk()
    assert bash(home, "sessions rename work other <&- >&- 2>&-").returncode == 0
    assert home.run("archive", "verify") == 0 and home.run("sessions", "show", "other") == 0


def test_a_question_that_a_closed_standard_input_cannot_answer_is_told(home: Home) -> None:
    home.talk()
    done = bash(home, "sessions delete work <&-")
    assert done.returncode == 2 and "nobody answered" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_standard_output_is_told_by_its_name(home: Home, command: str) -> None:
    home.talk()
    done = bash(home, f"{command} >/dev/full")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"error: standard output: {FULL}", "free some space"]


@pytest.mark.parametrize(
    ("why", "said", "advice"),
    [
        ("database or disk is full", FULL, "free some space"),
        ("No space left on device", FULL, "free some space"),
        ("Read-only file system", READ_ONLY, "mount it for writing"),
        ("Disk quota exceeded", "Disk quota exceeded", "free some space"),
        ("database is locked", "database is locked", "another program holds it"),
        ("disk I/O error", "disk I/O error", "check that the folder"),
    ],
)
def test_what_is_wrong_with_the_disk_is_said_in_plain_words(tmp_path: Path, why: str, said: str, advice: str) -> None:
    error = StoreUnavailable(tmp_path / "archive.db", why)
    assert error.what.endswith(f"cannot be used: {said}") and error.advice.startswith(advice)


@pytest.mark.parametrize("why", ["disk I/O error", "unable to open database file", "attempt to write a readonly database"])
@pytest.mark.parametrize(("flags", "left", "said"), [(os.ST_RDONLY, 1 << 40, READ_ONLY), (0, LEAST_ROOM - 4_096, FULL)])
def test_where_sqlite_is_vague_the_disk_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str, flags: int, left: int, said: str
) -> None:
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=flags, f_bavail=left // 4_096, f_frsize=4_096))
    assert StoreUnavailable(tmp_path / "archive.db", why).what.endswith(said)


@pytest.mark.parametrize(("number", "said"), [(errno.ENOSPC, FULL), (errno.EROFS, READ_ONLY), (errno.EACCES, "Permission denied")])
def test_a_fault_of_the_system_names_the_file(number: int, said: str) -> None:
    assert SystemFault(OSError(number, os.strerror(number), b"some/file")).what == f"some/file: {said}"
    assert SystemFault(OSError(number, os.strerror(number))).what == f"a file: {said}"


def test_an_empty_path_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--home", "--config"):
        assert run([option, "", "sessions"]) == 2
        what, advice = capsys.readouterr().err.splitlines()
        assert option in what and "is empty" in what and advice
