"""Which sentences of a user a later one says again with another value, names and days among them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.facts.statements import Restatement, restated, restatements

# fmt: off
TOLD: list[tuple[list[str], list[int]]] = [
    (["The on-call owner this week is Marta.", "On-call this week belongs to Jonas."], [0]),
    (["Marta is on call this week.", "Jonas is on call this week."], [0]),
    (["We are in phase 3 of 6.", "The migration is at phase 2 of 5."], [0]),
    (["The weekly report goes out on Monday.", "Send it on Tuesday."], [0]),
    (["The port is 8080.", "The port is 9090."], [0]),
    (["The port is 8080.", "Use 9090 instead."], [0]),
    (["Retry three times.", "Make that five."], [0]),
    (["We use Postgres for the ledger.", "We moved the ledger to CockroachDB."], [0]),
    (["The venue is Kranhuis.", "The venue is the Amalia."], [0]),
    (["The theme is dark.", "The theme should be light."], [0]),
    (["The deploy region is eu-central-1.", "Deploy to eu-west-1 from now on, that region is closer."], [0]),
    (["Please answer in German.", "Answer in French from now on."], [0]),
    (["The port is 8080.", "The port is 9090.", "Thanks.", "The port is 7070."], [0, 1]),
    (["这周值班的是小李。", "这周值班改成小王。"], [0]),
    (["周报周一发。", "周报改到周二发。"], [0]),
    (["当番は田中さんです。", "当番は佐藤さんに変更します。"], [0]),
    (["会議は月曜です。", "会議は火曜に変更です。"], [0]),
    (["The weekly report goes out on Monday.", "The sprint review is on Tuesday."], []),
    (["The staging port is 8080.", "The production port is 9090."], []),
    (["Staging 8080.", "prod 9090."], []),
    (["The port is 8080.", "The admin port is 9090."], []),
    (["Ana is vegan.", "Bob is vegan."], []),
    (["The deploy region is eu-central-1.", "The backup region is us-east-1."], []),
    (["The deadline is Friday.", "Could the deadline be Monday?"], []),
    (["The deadline is Friday.", "The deadline was Monday originally."], []),
    (["Ana reviews the API.", "Bob reviews the docs."], []),
    (["The reviewer is Ana.", "Another reviewer is Bob."], []),
    (["The port is 8080.", "The port is 8080."], []),
    (["Set the gain of mic 1 to 30 dB.", "Set the gain of mic 2 to 36 dB."], []),
    (["Thanks a lot!", "", "ok"], []),
]
# fmt: on


@pytest.mark.parametrize(("statements", "stale"), TOLD, ids=[" | ".join(case[0])[:60] for case in TOLD])
def test_what_a_later_statement_gives_otherwise_is_stale(statements: list[str], stale: list[int]) -> None:
    assert restated(statements) == stale


def test_a_sentence_that_says_more_is_kept_and_tells_which_value_of_it_went() -> None:
    said = ["The port is 8080, the owner is Marta.", "The port is 9090."]
    assert restated(said) == []
    assert restatements(said) == [Restatement(old=0, new=1, value="8080")]


@given(st.lists(st.sampled_from([text for case in TOLD for text in case[0]]) | st.text(), max_size=12))
def test_the_last_statement_is_never_stale(statements: list[str]) -> None:
    stale = restated(statements)
    assert stale == sorted(set(stale))
    assert all(0 <= index < len(statements) - 1 for index in stale)
    assert all(one.old < one.new for one in restatements(statements))


def test_two_thousand_statements_of_one_word_are_each_held_against_few() -> None:
    statements = [f"The quota of team{number} is {number + 5} GB." for number in range(2_000)]
    assert restated(statements) == []
