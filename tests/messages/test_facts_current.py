"""What still holds of what was said: examples of what replaces, of what does not, and what must hold for any history."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.facts import FactKind, Told, current, facts_of, told
from host.messages.searchable import searchable

Turn = tuple[str, str]


def heard(*turns: Turn) -> list[Told]:
    messages: list[Any] = [{"role": role, "content": content} for role, content in turns]
    return [
        one for row, message in enumerate(messages) for one in told(facts_of(message), searchable(message), row=row, role=message["role"])
    ]


def values(*turns: Turn) -> set[str]:
    return {one.fact.text for one in current(heard(*turns)) if one.fact.kind is not FactKind.constraint}


def rules(*turns: Turn) -> list[str]:
    return [one.fact.text for one in current(heard(*turns)) if one.fact.kind is FactKind.constraint]


# fmt: off
REPLACED: list[tuple[str, list[Turn], str, str]] = [
    ("called old", [("user", "The port is 8080."), ("user", "The port is 9443, not 8080.")], "8080", "9443"),
    ("instead of", [("user", "Use port 8080."), ("user", "Port 9443 instead of 8080, please.")], "8080", "9443"),
    ("from, to", [("user", "Raise the pause from 200 ms to 300 ms.")], "200 ms", "300 ms"),
    ("in one sentence", [("user", "5000 is in the file, I'd like 20000 rows.")], "5000", "20000 rows"),
    ("of the same subject", [("user", "The hotel may cost 120 EUR."), ("user", "Now the hotel may cost 150 EUR.")],
     "120 EUR", "150 EUR"),
    ("without a subject", [("user", "Give it 10 seconds."), ("assistant", "Done."), ("user", "Make it 25 seconds.")],
     "10 seconds", "25 seconds"),
    ("retired before", [("user", "The replica is db-2.a.internal:5432."),
     ("user", "Sorry, that one was retired. It is db-5.a.internal:6432.")],
     "db-2.a.internal:5432", "db-5.a.internal:6432"),
    ("under a bound", [("user", "No dinner before 19:00."), ("user", "Dinner must not be before 20:00.")], "19:00", "20:00"),
    ("measured again", [("tool", "Execution Time: 6120.913 ms"), ("tool", "Execution Time: 0.090 ms")], "6120.913 ms", "0.090 ms"),
    ("replaced by a record", [("tool", '{"booking": "LH-88203"}'), ("tool", '{"booking": "LH-88219", "replaces": "LH-88203"}')],
     "LH-88203", "LH-88219"),
    ("改成", [("user", "数据库用 PostgreSQL 14。"), ("user", "数据库改成 PostgreSQL 16。")], "PostgreSQL 14", "PostgreSQL 16"),
    ("推迟到", [("user", "上线时间定在 4月20日 22:00。"), ("user", "时间改了，推迟到 4月22日 23:30。")], "4月20日 22:00", "4月22日 23:30"),
    ("in two languages", [("tool", 'timeout = "5s"'), ("user", "超时现在是 3 秒。")], "5s", "3 秒"),
    ("やはり", [("user", "間隔を 30秒 にしてください。"), ("user", "すみません、やはり 60秒 でお願いします。")], "30秒", "60秒"),
    ("から", [("user", "開始時刻を 02:00 から 03:30 に変えてください。")], "02:00", "03:30"),
]

BOTH_HOLD: list[tuple[str, list[Turn], set[str]]] = [
    ("side by side", [("user", "The database is on port 5433, Redis on port 6380.")], {"5433", "6380"}),
    ("of another, unchanged", [("user", "My train is RX 412."),
     ("user", "My train is now RX 418. My friend's train, RX 214, is unchanged.")],
     {"RX 418", "RX 214"}),
    ("one keeps its slot", [("user", "Start now at 03:30 UTC, the export at 01:00 UTC keeps its slot.")], {"03:30 UTC", "01:00 UTC"}),
    ("of other units", [("user", "The limit is 300 seconds."), ("user", "The limit is now 15000 cents.")],
     {"300 seconds", "15000 cents"}),
    ("no word of change", [("user", "Batches of 250, please."), ("user", "The pool is 4000 wide.")], {"250", "4000"}),
    ("ids of one list", [("tool", '{"id": "h-5521"}'), ("tool", '{"id": "h-5530"}')], {"h-5521", "h-5530"}),
    ("commits", [("assistant", "Committed as d81f3a6."), ("assistant", "Committed as e04c9b2 now.")], {"d81f3a6", "e04c9b2"}),
]

TAKEN_BACK: list[tuple[str, list[Turn]]] = [
    ("forget", [("user", "Use the read-only role, always."), ("user", "Forget the read-only rule.")]),
    ("permission", [("user", "Do not restart unbound without asking me."), ("user", "You may restart unbound on your own.")]),
    ("取消", [("user", "不要动生产库。"), ("user", "生产库可以动了。")]),
    ("構いません", [("user", "再実行しないでください。"), ("user", "では再実行して構いません。")]),
]
# fmt: on


@pytest.mark.parametrize(("history", "old", "new"), [case[1:] for case in REPLACED], ids=[case[0] for case in REPLACED])
def test_newer_value_replaces(history: list[Turn], old: str, new: str) -> None:
    assert old in {one.fact.text for one in heard(*history)}
    assert old not in values(*history)
    assert new in values(*history)


@pytest.mark.parametrize(("history", "both"), [case[1:] for case in BOTH_HOLD], ids=[case[0] for case in BOTH_HOLD])
def test_look_alikes_both_hold(history: list[Turn], both: set[str]) -> None:
    assert both <= values(*history)


@pytest.mark.parametrize("history", [case[1] for case in TAKEN_BACK], ids=[case[0] for case in TAKEN_BACK])
def test_a_rule_taken_back_holds_no_longer(history: list[Turn]) -> None:
    assert len(rules(*history[:1])) == 1
    assert rules(*history) == []


def test_taking_back_one_rule_leaves_the_others() -> None:
    assert rules(("user", "Never push. Use the read-only role, always."), ("user", "Forget the read-only rule.")) == ["Never push."]


def test_a_rule_with_a_replaced_bound_goes_with_it() -> None:
    turns = [("user", "Don't book dinner before 19:00."), ("user", "Dinner must not be before 20:00.")]
    assert rules(*turns) == ["Dinner must not be before 20:00."]


def test_an_echo_does_not_bring_a_replaced_value_back_but_the_user_does() -> None:
    history = [("user", "Use port 8080."), ("user", "Port 9443 instead of 8080, please."), ("tool", "was on port 8080")]
    assert values(*history) == {"9443"}
    assert values(*history, ("user", "Back to port 8080, sorry.")) == {"8080"}


def test_of_equal_values_the_users_mention_stands_for_all() -> None:
    mentions = [one for one in current(heard(("user", "Port 8443."), ("tool", "port 8443"), ("assistant", "On port 8443."))) if one]
    assert [(one.row, one.fact.text) for one in mentions] == [(0, "8443")]


sentences = st.sampled_from(
    [turn[1] for history in [*(case[1] for case in REPLACED), *(case[1] for case in BOTH_HOLD)] for turn in history]
)
histories = st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), sentences), max_size=8)


@given(histories)
def test_what_holds_was_said_each_text_once_and_hearing_it_again_is_calm(history: list[Turn]) -> None:
    facts = heard(*history)
    holding = current(facts)
    assert set(holding) <= set(facts)
    assert len({(one.fact.kind in (FactKind.constraint,), one.fact.text) for one in holding}) == len(holding)
    assert holding == current(facts)
    assert all(one.fact.kind is not FactKind.release for one in holding)
