"""The command line as a user meets it: exit status, errors, what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from host.cli import COMMANDS, run
from host.testing.messages import assistant, call, system, tool_session, user

ROOT = Path(__file__).parents[2]
HEAVY = ("openai", "pydantic", "rich", "sqlite_utils", "sqlite3", "tiktoken", "pluggy", "ruamel", "asyncio", "importlib.metadata", "httpx")


def write(folder: Path, name: str, content: object) -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return str(path)


def session(folder: Path) -> str:
    return write(folder, "session.json", [system("Be an agent."), *tool_session(120, seed=3)])


def figures(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What ``--json`` says of the one conversation."""
    (shown,) = json.loads(capsys.readouterr().out)["conversations"]
    return dict(shown)


def test_help_imports_nothing_that_a_command_needs() -> None:
    code = f"import sys; from host.cli import run; run(['--help']); print([m for m in {HEAVY!r} if m in sys.modules], len(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1].startswith("[] ")


def test_at_most_fifteen_commands_and_each_has_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(COMMANDS) <= 15
    for name in COMMANDS:
        assert run([name, "--help"]) == 0
        assert "Usage: ctxhost" in capsys.readouterr().out


def test_a_replay_prints_figures_that_add_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", session(tmp_path), "--window", "8000", "--json"]) == 0
    shown = figures(capsys)
    assert shown["engine_used"] == shown["engine_requested"] == "compressor" and shown["reason"] is None
    assert shown["window"] == 8_000 and shown["threshold"] == 6_800
    assert sum(one["tokens"] for one in shown["calls"]) == shown["tokens_sent"]
    assert max(one["tokens"] for one in shown["calls"]) == shown["peak_window"] <= 8_000
    assert len(shown["compactions"]) > 2 and shown["violations"] == []


def test_a_replay_shows_its_window_its_compactions_and_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", session(tmp_path), "--window", "8000"]) == 0
    shown = capsys.readouterr().out
    for part in ("window 8,000 tokens (as asked)", "#1 preflight", "peak window", "without an engine", "every call legal"):
        assert part in shown


def test_the_first_lines_say_where_the_window_comes_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["replay", session(tmp_path)])
    assert "window 128,000 tokens (guessed; set model.context_length)" in capsys.readouterr().out
    body = write(tmp_path, "request.json", {"model": "gpt-4o", "messages": [user("hi"), assistant("hello")]})
    run(["replay", body])
    assert "of gpt-4o, the recorded model" in capsys.readouterr().out


def test_out_writes_the_last_window_as_messages_that_replay_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "window.json"
    assert run(["replay", session(tmp_path), "--window", "8000", "--out", str(out)]) == 0
    assert run(["replay", str(out), "--window", "8000"]) == 0
    assert json.loads(out.read_text("utf-8"))[0]["role"] == "system"


def test_a_broken_recording_is_mended_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = [user("a"), assistant(None, [call("p", "f"), call("q", "f")]), user("b"), assistant("c")]
    assert run(["replay", write(tmp_path, "broken.json", broken)]) == 0
    assert "mended: 2 unanswered calls" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["replay", "{missing}"], 2, "missing"),
        (["replay", "{package}"], 2, "no conversation"),
        (["replay", "{damaged}"], 2, "damaged.jsonl:2"),
        (["replay", "{session}", "--window", "12"], 2, "2000"),
        (["replay", "{session}", "--format", "opnai"], 2, "openai"),
        (["replay", "{session}", "--pick", "7"], 2, "1"),
        (["replay"], 2, "FILE"),
        (["replay", "{session}", "--latest", "codex"], 2, "either"),
        (["replai"], 2, "replai"),
        (["--config", "{nothing}", "replay", "{session}"], 2, "nothing.yaml"),
        (["--config", "{wrong}", "replay", "{session}"], 2, "wrong.yaml:2:3"),
    ],
)
def test_wrong_use_ends_with_two_lines_and_a_status(
    arguments: list[str], status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {
        "missing": str(tmp_path / "missing.json"),
        "package": write(tmp_path, "package.json", {"name": "left-pad", "version": "1.0"}),
        "damaged": write(tmp_path, "damaged.jsonl", '{"role":"user","content":"a"}\n{"role":"assis\n{"role":"user","content":"b"}\n'),
        "session": session(tmp_path),
        "nothing": str(tmp_path / "nothing.yaml"),
        "wrong": write(tmp_path, "wrong.yaml", "compression:\n  treshold: 0.5\n"),
    }
    assert run([argument.format(**names) for argument in arguments]) == status
    shown = capsys.readouterr()
    assert says in shown.err and "Traceback" not in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("name", ["compresor", "../../tmp/evil", "no/such"])
def test_an_engine_nobody_knows_is_replaced_with_one_warning_and_status_0(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", session(tmp_path), "--engine", name, "--window", "8000", "--json"]) == 0
    shown = figures(capsys)
    assert (shown["engine_requested"], shown["engine_used"]) == (name, "compressor")
    (warning,) = [text for text in shown["warnings"] if "Session compressed" not in text]
    assert name in warning and shown["reason"]


def test_on_missing_error_makes_it_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHOST_CONTEXT__ON_MISSING", "error")
    assert run(["replay", session(tmp_path), "--engine", "compresor"]) == 2
    assert "did you mean 'compressor'" in capsys.readouterr().err


def test_a_fault_of_ours_is_named_and_its_traceback_only_shown_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("wires crossed")

    monkeypatch.setattr("host.formats.read", fail)
    assert run(["replay", session(tmp_path)]) == 1
    shown = capsys.readouterr().err
    assert "wires crossed" in shown and "Traceback" not in shown
    assert run(["-v", "replay", session(tmp_path)]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["replay {session} --window 8000 --json", "replay {session} --window 8000", "demo"])
def test_a_closed_pipe_is_no_fault(command: str, tmp_path: Path) -> None:
    line = f"{sys.executable} -m host {command.format(session=session(tmp_path))} | head -c 10; echo status ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.endswith("status 0\n") and done.stderr == ""


def test_a_terminal_without_the_letters_shows_what_it_can(tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "ascii", "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "host", "replay", session(tmp_path), "--window", "8000"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0 and "every call legal" in done.stdout


def test_a_title_commands_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = {"id": "\x1b[31mred [/foo] :smile:", "messages": [user("a"), assistant("b")]}
    assert run(["replay", write(tmp_path, "odd.jsonl", json.dumps(odd) + "\n" + json.dumps(odd))]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "[/foo] :smile:" in shown


def test_what_the_tokens_of_a_replay_cost_with_and_without_the_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    priced = write(tmp_path, "priced.json", {"model": "gpt-4o", "messages": [system("Be an agent."), *tool_session(120, seed=3)]})
    run(["replay", priced, "--window", "8000", "--json"])
    shown = figures(capsys)
    rate = shown["cost"]["per_million"]["input"]
    assert shown["cost"]["input"] == pytest.approx(shown["tokens_sent"] * rate / 1_000_000, abs=1e-6)
    assert shown["cost"]["input_without_engine"] == pytest.approx(shown["tokens_sent_without_engine"] * rate / 1_000_000, abs=1e-6)
    run(["replay", priced, "--window", "8000"])
    assert "cost of these" in capsys.readouterr().out


def test_nothing_is_said_of_the_cost_of_a_model_without_a_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["replay", session(tmp_path), "--window", "8000", "--json"])
    assert figures(capsys)["cost"] is None
    run(["replay", session(tmp_path), "--window", "8000"])
    assert "cost" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["sessions", "archive"])
def test_the_line_of_a_group_names_all_its_commands(name: str) -> None:
    group = import_module(f"host.cli.{name}")
    commands = getattr(group, name).commands
    named = set(COMMANDS[name][1].rstrip(".").partition(": ")[2].split(", "))
    assert named == {command for command, at in commands.items() if not at.hidden}
