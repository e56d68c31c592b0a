"""``ctxhost mcp connect`` as a user meets it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from host.cli import run
from host.cli.mcp_connect import CLIENT_NAMES, has_package, launcher
from host.mcp import SDK
from host.mcp.connect import CLIENTS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home folder, with a project below it as the working directory."""
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def connect(user: Path, *words: str) -> int:
    return run(["--home", str(user / "home"), "mcp", "connect", *words])


def test_the_clients_of_the_help_are_those_of_the_table() -> None:
    assert tuple(CLIENTS) == CLIENT_NAMES


@pytest.mark.parametrize("client", CLIENT_NAMES)
def test_without_write_it_shows_the_text_and_changes_nothing(client: str, user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert connect(user, client) == 0
    shown = capsys.readouterr().out
    assert "would be made" in shown and str(user / "home") in shown and "nothing was written" in shown
    assert list(user.rglob("*")) == [user / "work"]


def test_written_shown_and_undone(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user / ".claude.json"
    path.write_text('{"key": "SECRET"}')
    assert connect(user, "claude-code", "--write") == 0
    shown = capsys.readouterr().out
    assert f"{path} changed: mcpServers.ctxhost; as it was: {path}.ctxhost-" in shown
    assert "next: restart Claude Code" in shown and "SECRET" not in shown
    undo = next(line for line in shown.splitlines() if line.startswith("undo: ")).removeprefix("undo: ")
    assert connect(user, "claude-code", "--write") == 0
    assert "nothing was changed" in capsys.readouterr().out
    assert run(shlex.split(undo)[1:]) == 0
    assert "is as it was before" in capsys.readouterr().out
    assert path.read_text() == '{"key": "SECRET"}'


def test_the_facts_come_as_json(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert connect(user, "codex", "--json") == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["wrote"] is False and planned["own_command"].startswith("codex mcp add ctxhost -- ")
    assert connect(user, "codex", "--write", "--json") == 0
    written = json.loads(capsys.readouterr().out)
    assert written["wrote"] is True and [each["state"] for each in written["files"]] == ["new", "new"]
    assert (user / ".codex" / "config.toml").read_text() == written["files"][0]["text"] + "\n"
    assert connect(user, "codex", "--undo", "--json") == 0
    assert [each["undone"] for each in json.loads(capsys.readouterr().out)["files"]] == ["removed", "removed"]


def test_a_file_with_comments_ends_with_its_line_and_the_text(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = user / "work" / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{\n  // mine\n}")
    assert connect(user, "vscode", "--write") == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"error: {path}:2: comments would be lost") and '"ctxhost": {' in shown and "Traceback" not in shown
    assert path.read_text() == "{\n  // mine\n}"


def test_the_package_that_the_server_needs_is_looked_for() -> None:
    assert has_package(SDK) and not has_package("no_such_package_of_ctxhost")


def test_write_and_undo_together_are_refused(user: Path) -> None:
    assert connect(user, "cursor", "--write", "--undo") == 2
    assert connect(user, "emacs") == 2


def test_it_is_started_by_its_script_or_else_as_a_module(tmp_path: Path) -> None:
    script = tmp_path / "ctxhost"
    script.write_text("#!/bin/sh\n")
    assert launcher(str(script)) == (sys.executable, "-P", "-m", "host"), "it may not be run"
    script.chmod(0o755)
    assert launcher(str(script)) == (str(script),)
    assert launcher(str(ROOT / "host" / "__main__.py")) == (sys.executable, "-P", "-m", "host")


def test_what_was_written_runs_in_an_empty_environment_and_not_what_the_project_calls_host(user: Path) -> None:
    hostile = user / "work" / "host"
    hostile.mkdir()
    (hostile / "__init__.py").write_text("")
    (hostile / "__main__.py").write_text("print('not ours')\n")
    assert connect(user, "cursor", "--write") == 0
    entry = json.loads((user / ".cursor" / "mcp.json").read_text())["mcpServers"]["ctxhost"]
    words = [entry["command"], *entry["args"][: entry["args"].index("mcp")], "mcp", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=user / "work", env={}, check=True)
    assert "Usage: ctxhost mcp" in done.stdout
