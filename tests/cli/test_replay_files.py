"""What ``ctxhost replay`` reads from and writes to: files, pipes, standard input, and names that are none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from host.cli import run
from host.testing.messages import assistant, user

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "claude-code.jsonl"
REPLAY = f"{sys.executable} -m host replay"


def conversation(folder: Path) -> Path:
    path = folder / "c.json"
    path.write_text(json.dumps([user("hi"), assistant("hello")]), "utf-8")
    return path


def bash(command: str, temporary: Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=cwd, env=environ, check=False, timeout=60)


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The error of a command that must fail as a user's mistake: one line what, one line what to do."""
    assert run(["replay", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and len(shown.err.splitlines()) == 2, shown
    return shown.err


PIPES = {
    "/dev/stdin": f"cat {EXAMPLE} | {REPLAY} /dev/stdin --json",
    "-": f"cat {EXAMPLE} | {REPLAY} - --json",
    "/dev/fd/": f"{REPLAY} <(cat {EXAMPLE}) --json",
}


@pytest.mark.parametrize("shown", PIPES)
def test_a_pipe_replays_as_its_file_does_and_leaves_nothing_behind(tmp_path: Path, shown: str) -> None:
    of_file, of_pipe = bash(f"{REPLAY} {EXAMPLE} --json", tmp_path), bash(PIPES[shown], tmp_path)
    assert (of_pipe.returncode, of_pipe.stderr) == (of_file.returncode, "")
    (expected, *_), (found, *_) = (json.loads(done.stdout)["conversations"] for done in (of_file, of_pipe))
    assert json.loads(of_pipe.stdout)["file"].startswith(shown)
    assert (found["messages_in"], found["tokens_in"], found["format"]) == (expected["messages_in"], expected["tokens_in"], "claude-code")
    assert list(tmp_path.iterdir()) == []


def test_standard_input_from_a_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    for name in ("-", "/dev/stdin"):
        assert bash(f"{REPLAY} {name} --json < {EXAMPLE}", tmp_path).returncode == 0


def test_a_damaged_pipe_is_told_by_the_name_that_was_given(tmp_path: Path) -> None:
    done = bash(f"""printf '{{"role":"user"}}\\n{{"role":\\n' | {REPLAY} /dev/stdin""", tmp_path)
    assert done.returncode == 2 and "/dev/stdin:2: damaged line" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_closed_standard_input_and_an_endless_device_are_told(tmp_path: Path) -> None:
    closed, endless = bash(f"{REPLAY} - <&-", tmp_path), bash(f"{REPLAY} /dev/zero", tmp_path)
    assert closed.returncode == 2 and "standard input is closed" in closed.stderr
    assert endless.returncode == 2 and "/dev/zero is no conversation: binary data" in endless.stderr


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(EXAMPLE.read_bytes()), daemon=True)
    writer.start()
    assert run(["replay", str(fifo), "--json"]) == 0
    writer.join(timeout=10)
    assert not writer.is_alive()


def test_the_recording_is_never_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, link, twin = conversation(tmp_path), tmp_path / "link.json", tmp_path / "twin.json"
    before = path.read_bytes()
    link.symlink_to(path)
    twin.hardlink_to(path)
    for out in (path, link, twin):
        assert "is the recording itself" in refused([str(path), "--out", str(out)], capsys)
    piped = bash(f"{REPLAY} - --out {path} < {path}", tmp_path)
    assert piped.returncode == 2 and "is the recording itself" in piped.stderr
    assert path.read_bytes() == before


def test_out_is_looked_at_before_the_recording_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder").mkdir()
    locked = tmp_path / "locked.json"
    locked.write_text("kept", "utf-8")
    locked.chmod(0o444)
    missing = str(tmp_path / "not there.json")
    for out, why in (
        (tmp_path / "no" / "o.json", "No such file or directory"),
        (locked / "o.json", "Not a directory"),
        (tmp_path / "folder", "it is a directory"),
        (locked, "it is read-only"),
        (tmp_path / ("o" * 256), "File name too long"),
    ):
        assert f"cannot be written: {why}" in refused([missing, "--out", str(out)], capsys)
    assert locked.read_text("utf-8") == "kept"


def test_a_folder_that_may_not_be_written_is_told_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o555)
    assert "may not be written" in refused(["not there.json", "--out", str(tmp_path / "o.json")], capsys)


def test_names_that_are_no_file_are_told_in_two_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = conversation(tmp_path)
    assert "FILE" in refused([""], capsys)
    assert "--out" in refused([str(path), "--out", ""], capsys)
    assert "cannot be read: File name too long" in refused([str(tmp_path / ("n" * 256))], capsys)
    assert "cannot be read: Not a directory" in refused([str(path / "c.json")], capsys)
    assert "cannot be read: No such file" in refused([str(tmp_path / "none.json")], capsys)


def test_a_relative_name_in_a_deleted_folder_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    for arguments in ("c.json", f"{EXAMPLE} --out o.json"):
        done = bash(f"mkdir -p {gone} && cd {gone} && rmdir {gone} && {REPLAY} {arguments}", tmp_path)
        assert done.returncode == 2 and "cannot be" in done.stderr and len(done.stderr.splitlines()) == 2, done


def test_the_help_says_what_is_asked_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    run(["replay", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "No reply is asked for; a configured model is asked for summaries" in shown and "Nothing is sent" not in shown
