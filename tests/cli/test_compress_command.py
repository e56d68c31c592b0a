"""``ctxhost sessions compress`` as a user meets it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from host.messages.types import Message
from host.testing.loopback import LoopbackServer, fault
from host.testing.messages import assistant, call, chat, system, user
from host.transforms.handoff import is_handoff
from tests.cli.conftest import Home

Printed = pytest.CaptureFixture[str]
LONG = [system("Be an agent."), *chat(40, chars=900)]


def recording(folder: Path, name: str = "talk.json", messages: list[Message] = LONG) -> Path:
    path = folder / name
    path.write_text(json.dumps(messages), "utf-8")
    return path


def compress(home: Home, *arguments: str) -> int:
    return home.run("sessions", "compress", *arguments, "--window", "8000")


def shown(printed: Printed) -> Any:
    return json.loads(printed.readouterr().out)


def test_an_archived_conversation_is_compacted_and_the_next_version_says_so(home: Home, capsys: Printed) -> None:
    conversation = home.talk(messages=LONG)
    assert compress(home, "work", "the", "first", "topic") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"session {conversation} 'work': 41 messages\nCompressed: 41 → ")
    with home.opened() as store:
        published = store.views(conversation).current()
    assert published is not None and (published.trigger, published.engine) == ("manual", "compressor")


def test_a_preview_says_what_would_go_and_writes_no_version(home: Home, capsys: Printed) -> None:
    conversation = home.talk(messages=LONG)
    assert compress(home, "work", "here", "3", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "Preview — no changes made." in out and "the last 3 exchanges (6 messages) would stay" in out
    assert "Draft of the summary:" in out and "POSITION" in out
    assert compress(home, "work", "--preview", "--json", "here", "500") == 1
    figures = shown(capsys)
    assert (figures["keep"], figures["given"], figures["kept"], figures["reason"]) == (100, 1, 40, "nothing_to_compress")
    assert compress(home, "work", "--preview", "--json", "--keep", "3") == 0
    figures = shown(capsys)
    assert figures["applied"] is False and figures["tokens_after"] < figures["tokens_before"]
    assert {row["position"] for row in figures["leaving"]} & set(range(2, 30)) and figures["draft"]
    with home.opened() as store:
        assert store.views(conversation).version() == 0
        assert store.state(conversation, "compressor").load() == {}
        assert store.connection.rows("SELECT engine FROM engine_state") == []


def test_a_file_is_compacted_without_archiving_it(home: Home, capsys: Printed, tmp_path: Path) -> None:
    path, out = recording(tmp_path), tmp_path / "short.json"
    assert compress(home, str(path), "-k", "2", "--out", str(out)) == 0
    assert capsys.readouterr().out.startswith(f"file {path} (openai): 41 messages\nCompressed: 41 → ")
    window = json.loads(out.read_text("utf-8"))
    assert window[-3:] == LONG[-3:] and sum(map(is_handoff, window)) == 1
    assert not (home.path / "archive.db").exists()


def test_what_is_written_like_a_path_is_the_file_and_else_the_session(
    home: Home, capsys: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recording(tmp_path, "work", LONG[:20])
    home.talk("work", LONG)
    for name, label in (("work", "session "), (os.path.join(".", "work"), "file work")):  # noqa: PTH118
        compress(home, name, "--preview")
        assert capsys.readouterr().out.startswith(label)
    recording(tmp_path, "other", LONG)
    assert compress(home, "other") == 2
    assert "./other" in capsys.readouterr().err
    assert compress(home, "no-such.json") == 2
    assert "there is no file 'no-such.json'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--aggressive"], "--aggressive is not there"),
        (["--preview", "--out", "x.json"], "a preview writes nothing"),
        (["--keep", "x"], "x"),
        (["--keep", "0"], "0 is not in the range 1<=x<=100"),
        (["--keep", "-1"], "-1 is not in the range 1<=x<=100"),
        (["-k", "101"], "101 is not in the range 1<=x<=100"),
        (["here", "3", "--keep", "2"], "--keep 2 and `here 3` ask for different numbers"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(home: Home, capsys: Printed, tmp_path: Path, arguments: list[str], words: str) -> None:
    assert compress(home, str(recording(tmp_path)), *arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("words", "kept"), [(["here", "0"], 1), (["here", "3", "--keep", "3"], 3), (["here"], 2)])
def test_here_takes_the_nearest_number_that_there_is(home: Home, capsys: Printed, tmp_path: Path, words: list[str], kept: int) -> None:
    assert compress(home, str(recording(tmp_path)), *words, "--preview", "--json") == 0
    assert shown(capsys)["keep"] == kept


def test_with_a_preview_the_flag_that_is_not_there_is_only_noted(home: Home, capsys: Printed, tmp_path: Path) -> None:
    assert compress(home, str(recording(tmp_path)), "--aggressive", "--preview") == 0
    assert "Note: --aggressive is not there" in capsys.readouterr().out


def test_nothing_to_compress_and_too_few_messages_are_status_1(home: Home, capsys: Printed, tmp_path: Path) -> None:
    assert compress(home, str(recording(tmp_path, messages=LONG[:4]))) == 1
    assert "No changes from compression: 4 messages" in capsys.readouterr().out
    assert compress(home, str(recording(tmp_path, messages=LONG[:3]))) == 1
    assert "at least 4 messages are needed, there are 3" in capsys.readouterr().out
    assert compress(home, str(recording(tmp_path, messages=LONG[:3])), "--json") == 1
    assert shown(capsys)["reason"] == "nothing_to_compress"


def test_a_summary_model_that_cannot_be_reached_aborts_with_status_3(home: Home, capsys: Printed) -> None:
    home.path.mkdir(parents=True)
    (home.path / "config.yaml").write_text("model:\n  name: m\n  base_url: http://127.0.0.1:9/v1\nauxiliary:\n  transient_retries: 0\n")
    conversation = home.talk(messages=LONG)
    assert compress(home, "work", "--json") == 3
    printed = capsys.readouterr()
    figures = json.loads(printed.out)
    assert (figures["applied"], figures["reason"]) == (False, "aborted") and figures["report"]["error"]
    assert "Compression aborted" in printed.err and "No messages were dropped" in printed.err
    home.run("sessions", "show", "work")
    assert "not compacted since" in capsys.readouterr().out
    home.run("sessions", "show", "work", "--json")
    kept = shown(capsys)
    assert kept["idle"]["reason"] == "aborted"
    last = kept["last_compaction"]
    assert (last["outcome"], last["failure"], last["version"]) == ("aborted", "no connection", None)
    assert last["error"] and 0 < last["pause"] <= 30 and last["attempts"] == 1
    with home.opened() as store:
        assert store.views(conversation).version() == 0


def test_show_says_how_a_compaction_with_fallback_went_and_for_how_long_nobody_is_asked(home: Home, capsys: Printed) -> None:
    with LoopbackServer([fault(503)], repeat=True) as server:
        home.path.mkdir(parents=True)
        (home.path / "config.yaml").write_text(f"model:\n  name: m\n  base_url: {server.base_url}\nauxiliary:\n  transient_retries: 0\n")
        conversation = home.talk(messages=LONG)
        assert compress(home, "work") == 0
    printed = capsys.readouterr()
    assert (printed.out + printed.err).count("has a fault of its own (HTTP 503)") == 1
    assert "Compressed with fallback" in printed.out and "Note:" not in printed.out
    home.run("sessions", "show", "work")
    said = capsys.readouterr().out
    assert "last summary" in said and "with fallback, notes stand in version 1 (server error: " in said
    assert "no model is asked for another " in said
    home.run("sessions", "show", "work", "--json")
    last = shown(capsys)["last_compaction"]
    assert (last["outcome"], last["failure"], last["version"]) == ("fallback", "server error", 1) and 0 < last["pause"] <= 60
    with home.opened() as store:
        store.state(conversation, "compressor").save({"compactions": 2})
    home.run("sessions", "show", "work", "--json")
    assert shown(capsys)["last_compaction"] is None


def test_calls_that_wait_keep_a_conversation_from_it(home: Home, capsys: Printed) -> None:
    home.talk(messages=[*LONG, user("go"), assistant(None, [call("a", "look")])])
    assert compress(home, "work") == 2
    assert "wait for their results" in capsys.readouterr().err


def test_show_says_that_nothing_is_compacted_by_itself_where_nothing_more_is_known(home: Home, capsys: Printed) -> None:
    home.talk()
    home.run("sessions", "show", "work")
    assert "not compacted" not in capsys.readouterr().out
    (home.path / "config.yaml").write_text("compression:\n  enabled: false\n")
    home.run("sessions", "show", "work")
    assert "not compacted by itself: disabled: compression.enabled is false" in capsys.readouterr().out
