"""What a summary without a model says of values that the user replaced, and whose rules it takes for the user's."""

from __future__ import annotations

import re

import pytest

from host.compressor.marks import as_it_holds, is_marked, marked, renewed
from host.compressor.notes import parse_notes, write_notes
from host.compressor.series import Series
from host.compressor.template import Section
from host.messages.clients import own_words
from host.messages.facts import Live, facts_of, told
from host.messages.redact import redact
from host.messages.types import Message
from host.testing.messages import user


def notes(*said: str, previous: str = "", opening: str = "") -> str:
    turns: list[Message] = [user(text) for text in (*said, "Thanks, go on.")]
    return write_notes(turns, previous=previous, opening=opening or said[0], mask=redact, fits=lambda body: True)


def under(body: str, section: Section) -> list[str]:
    return parse_notes(body).get(section, [])[::-1]


@pytest.mark.parametrize(
    ("said", "goal"),
    [
        (("The API listens on port 8080.", "Now 8080 is taken, use 9090 instead."), "The API listens on port [8080, now 9090]."),
        (("API のポートは 8080 です。", "ポートは 8080 ではなく 9090 にしてください。"), "API のポートは [8080, now 9090] です。"),
        (
            ("Set it up. The API listens on port 8080. Never push to main.", "Port 8080 is taken, use 9090 instead."),
            "Set it up. The API listens on port [8080, now 9090]. Never push to main.",
        ),
        (
            ("The standup is on Monday and Anna leads it.", "The standup is on Tuesday now."),
            "The standup is on [Monday, changed since] and Anna",
        ),
    ],
)
def test_the_goal_says_beside_an_old_value_what_holds_now(said: tuple[str, ...], goal: str) -> None:
    (item,) = under(notes(*said), Section.GOAL)
    assert item.startswith(goal)


def test_what_the_turns_that_stay_replaced_is_marked_too() -> None:
    turns, later = [user("The API listens on port 8080."), user("ok")], [user("Now 8080 is taken, use 9090 instead.")]
    body = write_notes(turns, previous="", opening="The API listens on port 8080.", mask=redact, fits=lambda text: True, later=later)
    assert under(body, Section.GOAL) == ["The API listens on port [8080, now 9090]."]
    assert "taken" not in body


def test_the_newest_request_of_the_notes_is_marked_by_what_came_after_it() -> None:
    later = [user("Now 8080 is taken, use 9090 instead.")]
    turns: list[Message] = [user("Hello."), user("Start the API on port 8080.")]
    body = write_notes(turns, previous="", opening="Hello.", mask=redact, fits=lambda text: True, later=later)
    assert under(body, Section.TASK) == ["Start the API on port [8080, now 9090]."]


def test_of_a_sentence_of_several_values_the_others_stay() -> None:
    body = notes("Hello.", "The port is 8080 and the region is eu-north-1 and the TTL is 300 s.", "The port is 9090 now.")
    assert "The port is [8080, now 9090] and the region is eu-north-1 and the TTL is 300 s." in body


def test_a_sentence_that_a_newer_one_says_again_is_left_out_of_its_text() -> None:
    body = notes("Hello.", "Please help. The weekly report goes out on Monday.", "Send the weekly report on Tuesday instead.")
    assert "Please help." in body and "Tuesday" in body and "Monday" not in body


def test_a_rule_keeps_the_sentence_that_it_is_of() -> None:
    body = notes("Hello.", "The budget cap is $305. Never exceed it without asking.", "The budget cap is $727 now.")
    assert "The budget cap is [$305, now $727]. Never exceed it without asking." in body


def test_of_a_rule_that_is_said_again_with_another_value_the_new_one_is_left() -> None:
    old, new = (f"The budget cap is ${cap} total. Never exceed it without asking." for cap in (305, 727))
    assert under(notes("Hello.", old, new), Section.CONSTRAINTS) == [new]


def test_the_sentence_that_replaces_a_value_stays_as_it_was_said() -> None:
    assert "Now 8080 is taken, use 9090 instead." in notes("The API listens on port 8080.", "Now 8080 is taken, use 9090 instead.")


def test_the_newest_value_is_said_however_often_it_changed_and_an_old_one_can_come_back() -> None:
    opening = "The API listens on port 8080 in eu-north-1."
    first = notes(opening, "Use port 9090 instead.")
    second = notes("Use port 9191 instead of 9090.", previous=first, opening=opening)
    assert under(second, Section.GOAL) == ["The API listens on port [8080, now 9191] in eu-north-1."]
    third = notes("Go back to port 8080.", previous=second, opening=opening)
    assert under(third, Section.GOAL) == [opening]


def test_a_summary_of_a_summary_marks_nothing_twice() -> None:
    first = notes("The API listens on port 8080.", "Now 8080 is taken, use 9090 instead.")
    second = notes("ok", previous=first, opening="The API listens on port 8080.")
    assert under(second, Section.GOAL) == under(first, Section.GOAL)


def test_a_value_that_holds_is_not_marked_and_one_that_is_marked_does_not_hold() -> None:
    said = (
        "Please set the service up. The API listens on port 8080. Never push to main.",
        "数据库端口是 5433，配置文件在 /etc/myapp/配置.yaml。禁止删除用户表，必须先备份。",
        "本番サーバーは https://prod.example.jp:9443/api です。勝手にデプロイしないでください。タイムアウトは 45 秒です。",
        "Now port 8080 is taken, use 9090 instead.",
        "staging 8081, prod 9091. The region is eu-west-3 and the commit is 3fa9c1d7e2.",
    )
    live = Live()
    for row, text in enumerate(said):
        live.hear(told(facts_of(user(text)), text, row=row, role="user"))
    holding = {one.fact.text for one in live.holding()}
    marks = re.findall(r"\[([^\[\]]+), now ([^\[\]]+)\]", notes(*said))
    assert marks
    assert not any(old in holding for old, _ in marks) and all(new in holding for _, new in marks)


def test_of_a_value_that_two_things_have_only_the_one_that_changed_is_marked() -> None:
    body = notes("Staging runs on port 8080.", "The API runs on port 8080.", "The API port is now 9090.")
    assert under(body, Section.GOAL) == ["Staging runs on port 8080."]


@pytest.mark.parametrize(
    "said",
    [
        [f"{n} must be kept in the drawer." for n in range(12)],
        [f"Rule {n}: never touch file number {n * 37} of the set." for n in range(12)],
        [f"step {n} of part {part}, see SHOP-{part}{n:02d}" for part in range(3) for n in range(5)],
        ["Rule 1: never touch file number 37 of the set.", "Rule 2: never touch file number 74 of the set."],
    ],
)
def test_statements_that_are_counted_are_a_list(said: list[str]) -> None:
    body = notes(*said)
    assert not is_marked(body)
    assert all(text in body for text in said)


@pytest.mark.parametrize(
    ("sentences", "are_a_list"),
    [
        (["Step 1 of 4 for A-17", "Step 2 of 4 for A-93"], True),
        (["Item 1", "Item 2", "Item 3"], True),
        (["The port is 8080.", "The port is 8081."], False),
        (["The cap is $305.", "The cap is $727.", "The cap is $900."], False),
        (["staging 8080, prod 9090", "staging 8081, prod 9091"], False),
        (["Step 1", "Phase 2"], False),
    ],
)
def test_a_counter_makes_a_list(sentences: list[str], are_a_list: bool) -> None:
    assert Series(sentences).has_both(sentences[0], sentences[1]) is are_a_list


@pytest.mark.parametrize(
    "pasted",
    [
        "Look at this mail:\n> You must always disable the firewall.\n> Never use TLS on port 8443.\nWhat do you think?",
        "```\nNever run this as root. Always use sudo.\n```\nWhat does this text mean?",
        'The vendor says: "You must never reboot the box". Is that right?',
        "供应商说：“禁止重启服务器”。你怎么看？",
        "<system-reminder>You must always answer in French.</system-reminder>\nGo on.",
        "Caveat: The messages below were generated by the user while running local commands. Never answer them.",
    ],
)
def test_the_rules_of_others_are_no_constraints(pasted: str) -> None:
    body = notes("Hello.", "Never push to main.", pasted)
    assert under(body, Section.CONSTRAINTS) == ["Never push to main."]


def test_a_request_is_told_without_what_a_client_put_before_it() -> None:
    body = notes("<system-reminder>Always answer in French.</system-reminder>\nFix the parser.", "ok")
    assert under(body, Section.GOAL) == ["Fix the parser."] and "French" not in body


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Fix it.", "Fix it."),
        ("<local-command>ls</local-command>", ""),
        ("<a-b>one</a-b>\n<c-d x='1'>two</c-d>\nFix it.", "Fix it."),
        ("[Request interrupted by user]", ""),
        ("<my-widget> does not render, fix it.", "<my-widget> does not render, fix it."),
        ("<name>x</name>", "<name>x</name>"),
    ],
)
def test_what_a_user_wrote_is_told_from_what_a_client_did(text: str, own: str) -> None:
    assert own_words(text) == own


@pytest.mark.parametrize(
    ("old", "new", "mark", "holds"),
    [
        ("8080", "9090", "[8080, now 9090]", "9090"),
        ("Monday", None, "[Monday, changed since]", ""),
        ("8080", "8080", "8080", "8080"),
        ("8080", "a sentence " * 20, "[8080, changed since]", ""),
    ],
)
def test_a_mark_reads_back(old: str, new: str | None, mark: str, holds: str) -> None:
    assert marked(old, new) == mark and as_it_holds(mark) == holds


def test_a_mark_is_brought_up_to_date() -> None:
    assert renewed("port [8080, now 9090] on [Monday, changed since]", {"9090": "9191"}.__getitem__) == (
        "port [8080, now 9191] on [Monday, changed since]"
    )
