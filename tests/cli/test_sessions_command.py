"""``ctxhost sessions`` as a user meets it."""

from __future__ import annotations

import io
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from host.formats import read
from host.messages.canonical import canonical
from host.store.care import Forget
from host.testing.messages import assistant, user
from tests.cli.conftest import TALK, Home
from tests.stores_for_tests import change

Printed = pytest.CaptureFixture[str]


def shown(printed: Printed) -> Any:
    """What --json said."""
    return json.loads(printed.readouterr().out)


def test_without_an_archive_nothing_is_listed_and_no_file_is_made(home: Home, capsys: Printed) -> None:
    assert home.run("sessions") == 0
    assert "no sessions: there is no archive in" in capsys.readouterr().out
    assert home.run("sessions", "--json") == 0 and shown(capsys) == []
    assert home.run("sessions", "show", "last") == 1
    assert "there is no archive" in capsys.readouterr().err
    assert not home.path.exists()


def test_the_list_has_a_line_a_session_newest_first_and_wide_titles_stay_aligned(home: Home, capsys: Printed) -> None:
    home.talk("接入 ")
    home.talk("plain\x1b[2J\u202e title")
    assert home.run("sessions") == 0
    heading, newest, oldest = capsys.readouterr().out.splitlines()
    assert "plain[2J title" in newest and "接入" in oldest  # titles are cleaned when they are set
    at = heading.index("MESSAGES") + len("MESSAGES")
    assert newest[:at].endswith(" 7") and oldest[: at - 2].endswith(" 7")  # two characters of two cells each


def test_a_longer_list_says_so(home: Home, capsys: Printed) -> None:
    for number in range(3):
        home.talk(f"number {number}")
    home.run("sessions", "list", "--limit", "2")
    assert capsys.readouterr().out.splitlines()[-1].startswith("there are more; --all")
    home.run("sessions", "list", "--all", "--json")
    assert [one["title"] for one in shown(capsys)] == ["number 2", "number 1", "number 0"]


@pytest.mark.parametrize("name", ["work", "last", "PREFIX", "ID"])
def test_show_tells_everything_by_any_name(home: Home, capsys: Printed, name: str) -> None:
    conversation = home.talk()
    home.compact(conversation)
    assert home.run("sessions", "show", {"PREFIX": conversation[:17], "ID": conversation}.get(name, name)) == 0
    text = capsys.readouterr().out
    for part in (conversation, "work", "open", "7 (positions 1-7)", "source        test", "manual", "compressor", "900 -> 300"):
        assert part in text


def test_show_as_json_has_parent_children_and_versions(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.compact(conversation, rotate=True)
    home.run("sessions", "show", conversation, "--json")
    parent = shown(capsys)
    (child,) = parent["children"]
    assert parent["end_reason"] == "compression" and parent["versions"][0]["receipt"]["before"] == 900
    home.run("sessions", "show", child, "--json")
    assert shown(capsys)["parent"] == conversation


def test_an_unknown_session_is_named_with_what_to_do(home: Home, capsys: Printed) -> None:
    home.talk()
    assert home.run("sessions", "show", "nobody") == 2
    assert capsys.readouterr().err.splitlines() == ["error: no session is called 'nobody'", "`ctxhost sessions` lists them"]


def test_the_tree_shows_children_below_their_parents_and_marks_undone_ones(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.compact(conversation, rotate=True)
    home.run("sessions", "undo", "last")
    home.talk("other")
    capsys.readouterr()
    assert home.run("sessions", "tree", conversation) == 0
    root, child = capsys.readouterr().out.splitlines()
    assert root.startswith(f"{conversation}  work  7 messages  open") and child.startswith("└── ") and child.endswith("UNDONE")
    home.run("sessions", "tree")
    assert "other" in capsys.readouterr().out


def test_rename_gives_takes_and_refuses_titles(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.talk("taken")
    assert home.run("sessions", "rename", "work", "better") == 0
    assert f"{conversation} is called 'better'" in capsys.readouterr().out
    assert home.run("sessions", "rename", "better", "taken") == 2
    assert "already in use" in capsys.readouterr().err
    assert home.run("sessions", "rename", "better", "") == 0
    assert "has no title" in capsys.readouterr().out


def test_the_first_reason_of_an_end_stays(home: Home, capsys: Printed) -> None:
    home.talk()
    assert home.run("sessions", "end", "work", "--reason", "done") == 0
    assert "ended: done" in capsys.readouterr().out
    assert home.run("sessions", "end", "work", "--reason", "other") == 0
    assert "had ended already: done" in capsys.readouterr().out


def test_delete_asks_and_names_the_whole_conversation(home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = home.talk()
    home.compact(conversation, rotate=True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    assert home.run("sessions", "delete", "last") == 1
    asked = capsys.readouterr().err
    assert f"erase conversation {conversation} ('work', 'work #2') whole, 2 sessions with 7 messages" in asked
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert home.run("sessions", "delete", "last") == 2
    assert "nobody answered, nothing was changed" in capsys.readouterr().err
    assert home.run("sessions", "delete", "last", "--yes", "--json") == 0
    assert shown(capsys)["messages"] == 7
    assert home.run("sessions", "show", conversation) == 2


ODD = [
    user("lone \ud800 surrogate, NUL \x00, tabs \t"),
    {"role": "assistant", "content": None, "x_unknown": {"b": 1, "a": [1.5, None]}},
    {"role": "user", "content": [{"type": "text", "text": "部分"}]},
    {"role": "user", "content": "not a number", "score": float("nan")},
]


@pytest.mark.parametrize("format_name", ["openai", "jsonl", "dialogues"])
def test_an_export_gives_back_the_archived_bytes(home: Home, capsys: Printed, tmp_path: Path, format_name: str) -> None:
    home.talk("odd", ODD)  # type: ignore[arg-type]
    out = tmp_path / "out.jsonl"
    assert home.run("sessions", "export", "odd", "--format", format_name, "--out", str(out)) == 0
    text = out.read_text("utf-8")
    again: Any = [json.loads(line) for line in text.splitlines()] if format_name == "jsonl" else json.loads(text)
    messages = again["messages"] if format_name == "dialogues" else again
    assert [canonical(message) for message in messages] == [canonical(message) for message in ODD]  # type: ignore[arg-type]
    assert format_name != "dialogues" or again["id"] == "odd"
    capsys.readouterr()
    home.run("sessions", "export", "odd", "--format", format_name)
    assert capsys.readouterr().out == text


@pytest.mark.parametrize("format_name", ["openai", "jsonl", "dialogues"])
def test_what_is_exported_can_be_replayed(home: Home, tmp_path: Path, format_name: str) -> None:
    home.talk()
    out = tmp_path / "talk.json"
    home.run("sessions", "export", "work", "--format", format_name, "--out", str(out))
    (transcript,) = read(out)
    assert transcript.messages == list(TALK) and not transcript.mended


def test_an_export_has_the_newest_version_in_place_and_all_of_them_on_request(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    with home.opened() as store:
        store.archive(conversation).append(user("Look into src/other.py, please."), replaces=2)
    home.run("sessions", "export", "work")
    messages = shown(capsys)
    assert len(messages) == 7 and messages[1]["content"] == "Look into src/other.py, please."
    home.run("sessions", "export", "work", "--versions")
    assert [message["content"] for message in shown(capsys)][1::6] == [TALK[1]["content"], "Look into src/other.py, please."]


def test_an_export_of_a_session_alone_leaves_the_rest_of_the_conversation_out(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.compact(conversation, rotate=True)
    with home.opened() as store:
        store.archive(conversation).append(user("in the child"))
    home.run("sessions", "export", "last", "--session-only")
    assert [message["content"] for message in shown(capsys)] == ["in the child"]
    home.run("sessions", "export", "last")
    assert len(shown(capsys)) == 8


def test_an_export_never_replaces_a_file_unless_told_to(home: Home, capsys: Printed, tmp_path: Path) -> None:
    home.talk()
    out = tmp_path / "mine.json"
    out.write_text("precious")
    assert home.run("sessions", "export", "work", "--out", str(out)) == 2
    assert out.read_text() == "precious" and "--force replaces it" in capsys.readouterr().err
    assert home.run("sessions", "export", "work", "--out", str(out), "--force") == 0
    assert len(json.loads(out.read_text())) == 7


def test_the_view_is_the_window_with_a_line_a_message(home: Home, capsys: Printed) -> None:
    home.compact(home.talk())
    assert home.run("sessions", "view", "work") == 0
    *lines, closing = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["1", "original", "system"],
        ["-", "summary", "user"],
        ["6", "original", "user"],
        ["7", "original", "assistant"],
    ]
    assert "[covers 2-5] Notes: a door." in lines[1]
    assert closing.startswith("version 1 (manual by compressor, ") and "4 messages, " in closing


def test_version_0_is_the_archive_and_no_escape_sequence_reaches_the_terminal(home: Home, capsys: Printed) -> None:
    home.compact(home.talk())
    home.run("sessions", "view", "work", "--version", "0")
    text = capsys.readouterr().out
    assert "\x1b" not in text and "\x07" not in text and "\\x1b[2J" in text
    assert "→ read_file(" in text and "7 messages, " in text
    assert home.run("sessions", "view", "work", "--version", "9") == 2
    assert "there is no version 9" in capsys.readouterr().err


def test_a_view_as_json_holds_the_messages_as_they_are_sent(home: Home, capsys: Printed) -> None:
    home.compact(home.talk())
    home.run("sessions", "view", "work", "--json")
    window = shown(capsys)
    assert window["messages"] == [TALK[0], user("Notes: a door."), *TALK[5:]]
    assert window["entries"][1]["covers"] == [[2, 5]]
    assert window["tokens"] == sum(entry["tokens"] for entry in window["entries"])


def test_a_diff_says_what_left_and_what_came(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.compact(conversation)
    with home.opened() as store:
        store.archive(conversation).append(user("One more."))
    assert home.run("sessions", "diff", "work") == 0
    before, after, *lines = capsys.readouterr().out.splitlines()
    assert before.startswith("from: version 0") and "7 messages" in before
    assert after.startswith("to:   version 1") and "4 messages" in after
    assert [line.split()[:2] for line in lines] == [["-", "2"], ["-", "3"], ["-", "4"], ["-", "5"], ["+", "-"]]


def test_a_diff_of_a_version_with_itself_shows_nothing(home: Home, capsys: Printed) -> None:
    home.compact(home.talk())
    home.run("sessions", "diff", "work", "1", "1")
    assert capsys.readouterr().out.splitlines()[-1] == "they show the same"
    home.run("sessions", "diff", "work", "1", "0", "--json")
    change = shown(capsys)
    assert [entry["position"] for entry in change["came"]] == [2, 3, 4, 5] and change["tokens_before"] < change["tokens_after"]


@pytest.mark.parametrize("rotate", [False, True])
def test_an_undo_brings_the_messages_back_and_reopens_the_session(home: Home, capsys: Printed, rotate: bool) -> None:
    conversation = home.talk()
    home.compact(conversation, rotate=rotate)
    with home.opened() as store:
        store.archive(conversation).append(assistant("Said since."))
    assert home.run("sessions", "undo", "work", "--dry-run") == 0
    dry = capsys.readouterr().out.splitlines()
    assert dry[-1].startswith("nothing was changed")
    assert home.run("sessions", "undo", "work") == 0
    done = capsys.readouterr().out.splitlines()
    assert done[:-1] == dry[:-1] and [line[:5].split() for line in done[2:-1]] == [["-", "-"], *(["+", str(row)] for row in range(2, 6))]
    assert done[-1] == f"version 1 is taken back by version 2; the conversation goes on in session {conversation}"
    home.run("sessions", "view", "work", "--json")
    assert shown(capsys)["messages"] == [*TALK, assistant("Said since.")]


def test_a_second_undo_takes_the_compaction_before_back_and_a_third_has_nothing(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.compact(conversation)
    home.compact(conversation, covers=range(2, 7), summary="Notes: two doors.")
    home.run("sessions", "undo", "work", "--json")
    first = shown(capsys)
    assert (first["undone"], first["version"], first["session"], first["applied"]) == (2, 3, conversation, True)
    home.run("sessions", "undo", "work", "--json")
    assert shown(capsys)["undone"] == 1
    assert home.run("sessions", "undo", "work") == 2
    assert "there is no compaction to undo" in capsys.readouterr().err


def test_a_broken_configuration_does_not_hide_the_window(home: Home, capsys: Printed) -> None:
    home.talk()
    (home.path / "config.yaml").write_text("compression: {threshold: 7}\n")
    assert home.run("sessions", "view", "work") == 0


def test_an_empty_conversation_can_be_looked_at(home: Home, capsys: Printed) -> None:
    home.talk("empty", [])
    for command in ("show", "view", "tree", "diff", "export"):
        assert home.run("sessions", command, "empty") == 0, command
    assert "no messages yet" in capsys.readouterr().out


@pytest.mark.parametrize(("zone", "first"), [("America/New_York", "0001-01-01 00:00:00 UTC"), ("Asia/Tokyo", "9999-12-31 23:59:59 UTC")])
def test_a_time_that_the_clock_here_cannot_show_is_shown_in_utc(
    home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch, zone: str, first: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        conversation = home.talk("work", [])
        moment = datetime.fromisoformat(first.removesuffix(" UTC")).replace(tzinfo=UTC)
        with home.opened() as store:
            store.archive(conversation).append(user("told long ago"), time=moment)
        for words in (("sessions",), ("sessions", "show", "work"), ("grep", "told"), ("archive", "forget", "told", "--yes")):
            assert home.run(*words) == 0, words
            assert first in capsys.readouterr().out, words
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_export_says_which_messages_are_forgotten_and_which_are_damaged(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    with home.opened() as store:
        store.admin.forget(Forget(conversation=conversation, position=5), apply=True)
    change(home.path / "archive.db", "UPDATE messages SET body = x'ff' WHERE position = 6")
    assert home.run("sessions", "export", "work") == 0
    said = capsys.readouterr()
    assert len(json.loads(said.out)) == 5
    assert "1 message not in it: erased by `ctxhost archive forget`" in said.err
    assert "1 message not in it: damaged" in said.err


@pytest.mark.parametrize("title", ["last", " last ", "\udcff", "caf\udce9", "\x01", "\u200b", "ID"])
def test_a_title_that_would_name_something_else_or_nothing_is_refused(home: Home, capsys: Printed, title: str) -> None:
    other = home.talk("other")
    home.talk()
    assert home.run("sessions", "rename", "work", title.replace("ID", other)) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
    assert home.run("sessions", "show", "work") == 0


def test_a_deleted_conversation_leaves_no_word_in_the_file(home: Home, tmp_path: Path) -> None:
    recording = tmp_path / "fruit.json"
    recording.write_text(json.dumps([{"role": "user", "content": "zed kiwisecret"}, {"role": "assistant", "content": "plum"}]))
    assert home.run("import", str(recording)) == 0
    assert home.run("sessions", "delete", "fruit", "--yes") == 0
    assert not [path for path in home.path.rglob("*") if path.is_file() and b"kiwisecret" in path.read_bytes()]


def test_delete_as_json_asks_nothing_and_erases_only_with_yes(home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = home.talk()
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert home.run("sessions", "delete", "work", "--json") == 0
    said = capsys.readouterr()
    plan = json.loads(said.out)
    erased = {"conversation": conversation, "sessions": [conversation], "messages": 7, "side_chains_left": [], "unfinished": None}
    assert said.err == "" and plan == {"applied": False, **erased}
    assert home.run("sessions", "delete", "work", "--json", "--yes") == 0
    assert shown(capsys) == {**plan, "applied": True}


@pytest.mark.parametrize("name", ["new/", "not/there/out.json"])
def test_an_export_that_cannot_be_written_there_makes_nothing(home: Home, tmp_path: Path, name: str) -> None:
    home.talk()
    before = sorted(tmp_path.rglob("*"))
    assert home.run("sessions", "export", "work", "--out", f"{tmp_path}/{name}") == 2
    assert sorted(tmp_path.rglob("*")) == before
