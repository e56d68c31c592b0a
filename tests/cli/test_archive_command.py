"""``ctxhost archive`` as a user meets it."""

from __future__ import annotations

import io
import json
import sqlite3
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from host.cli.store_times import age_of
from host.errors import UsageError
from host.messages.types import Message
from host.store.sqlite.store import SqliteStore
from host.testing.messages import user
from tests.cli.conftest import Home

Printed = pytest.CaptureFixture[str]


def shown(printed: Printed) -> Any:
    """What --json said."""
    return json.loads(printed.readouterr().out)


def tamper(home: Home, sql: str) -> None:
    """Change the file behind the store's back."""
    connection = sqlite3.connect(home.path / "archive.db")
    connection.execute(sql)
    connection.commit()
    connection.close()


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


@pytest.mark.parametrize("words", [("verify",), ("backup",), ("forget", "x"), ("expire", "--older-than", "1d")])
def test_without_an_archive_that_is_said_and_no_file_is_made(home: Home, capsys: Printed, words: tuple[str, ...]) -> None:
    assert home.run("archive", *words) == 1
    assert capsys.readouterr().err.startswith("error: there is no archive in")
    assert not home.path.exists()


def test_a_sound_archive_verifies(home: Home, capsys: Printed) -> None:
    home.talk()
    assert home.run("archive", "verify") == 0
    assert "nothing is wrong; read: messages: 7" in capsys.readouterr().out


def test_a_proof_says_where_every_message_is(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.compact(conversation)
    assert home.run("archive", "verify", "--prove") == 0
    assert f"{conversation}: 3 shown (1, 6-7); 4 covered (2-5)" in capsys.readouterr().out
    home.run("archive", "verify", "--prove", "--json")
    (proof,) = shown(capsys)["proofs"]
    assert proof["covered"] == [[2, 5]] and proof["not_represented"] == []


def test_a_changed_message_is_a_finding_and_status_1(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    tamper(home, 'UPDATE messages SET body = \'{"role":"user","content":"forged"}\' WHERE position = 2')
    assert home.run("archive", "verify") == 1
    assert f"{conversation}:2" in capsys.readouterr().out
    assert home.run("archive", "verify", "--json") == 1
    assert shown(capsys)["clean"] is False


def test_a_file_that_is_no_database_is_a_finding_too(home: Home, capsys: Printed) -> None:
    home.path.mkdir()
    (home.path / "archive.db").write_bytes(b"no database at all" * 400)
    assert home.run("archive", "verify") == 1
    assert "archive repair" in capsys.readouterr().out


def test_a_backup_goes_to_the_backups_folder_for_its_owner_alone_and_can_be_searched(home: Home, capsys: Printed, tmp_path: Path) -> None:
    home.talk()
    assert home.run("archive", "backup", "--json") == 0
    made = Path(shown(capsys)["file"])
    assert made.parent == home.path / "backups" and stat.S_IMODE(made.stat().st_mode) == 0o600
    other = Home(tmp_path / "other")
    other.path.mkdir()
    made.rename(other.path / "archive.db")
    assert other.run("grep", "needle-42") == 0


def test_a_backup_never_overwrites(home: Home, capsys: Printed, tmp_path: Path) -> None:
    home.talk()
    target = tmp_path / "copy.db"
    assert home.run("archive", "backup", str(target)) == 0
    assert f"wrote {target}" in capsys.readouterr().out
    assert home.run("archive", "backup", str(target)) == 2
    assert "is there already" in capsys.readouterr().err


def test_forget_shows_first_then_asks_then_erases(home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = home.talk()
    answer(monkeypatch, "no\n")
    assert home.run("archive", "forget", "needle-42") == 1
    said = capsys.readouterr()
    assert f"{conversation}:4" in said.out and "to be erased: messages: 1" in said.out and "nothing was erased" in said.err
    answer(monkeypatch, "y\n")
    assert home.run("archive", "forget", "needle-42") == 0
    assert "erased; receipt 1" in capsys.readouterr().out
    home.run("sessions", "export", "work")
    said = capsys.readouterr()
    assert "needle-42" not in said.out and "1 message not in it: erased" in said.err
    assert home.run("archive", "verify") == 0


def test_forget_with_nobody_to_answer_changes_nothing(home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    home.talk()
    answer(monkeypatch, "")
    assert home.run("archive", "forget", "needle-42") == 2
    assert home.run("grep", "needle-42") == 0


def test_forget_of_what_nobody_said_is_status_1_and_asks_nothing(home: Home, capsys: Printed) -> None:
    home.talk()
    assert home.run("archive", "forget", "never said") == 1
    assert "nothing in the archive holds it" in capsys.readouterr().out


def test_forget_as_json_is_a_dry_run_until_yes(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    assert home.run("archive", "forget", "needle-42", "--json") == 0
    assert (plan := shown(capsys))["applied"] is False and plan["messages"] == [f"{conversation}:4"]
    assert home.run("archive", "forget", "needle-42", "--json", "--yes") == 0
    assert shown(capsys)["applied"] is True


def test_an_id_with_a_position_is_a_message_and_with_text_a_text(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.run("archive", "forget", "last:5", "--json")
    assert shown(capsys)["messages"] == [f"{conversation}:5"]
    assert home.run("archive", "forget", f"{conversation}:5", "--text", "--json") == 1
    capsys.readouterr()
    assert home.run("archive", "forget", f"{conversation}:5", "--yes") == 0
    assert home.run("grep", "opens") == 1
    assert home.run("archive", "forget", "20200101_000000_abcdef:1") == 2


def test_a_text_with_a_colon_and_a_number_is_a_text(home: Home, capsys: Printed) -> None:
    conversation = home.talk("work", [user("it listens on localhost:8080")])
    home.run("archive", "forget", "localhost:8080", "--json")
    assert shown(capsys)["messages"] == [f"{conversation}:1"]


def test_a_text_goes_from_the_archives_of_replays_too_and_other_copies_are_named(home: Home, capsys: Printed) -> None:
    home.talk()
    recording = home.path / "talk.json"
    recording.write_text(json.dumps([user("a needle-42"), user("and more")]))
    home.run("replay", str(recording), "--json")
    name = shown(capsys)["replay"]
    assert home.run("archive", "forget", "needle-42", "--yes") == 0
    assert f"a copy may be left: {recording}" in capsys.readouterr().err
    assert home.run("grep", "needle-42", "--replay", name) == 1


def test_what_only_a_replay_holds_is_forgotten_by_text_and_by_the_id_that_grep_prints(home: Home, capsys: Printed, tmp_path: Path) -> None:
    recording = tmp_path / "talk.json"
    recording.write_text(json.dumps([user("a needle-42"), user("and more of it")]))
    home.run("replay", str(recording), "--json")
    name = shown(capsys)["replay"]
    assert not (home.path / "archive.db").exists()
    home.run("grep", "more of it", "--replay", name, "--json")
    (hit,) = shown(capsys)["hits"]
    assert home.run("archive", "forget", hit["id"], "--yes") == 0
    assert home.run("archive", "forget", "needle-42", "--yes") == 0
    assert home.run("grep", "a|of", "--mode", "regex", "--replay", name) == 1
    assert not (home.path / "archive.db").exists()


def test_a_word_that_is_forgotten_by_its_id_may_be_said_again_and_that_is_said(home: Home, capsys: Printed) -> None:
    conversation = home.talk("work", [user("Shall we begin with it?"), user("yes")])
    assert home.run("archive", "forget", f"{conversation}:2", "--yes") == 0
    assert "may be said again: 1 (no more than a word" in capsys.readouterr().out
    with home.opened() as store:
        assert store.archive(conversation).append(user("yes")) == 3
    assert home.run("archive", "forget", f"{conversation}:1", "--json") == 0
    assert shown(capsys)["may_be_said_again"] == []


def test_where_the_same_message_stands_too_is_said_before_the_question(home: Home, capsys: Printed) -> None:
    said = user("My number is 80243-7, please book it.")
    here, there = home.talk("here", [said]), home.talk("there", [said])
    assert home.run("archive", "forget", f"{here}:1", "--yes") == 0
    assert f"the same message stands in 1 other conversation and stays there ({there}); erase its text" in capsys.readouterr().out


def test_a_damaged_replay_does_not_keep_a_text_from_being_forgotten_and_is_named(home: Home, capsys: Printed) -> None:
    home.talk()
    broken = home.path / "replays" / "broken"
    broken.mkdir(parents=True)
    (broken / "archive.db").write_bytes(b"garbage" * 1_000)
    assert home.run("archive", "forget", "needle-42", "--yes") == 0
    assert f"not looked into, delete it where it may hold the text: {broken}" in capsys.readouterr().err
    assert home.run("grep", "needle-42", "--mode", "literal") == 1


def old(home: Home, title: str, days: int) -> str:
    """A conversation of which everything is so many days old."""
    conversation = home.talk(title, [])
    with home.opened() as store:
        message: Message = user(f"of {title}")
        store.archive(conversation).append(message, time=datetime.now(UTC) - timedelta(days=days))
    for table, column in (("conversations", "created"), ("sessions", "started")):
        tamper(home, f"UPDATE {table} SET {column} = {column} - {days * 86_400_000_000} WHERE name = '{conversation}'")
    return conversation


def test_expire_only_says_which_until_yes(home: Home, capsys: Printed) -> None:
    gone = old(home, "ancient", 100)
    old(home, "recent", 10)
    assert home.run("archive", "expire", "--older-than", "90d") == 0
    said = capsys.readouterr().out
    assert gone in said and "ancient" in said and "recent" not in said and "--yes erases them" in said
    assert home.run("archive", "expire", "--older-than", "90d", "--yes", "--json") == 0
    assert shown(capsys)["conversations"] == [gone]
    assert home.run("grep", "of ancient") == 1 and home.run("grep", "of recent") == 0
    home.run("archive", "expire", "--older-than", "90d")
    assert "no conversation is as old as that" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "days"), [("90d", 90), ("2w", 14), ("6m", 180), ("1y", 365), ("1 Y", 365)])
def test_an_age_is_a_number_with_a_letter(text: str, days: int) -> None:
    assert age_of(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["", "90", "0d", "-1d", "5h", "1.5y", "999999999999y"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no age"):
        age_of(text)


def test_a_repair_of_a_sound_archive_changes_nothing(home: Home, capsys: Printed) -> None:
    home.talk()
    home.run("grep", "needle-42")  # indexes
    capsys.readouterr()
    assert home.run("archive", "repair") == 0
    assert capsys.readouterr().out.splitlines() == [f"{home.path / 'archive.db'}: nothing was damaged, nothing was changed"]


def test_a_repair_saves_what_can_be_read_of_a_damaged_file(home: Home, capsys: Printed) -> None:
    home.talk("long", [user(f"number {number} " + "x" * 900) for number in range(60)])
    path = home.path / "archive.db"
    with sqlite3.connect(path) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages_at'").fetchone()[0]
    connection.close()
    data = bytearray(path.read_bytes())
    data[(root - 1) * 4_096 : root * 4_096] = b"\xff" * 4_096
    path.write_bytes(data)
    assert home.run("archive", "verify") == 1
    capsys.readouterr()
    home.run("archive", "repair", "--json")
    done = shown(capsys)
    assert done["salvaged"]["messages"] == 60 and Path(done["copy"]).is_file()
    assert home.run("archive", "verify") == 0 and home.run("grep", "number 33") == 0


def test_a_repair_without_an_archive_says_so(home: Home, capsys: Printed, tmp_path: Path) -> None:
    assert home.run("archive", "repair") == 1
    assert home.run("archive", "repair", str(tmp_path / "none.db")) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_an_archive_of_a_later_ctxhost_is_left_alone(home: Home, capsys: Printed) -> None:
    home.talk()
    tamper(home, "PRAGMA user_version = 99")
    assert home.run("archive", "verify") == 2
    assert "has schema 99" in capsys.readouterr().err
    with pytest.raises(Exception, match="schema 99"):
        SqliteStore(home.path / "archive.db")


def test_two_backups_of_one_second_have_names_of_their_own(home: Home, capsys: Printed) -> None:
    home.talk()
    for _ in range(4):
        assert home.run("archive", "backup") == 0, capsys.readouterr().err
    assert len(list((home.path / "backups").glob("*.db"))) == 4


@pytest.mark.parametrize("name", ["new/", "not/there/copy.db", ".", "taken.db"])
def test_a_backup_that_cannot_be_written_there_makes_nothing(home: Home, capsys: Printed, tmp_path: Path, name: str) -> None:
    home.talk()
    (tmp_path / "taken.db").write_text("precious")
    before = sorted(tmp_path.rglob("*"))
    assert home.run("archive", "backup", f"{tmp_path}/{name}") == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "taken.db").read_text() == "precious"


def test_what_would_go_from_a_replay_is_shown_with_its_name(home: Home, capsys: Printed, tmp_path: Path) -> None:
    conversation = home.talk()
    recording = tmp_path / "talk.json"
    recording.write_text(json.dumps([user("a needle-42"), user("and more")]))
    home.run("replay", str(recording), "--json")
    name = shown(capsys)["replay"]
    home.run("archive", "forget", "needle-42", "--json")
    plan = shown(capsys)
    (of_replay,) = plan["in_replays"].pop(name)
    assert plan["in_replays"] == {} and set(plan["messages"]) == {of_replay, f"{conversation}:4"}
    assert home.run("archive", "forget", "needle-42", "--yes") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [f"(--replay {name})" in line for line in lines[:2]] == [False, True] and of_replay in lines[1]


def test_forget_finishes_an_erasure_that_was_cut_short_though_nothing_holds_it_any_more(home: Home, capsys: Printed) -> None:
    home.talk()
    tamper(home, "INSERT INTO store (key, value) VALUES ('unfinished_erasure', 7)")
    assert home.run("archive", "forget", "never said", "--json") == 1
    assert shown(capsys)["unfinished_before"]
    assert home.run("doctor") == 1
    assert "the one with receipt 7 is not finished" in capsys.readouterr().out
    assert home.run("archive", "forget", "never said") == 0
    assert "the erasure with receipt 7 is not finished: its bytes may still be in the file; it is finished now" in capsys.readouterr().out
    assert home.run("archive", "forget", "never said") == 1


def test_a_repair_names_a_lost_string_and_is_status_1(home: Home, capsys: Printed) -> None:
    conversation = home.talk("work", [user("x" * 40_000)])
    tamper(home, "DELETE FROM blobs")
    assert home.run("archive", "repair") == 1
    assert f"lost: 1 string in messages {conversation}:1" in capsys.readouterr().out
    assert home.run("archive", "verify") == 0
    assert f"holes from repair 1: {conversation}: 1 without a large string of theirs (1)" in capsys.readouterr().out


def test_a_repair_with_a_new_key_says_so(home: Home, capsys: Printed) -> None:
    home.talk()
    tamper(home, "DELETE FROM store")
    assert home.run("archive", "repair") == 0
    assert "the key of the digests was lost and is another one now" in capsys.readouterr().out


def test_an_empty_archive_is_called_empty(home: Home, capsys: Printed) -> None:
    home.path.mkdir()
    (home.path / "archive.db").touch()
    assert home.run("archive", "repair") == 2
    assert "only a backup helps" in capsys.readouterr().err
    assert home.run("archive", "verify") == 0
    assert "the archive is empty" in capsys.readouterr().out


def test_one_message_of_an_imported_session_is_erased_by_the_id_that_grep_prints(home: Home, capsys: Printed) -> None:
    recording = home.path.parent / "chat.json"
    quoted = "I quote chat-of-mine:1 as grep printed it"
    recording.write_text(json.dumps([{"role": "user", "content": "the real message to erase"}, {"role": "assistant", "content": quoted}]))
    recording = recording.rename(recording.with_name("chat-of-mine.json"))
    assert home.run("import", str(recording)) == 0
    capsys.readouterr()
    assert home.run("grep", "the real message") == 0
    printed = capsys.readouterr().out.split("\t")[0]
    assert home.run("archive", "forget", printed, "--yes") == 0
    assert home.run("grep", "the real message") == 1
    assert home.run("grep", quoted) == 0


def test_what_looks_like_an_id_of_no_session_is_a_text(home: Home, capsys: Printed) -> None:
    recording = home.path.parent / "ports.json"
    recording.write_text(json.dumps([{"role": "user", "content": "it listens on localhost:8080"}]))
    assert home.run("import", str(recording)) == 0
    assert home.run("archive", "forget", "localhost:8080", "--yes") == 0
    assert home.run("grep", "listens") == 1
