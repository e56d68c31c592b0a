"""``ctxhost sessions pin`` as a user meets it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from host.testing.messages import user
from tests.cli.conftest import Home

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def conversation(home: Home) -> str:
    return home.talk("work")


def shown(printed: Printed) -> Any:
    return json.loads(printed.readouterr().out)


def pinned(home: Home, conversation: str) -> list[tuple[int, str]]:
    with home.opened() as store:
        return [(pin.position, pin.by) for pin in store.pins(conversation).all()]


def test_without_rows_the_pinned_ones_are_listed(home: Home, conversation: str, capsys: Printed) -> None:
    assert home.run("sessions", "pin", "work") == 0
    assert capsys.readouterr().out == "no message is pinned\n"
    assert home.run("sessions", "pin", "work", "6", "2") == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["ROW", "ROLE", "BY", "TOKENS", "WINDOW", "TEXT"]
    assert [(line.split()[:3], line.split()[4:]) for line in lines] == [
        (["6", "user", "user"], ["shown", "And", "now?"]),
        (["2", "user", "user"], ["shown", "Look", "into", "src/网关/接入.py,", "please."]),
    ]
    assert home.run("sessions", "pin", "work", "--json") == 0
    said = shown(capsys)
    assert said["not_pinned"] == [] and {pin["position"]: (pin["by"], pin["shown"]) for pin in said["pins"]} == {
        2: ("user", True),
        6: ("user", True),
    }
    assert all(pin["tokens"] > 0 for pin in said["pins"])
    assert pinned(home, conversation) == [(6, "user"), (2, "user")]


def test_pinning_twice_is_pinning_once(home: Home, conversation: str, capsys: Printed) -> None:
    assert [home.run("sessions", "pin", "work", "2", "2"), home.run("sessions", "pin", "work", "2")] == [0, 0]
    assert pinned(home, conversation) == [(2, "user")]


def test_remove_unpins_and_says_what_was_not_pinned(home: Home, conversation: str, capsys: Printed) -> None:
    home.run("sessions", "pin", "work", "2", "6")
    capsys.readouterr()
    assert home.run("sessions", "pin", "work", "6", "--remove") == 0
    assert pinned(home, conversation) == [(2, "user")]
    capsys.readouterr()
    assert home.run("sessions", "pin", "work", "6", "2", "--remove") == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("no message is pinned\n", "message 6 was not pinned\n")
    assert home.run("sessions", "pin", "work", "5", "--remove", "--json") == 1
    assert shown(capsys) == {"pins": [], "not_pinned": [5]}


def test_of_several_messages_all_are_pinned_or_none(home: Home, conversation: str, capsys: Printed) -> None:
    home.run("sessions", "pin", "work", "6")
    assert home.run("sessions", "pin", "work", "2", "6", "99") == 2
    assert "99" in capsys.readouterr().err
    assert pinned(home, conversation) == [(6, "user")]


def test_a_pin_beyond_a_quarter_of_the_window_is_refused_with_the_arithmetic(home: Home, capsys: Printed) -> None:
    conversation = home.talk("large", [user("go"), user("word " * 400_000), user("small")])
    assert home.run("sessions", "pin", "large", "3", "2") == 2
    assert any(char.isdigit() for char in capsys.readouterr().err)
    assert pinned(home, conversation) == []


@pytest.mark.parametrize("typed", [("0",), ("-1",), ("two",), ("--remove",)])
def test_wrong_usage_is_said(home: Home, conversation: str, capsys: Printed, typed: tuple[str, ...]) -> None:
    assert home.run("sessions", "pin", "work", *typed) == 2
    assert capsys.readouterr().err
    assert pinned(home, conversation) == []


def test_an_unknown_session_and_a_missing_archive_are_named(home: Home, capsys: Printed) -> None:
    assert home.run("sessions", "pin", "work", "1") == 1
    assert "there is no archive" in capsys.readouterr().err
    home.talk("other")
    assert home.run("sessions", "pin", "work", "1") == 2
    assert "no session is called 'work'" in capsys.readouterr().err


def test_a_pin_brings_a_message_back_into_a_compacted_window_and_that_version_has_no_receipt(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.compact(conversation)
    assert home.run("sessions", "pin", "work", "2") == 0
    assert capsys.readouterr().out.splitlines()[1].split()[4] == "shown"
    assert home.run("sessions", "view", "work") == 0
    assert "src/网关/接入.py" in capsys.readouterr().out
    assert home.run("sessions", "receipt", "work", "2") == 2
    assert "version 2 was made by pin, not by a compaction" in capsys.readouterr().err


def test_pinning_asks_no_model(home: Home, conversation: str, capsys: Printed) -> None:
    nobody = "http://127.0.0.1:9/v1"
    config = f"model:\n  name: gpt-4o\n  base_url: {nobody}\nauxiliary:\n  compression:\n    model: gpt-4o-mini\n    base_url: {nobody}\n"
    (home.path / "config.yaml").write_text(config)
    assert home.run("sessions", "pin", "work", "2") == 0
    assert capsys.readouterr().err == ""
