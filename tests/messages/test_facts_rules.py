"""Which of the user's rules hold: hand-labelled stories, and what must hold for any rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.facts import FactKind, Told, current, facts_of, rules_in, told
from host.messages.facts.rule_shape import shape_of

LABELS = Path(__file__).parents[1] / "given" / "recall" / "rules_that_hold.jsonl"
STORIES: list[dict[str, Any]] = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def heard(turns: list[str]) -> list[Told]:
    """What a user says, each turn answered "ok"."""
    facts = [facts_of({"role": "user", "content": text}) for text in turns]
    return [one for index, text in enumerate(turns) for one in told(facts[index], text, row=2 * index + 1, role="user")]


def holding(turns: list[str]) -> set[str]:
    return {one.fact.text for one in current(heard(turns))}


def rules(turns: list[str]) -> list[str]:
    return [one.fact.text for one in current(heard(turns)) if one.fact.kind is FactKind.constraint]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: " | ".join(story["story"])[:60])
def test_what_a_person_says_holds_and_what_does_not(story: dict[str, Any]) -> None:
    found = holding(story["story"])
    assert [text for text in story["holds"] if text not in found] == [], story["why"]
    assert [text for text in story["gone"] if text in found] == [], story["why"]


def test_the_stories_are_of_both_kinds() -> None:
    told_apart = [story for story in STORIES if len(story["story"]) > 1]
    assert len([story for story in told_apart if story["gone"]]) >= 50
    assert len([story for story in told_apart if not story["gone"]]) >= 100


# fmt: off
BANS = [
    "Never {} {}.", "Do not {} {}.", "You must never {} {}.", "From now on never {} {}.", "Actually, never {} {}.",
    "Now please don't {} {}!",
]
VERBS = ["delete", "use", "connect to", "restart", "call", "read from", "write to", "push to"]
OBJECTS = [
    "/data/a.txt", "/data/b.txt", "port 4711", "port 4712", "10.0.0.1", "10.0.0.2", "fn_alpha", "fn_beta", "main", "release/2.1",
    "the web server", "the mail server", "version 1.2.3", "version 1.2.4", "row 17", "row 18", "`users`", "`orders`", "C", "C++",
    "db-1.example", "the vault", "Ana's desk",
]
bans = st.tuples(st.sampled_from(BANS), st.sampled_from(VERBS), st.sampled_from(OBJECTS))
OTHERS = [
    "Always use port 8080 for the web.", "The limit must be 5 MB.", "The gateway now listens on port 9443, not 8080.", "Never mind.",
    "You may read the log.", "Actually, always answer in German instead.", "The release is 2.0.1 now.", "Ignore the tests folder.",
    "Use pnpm, not npm.",
]
# fmt: on


@given(st.lists(bans, max_size=12), st.lists(st.sampled_from(OTHERS), max_size=4), st.randoms(use_true_random=False))
def test_bans_of_different_things_all_hold_whatever_else_is_said(said: list[tuple[str, str, str]], others: list[str], order: Any) -> None:
    wanted = {(verb, thing): form.format(verb, thing) for form, verb, thing in said}
    turns = [*wanted.values(), *others]
    order.shuffle(turns)
    assert set(wanted.values()) <= set(rules(turns))


@given(st.sampled_from(VERBS), st.lists(st.sampled_from(OBJECTS), min_size=2, max_size=2, unique=True), st.sampled_from(["or", "nor"]))
def test_a_ban_of_two_things_stays_where_one_of_them_is_permitted(verb: str, things: list[str], join: str) -> None:
    ban = f"Never {verb} {things[0]} {join} {things[1]}."
    assert rules([ban, f"You may {verb} {things[1]} now."]) == [ban]
    assert rules([ban, f"You may {verb} {things[0]} now."]) == [ban]


@given(bans)
def test_what_is_forbidden_stays_forbidden_where_it_need_not_be_done(said: tuple[str, str, str]) -> None:
    form, verb, thing = said
    turns = [form.format(verb, thing), f"No need to {verb} {thing} today, I did it.", f"You don't have to {verb} {thing}."]
    assert rules(turns) == turns[:1]


@given(st.lists(bans, min_size=1, max_size=6))
def test_of_one_ban_said_in_several_ways_the_newest_is_kept(said: list[tuple[str, str, str]]) -> None:
    _, verb, thing = said[0]
    turns = list(dict.fromkeys(form.format(verb, thing) for form, _, _ in said))
    assert rules(turns) == [turns[-1]]


@given(st.lists(st.sampled_from([turn for story in STORIES for turn in story["story"]]), max_size=12))
def test_a_rule_gives_way_only_to_what_was_said_after_it(turns: list[str]) -> None:
    last = {one.fact.text for one in heard(turns[-1:]) if one.fact.kind is FactKind.constraint}
    assert last <= set(rules(turns))


@given(st.text() | st.lists(st.sampled_from([turn for story in STORIES for turn in story["story"]]), max_size=3).map("".join))
def test_a_shape_is_one_of_any_text(text: str) -> None:
    shape = shape_of(text)
    assert len(shape.names) == len(shape.settings)
    assert len(shape.pieces) == len(shape.frame)


def test_a_sentence_that_permits_and_forbids_is_both() -> None:
    found = rules_in("You can edit src, but never touch tests.")
    assert [fact.kind for fact in found] == [FactKind.constraint, FactKind.release]


def test_ten_thousand_rules_are_each_held_against_few() -> None:
    turns = [f"Actually, never call fn_{number} in the build." for number in range(10_000)]
    assert len(rules(turns)) == len(turns)
