"""``ctxhost demo`` as a newcomer meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from host.cli import run
from host.cli.demo import NEXT, Played, cut_to, figures, first_words, handoff_of, hidden_lines, play, recording
from host.messages.types import Message

HOSTILE = """\
context: {engine: ../../evil, on_missing: error, on_error: error}
compression: {threshold: 7}
model: {name: spy, base_url: "http://127.0.0.1:9/v1"}
plugins: {paths: [.]}
"""


def played_at(window: int, messages: list[Message]) -> Played:
    return play(messages, window, lambda outcome: None)


@pytest.fixture(scope="module")
def messages() -> list[Message]:
    return recording()


@pytest.fixture(scope="module")
def usual(messages: list[Message]) -> Played:
    return played_at(32_000, messages)


def command(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run in a folder, with nothing of our own environment but what finds Python and a vocabulary."""
    root = Path(__file__).parents[2]
    kept = {name: os.environ[name] for name in ("PATH", "TIKTOKEN_CACHE_DIR") if name in os.environ}
    given = {**kept, "PYTHONPATH": str(root), "HOME": str(cwd), **environ}
    return subprocess.run([sys.executable, "-m", "host", *arguments], cwd=cwd, env=given, capture_output=True, text=True, timeout=60)


def test_three_to_five_compactions_keep_every_call_legal_and_in_the_window(usual: Played) -> None:
    assert 3 <= len(usual.compactions) <= 5
    assert usual.result.is_fine and usual.result.impossible == ()
    assert usual.peak <= 32_000


def test_the_window_ends_on_the_open_request_and_holds_one_handoff(usual: Played, messages: list[Message]) -> None:
    assert usual.window[-1][0].message == messages[-1]
    assert sum(bool(entry.covers) for entry, _ in usual.window) == 1
    assert "## " in handoff_of(usual)


def test_costs_add_up(usual: Played) -> None:
    assert usual.tokens == sum(tokens for _, tokens in usual.window)
    assert usual.sent == sum(call.tokens for call in usual.result.calls) + usual.tokens
    assert usual.sent_without > usual.sent
    assert usual.calls == sum(message["role"] == "assistant" for message in usual.recording) + 1


def test_the_archive_gives_every_message_back(usual: Played, messages: list[Message]) -> None:
    assert usual.archived == len(messages)


def test_another_window_gives_other_figures(usual: Played, messages: list[Message]) -> None:
    small, large = played_at(16_000, messages), played_at(256_000, messages)
    assert len(small.compactions) > len(usual.compactions) > len(large.compactions) == 0
    assert small.sent < usual.sent < large.sent == large.sent_without
    assert small.full_at is not None and usual.full_at is not None and small.full_at < usual.full_at
    assert large.full_at is None and handoff_of(large) == ""


def test_probes_are_looked_up_in_the_window_that_is_shown(usual: Played, messages: list[Message]) -> None:
    large = played_at(256_000, messages)
    assert all(one.in_message and not one.in_handoff for one in large.probes)
    for one in usual.probes:
        assert one.in_handoff == (one.text in handoff_of(usual))
        assert one.place != "lost" and one.text in json.dumps(messages[one.message - 1], ensure_ascii=False)


def test_json_has_the_figures_of_the_run(usual: Played, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--json"]) == 0
    shown: dict[str, Any] = json.loads(capsys.readouterr().out)
    expected = figures(usual)
    for compaction in (*shown["compactions"], *expected["compactions"]):
        compaction.pop("seconds")
    assert shown == expected
    assert shown["window"] == 32_000 and shown["tokens_sent"] == usual.sent


def test_a_pipe_gets_plain_text_that_ends_with_the_line_to_type_next(usual: Played, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.splitlines()[-1] == NEXT
    assert "ctxhost replay --latest claude-code" in NEXT and "ctxhost init" in NEXT
    assert all(f"{number:,}" in out for number in (usual.sent, usual.sent_without, usual.tokens, len(usual.window)))
    assert out.count("> HANDOFF") == 1 and f"#{len(usual.compactions)} " in out


def test_all_shows_every_message_of_the_window(usual: Played, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--all"]) == 0
    out = capsys.readouterr().out
    window = out.partition("The window now")[2].partition("The handoff, as")[0].strip().splitlines()[1:]
    assert len(window) == len(usual.window)


def test_it_runs_anywhere_and_reads_no_config_of_anybody(usual: Played, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(HOSTILE)
    (tmp_path / "plugins" / "context_engine" / "compressor").mkdir(parents=True)
    (tmp_path / "plugins" / "context_engine" / "compressor" / "__init__.py").write_text("raise SystemExit('imported')")
    done = command("demo", "--json", cwd=tmp_path, CTXHOST_MODEL__NAME="spy", OPENAI_API_KEY="none", CTXHOST_COMPRESSION__THRESHOLD="7")
    assert (done.returncode, done.stderr) == (0, "")
    assert [one["row"] for one in json.loads(done.stdout)["compactions"]] == [outcome.row for outcome in usual.compactions]


def test_it_runs_without_a_home_and_writes_nothing_where_it_runs(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    folder = tmp_path / "empty"
    folder.mkdir()
    done = command("--no-color", "demo", cwd=folder, HOME="", XDG_CACHE_HOME=str(cache), XDG_CONFIG_HOME=str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == NEXT
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("count", "hidden"), [(1, 0), (16, 0), (19, 0), (20, 4), (99, 83)])
def test_only_a_long_window_is_shown_in_part(count: int, hidden: int) -> None:
    assert len(hidden_lines(count)) == hidden


def test_a_chinese_character_takes_two_columns() -> None:
    assert cut_to("abcdef", 6) == "abcdef"
    assert cut_to("abcdefg", 6) == "abc..."
    assert cut_to("对账任务必须", 9) == "对账任..."


def test_a_message_without_words_shows_its_calls() -> None:
    silent: Message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "patch", "arguments": "{}"}}],
    }
    assert first_words(silent) == "[calls patch]"
    assert first_words({"role": "user", "content": "two\n lines"}) == "two lines"
