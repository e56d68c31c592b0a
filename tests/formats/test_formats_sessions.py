"""`--latest`: where clients keep their sessions, and which file was written last."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from host.errors import UsageError
from host.formats import latest


def session(path: Path, age: int, text: str = "{}") -> Path:
    """A file that was written ``age`` seconds before the newest possible one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_800_000_000 - age,) * 2)
    return path


def test_the_claude_code_session_written_last_is_found(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects"
    session(projects / "a" / "one.jsonl", 20)
    newest = session(projects / "b" / "two.jsonl", 10)
    session(projects / "b" / "agent-1.jsonl", 0)
    session(projects / "b" / "empty.jsonl", 0, "")
    session(projects / "b" / "deeper" / "three.jsonl", 0)
    assert latest("claude-code", tmp_path, {}) == newest


def test_the_codex_rollout_written_last_is_found(tmp_path: Path) -> None:
    sessions = tmp_path / ".codex" / "sessions"
    resumed = session(sessions / "2026" / "01" / "02" / "rollout-2026-01-02T10-00-00-a.jsonl", 5)
    session(sessions / "2026" / "03" / "04" / "rollout-2026-03-04T10-00-00-b.jsonl", 50)
    session(sessions / "2026" / "03" / "04" / "notes.jsonl", 0)
    assert latest("codex", tmp_path, {}) == resumed


def test_files_of_one_moment_are_told_apart_by_name(tmp_path: Path) -> None:
    day = tmp_path / ".codex" / "sessions" / "2026" / "03" / "04"
    newest = session(day / "rollout-2026-03-04T11-00-00-a.jsonl", 0)
    session(day / "rollout-2026-03-04T10-00-00-b.jsonl", 0)
    assert latest("codex", tmp_path, {}) == newest


@pytest.mark.parametrize(
    ("client", "variable", "inside"),
    [("claude-code", "CLAUDE_CONFIG_DIR", "projects/p/s.jsonl"), ("codex", "CODEX_HOME", "sessions/2026/01/01/rollout-x.jsonl")],
)
def test_the_clients_own_variable_moves_its_folder(tmp_path: Path, client: str, variable: str, inside: str) -> None:
    session(tmp_path / "home" / {"codex": ".codex", "claude-code": ".claude"}[client] / inside, 0)
    moved = session(tmp_path / "moved" / inside, 90)
    assert latest(client, tmp_path / "home", {variable: str(tmp_path / "moved")}) == moved


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_no_session_is_an_error_that_says_where_was_looked(tmp_path: Path, client: str) -> None:
    with pytest.raises(UsageError, match=f"no session of {client}") as refused:
        latest(client, tmp_path, {})
    assert str(tmp_path) in refused.value.what


def test_an_unknown_client_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'claude-code'"):
        latest("claude", tmp_path, {})
