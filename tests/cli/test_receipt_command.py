"""``ctxhost sessions receipt`` as a user meets it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from host.messages.types import Message
from host.testing.messages import assistant, call, result, user
from tests.cli.conftest import Home

Printed = pytest.CaptureFixture[str]
TALK: tuple[Message, ...] = (
    user("The gateway listens on port 8080. Never touch /srv/data/raw.\n不要重启网关。"),
    assistant("I look.", [call("c1", "read_file", {"path": "/etc/parcel/gateway.yaml"})]),
    result("c1", "upstream: 10.2.3.4:7001, you must never restart it"),
    assistant("It is there."),
    user("Use port 9090 instead."),
    assistant("Done."),
)


@pytest.fixture
def conversation(home: Home) -> str:
    """Compacted once: rows 1 to 4 are in a summary that says one of their values."""
    conversation = home.talk("work", TALK)
    home.compact(conversation, covers=range(1, 5), summary="The agent read /etc/parcel/gateway.yaml.")
    return conversation


def shown(printed: Printed) -> Any:
    return json.loads(printed.readouterr().out)


def test_a_receipt_is_a_table_with_its_sums_below(home: Home, conversation: str, capsys: Printed) -> None:
    assert home.run("sessions", "receipt", "work") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("version 1: manual by compressor, ") and lines[0].endswith(", 900 -> 300 tokens")
    assert lines[1] == "left the window: 1-4 (4 rows)"
    assert [line.split() for line in lines[3:-2]] == [
        ["KIND", "ROW", "ROLE", "WINDOW", "REPLACED", "BY", "TEXT"],
        ["address", "1", "user", "replaced", "9090", "[5]", "8080"],
        ["constraint", "1", "user", "lost", "-", "Never", "touch", "/srv/data/raw."],
        ["path", "1", "user", "lost", "-", "/srv/data/raw"],
        ["constraint", "1", "user", "lost", "-", "不要重启网关。"],
        ["path", "2", "assistant", "visible", "-", "/etc/parcel/gateway.yaml"],
        ["address", "3", "tool", "lost", "-", "10.2.3.4:7001"],
    ]
    assert lines[-1] == "4 values and 2 rules of the user: 1 still visible, 1 replaced, 4 lost"


def test_what_the_window_still_says_counts_as_visible_though_it_was_replaced(home: Home, capsys: Printed) -> None:
    home.compact(home.talk("still", TALK), covers=range(1, 5), summary="It was port 8080.")
    assert home.run("sessions", "receipt", "still", "--json") == 0
    page = shown(capsys)
    (old,) = [one for one in page["listed"] if one["text"] == "8080"]
    assert (old["visible"], old["replaced_by"]["text"]) == (True, "9090")
    counts = page["counts"]
    assert counts["visible"] + counts["replaced"] + counts["lost"] == counts["values"] + counts["rules"] == len(page["listed"])
    assert counts["replaced"] == 0


def test_lost_shows_only_what_holds_and_is_not_said(home: Home, conversation: str, capsys: Printed) -> None:
    assert home.run("sessions", "receipt", "work", "1", "--lost") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in lines[4:-2]] == ["lost"] * 4
    assert lines[-1].endswith("1 still visible, 1 replaced, 4 lost")


def test_as_json_it_is_whole(home: Home, conversation: str, capsys: Printed) -> None:
    assert home.run("sessions", "receipt", "work", "--json") == 0
    page = shown(capsys)
    assert (page["version"], page["before"], page["after"], page["left"], page["undone_by"]) == (1, 900, 300, [[1, 4]], None)
    assert page["counts"] == {"values": 4, "rules": 2, "visible": 1, "replaced": 1, "lost": 4}
    assert page["listed"][0] == {
        "kind": "address",
        "text": "8080",
        "position": 1,
        "role": "user",
        "visible": False,
        "lost": False,
        "replaced_by": {"text": "9090", "position": 5},
    }
    home.run("sessions", "receipt", "work", "--lost", "--json")
    assert [one["text"] for one in shown(capsys)["listed"]] == [
        "Never touch /srv/data/raw.",
        "/srv/data/raw",
        "不要重启网关。",
        "10.2.3.4:7001",
    ]


def test_an_undone_compaction_is_told_with_what_took_it_back(home: Home, conversation: str, capsys: Printed) -> None:
    home.run("sessions", "undo", "work")
    capsys.readouterr()
    assert home.run("sessions", "receipt", "work") == 0
    assert "taken back by version 2" in capsys.readouterr().out.splitlines()


def test_a_version_that_no_compaction_made_is_named_with_those_that_one_did(home: Home, conversation: str, capsys: Printed) -> None:
    home.run("sessions", "undo", "work")
    capsys.readouterr()
    assert home.run("sessions", "receipt", "work", "2") == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: version 2 was made by undo, not by a compaction: it has no receipt",
        "versions made by one: 1",
    ]
    assert home.run("sessions", "receipt", "work", "7") == 2
    assert "there is no version 7" in capsys.readouterr().err
    assert home.run("sessions", "receipt", "work", "0") == 2
    assert home.run("sessions", "receipt", "nobody") == 2


def test_the_answer_is_no_where_there_is_nothing_to_list(home: Home, capsys: Printed) -> None:
    conversation = home.talk("plain", [user("hello"), assistant("hi"), user("go on")])
    assert home.run("sessions", "receipt", "plain") == 1
    assert capsys.readouterr().out == "nothing left the window: it was never compacted\n"
    assert home.run("sessions", "receipt", "plain", "--json") == 1
    assert shown(capsys) == {"version": None, "reason": "nothing left the window: it was never compacted", "listed": []}
    home.compact(conversation, covers=range(1, 3))
    assert home.run("sessions", "receipt", "plain") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 values and 0 rules of the user: 0 still visible, 0 replaced, 0 lost"


def test_what_would_command_a_terminal_is_shown_as_text(home: Home, capsys: Printed) -> None:
    conversation = home.talk("odd", [user('It says "left \x1b[2J of \udc80 it".'), assistant("hi"), user("go on")])
    home.compact(conversation, covers=range(1, 3))
    assert home.run("sessions", "receipt", "odd") == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\\x1b[2J of \\udc80 it" in said
    assert home.run("sessions", "receipt", "odd", "--json") == 0
    assert any("\x1b[2J of \udc80 it" in one["text"] for one in shown(capsys)["listed"])
