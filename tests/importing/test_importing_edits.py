"""Message files that somebody edits: what becomes a new version, what a new message, what another conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.importing.numbered import chains_of
from host.messages.reading import text_of
from tests.importing.conftest import Desk, encoded

JSON = dict[str, Any]


def user(text: str) -> JSON:
    return {"role": "user", "content": text}


def assistant(text: str) -> JSON:
    return {"role": "assistant", "content": text}


SYSTEM: JSON = {"role": "system", "content": "Be brief."}
TALK = [user("one"), assistant("two"), user("three"), assistant("four"), user("five")]


def conversations(desk: Desk) -> list[list[str]]:
    """What every conversation holds now."""
    names = [session.conversation for session in reversed(desk.store.sessions.listed())]
    return [[text_of(row.message) for row in desk.store.archive(name).current() if row.message] for name in names]


@pytest.mark.parametrize(
    ("after", "holds", "counted"),
    [
        ([user("one"), assistant("TWO"), *TALK[2:]], ["one", "TWO", "three", "four", "five"], (0, 1)),
        ([user("ONE"), *TALK[1:]], ["ONE", "two", "three", "four", "five"], (0, 1)),
        ([*TALK[:4], user("FIVE")], ["one", "two", "three", "four", "FIVE"], (0, 1)),
        ([user("one"), assistant("TWO"), user("THREE"), *TALK[3:]], ["one", "TWO", "THREE", "four", "five"], (0, 2)),
        ([*TALK[:3], user("3b"), *TALK[3:]], ["one", "two", "three", "four", "five", "3b"], (1, 0)),
        (
            [user("one"), assistant("TWO"), user("three"), user("3b"), *TALK[3:], assistant("six")],
            ["one", "TWO", "three", "four", "five", "3b", "six"],
            (2, 1),
        ),
        ([user("one"), user("TWO"), *TALK[2:]], ["one", "two", "three", "four", "five", "TWO"], (1, 0)),
        (TALK[:2], ["one", "two", "three", "four", "five"], (0, 0)),
        (TALK[2:], ["one", "two", "three", "four", "five"], (0, 0)),
    ],
    ids=["in the middle", "first", "last", "two", "inserted", "all at once", "another role", "cut", "cut at the top"],
)
def test_an_edit_is_a_version_in_its_place_and_an_insertion_comes_at_the_end(
    desk: Desk, tmp_path: Path, after: list[JSON], holds: list[str], counted: tuple[int, int]
) -> None:
    path = desk.write(tmp_path / "talk.jsonl", TALK)
    desk.run(path)
    desk.write(path, after, age=-60)
    done = desk.run(path)
    assert ((done.messages, done.versions), conversations(desk)) == (counted, [holds])
    path.write_bytes(path.read_bytes() + b"\n")
    again = desk.run(path)
    assert (again.read, again.messages, again.versions) == (1, 0, 0)


def test_a_message_that_is_edited_twice_has_three_versions_and_can_go_back(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "talk.jsonl", TALK)
    desk.run(path)
    for age, text in ((-60, "TWO"), (-120, "zwei")):
        desk.write(path, [user("one"), assistant(text), *TALK[2:]], age=age)
        assert desk.run(path).versions == 1
    assert conversations(desk) == [["one", "zwei", "three", "four", "five"]]


def test_a_message_of_a_session_with_ids_is_no_version_of_another(desk: Desk) -> None:
    from tests.importing.conftest import line, turns

    desk.claude("talk", turns("talk", 3))
    desk.run()
    rows = turns("talk", 3)
    desk.claude("talk", [*rows[:4], line("talk", "user", "something else", 60), line("talk", "assistant", "and an answer", 61)], age=-60)
    assert (desk.run().versions, len(desk.texts("talk"))) == (0, 8)


TALKS = [[SYSTEM, user(f"ask {name}"), assistant(f"answer {name}")] for name in ("ann", "bob", "cem")]


def dialogues(*talks: list[JSON]) -> bytes:
    return encoded({"messages": talk} for talk in talks)


@pytest.mark.parametrize(
    ("after", "said", "counted"),
    [
        ([[SYSTEM, user("ask dan")], *TALKS], [*TALKS, [SYSTEM, user("ask dan")]], (1, 2)),
        ([*TALKS[::-1]], TALKS, (0, 0)),
        (TALKS[1:], TALKS, (0, 0)),
        ([[*TALKS[1], user("thanks")], TALKS[0]], [TALKS[0], [*TALKS[1], user("thanks")], TALKS[2]], (0, 1)),
        ([*TALKS, [SYSTEM, user("ask dan")]], [*TALKS, [SYSTEM, user("ask dan")]], (1, 2)),
    ],
    ids=["a new first line", "turned round", "the first taken out", "grown and moved", "appended"],
)
def test_dialogues_without_an_id_are_told_apart_by_how_they_begin(
    desk: Desk, tmp_path: Path, after: list[list[JSON]], said: list[list[JSON]], counted: tuple[int, int]
) -> None:
    path = desk.write(tmp_path / "talks.jsonl", dialogues(*TALKS))
    desk.run(path)
    desk.write(path, dialogues(*after), age=-60)
    done = desk.run(path)
    assert (done.conversations, done.messages) == counted
    assert sorted(conversations(desk)) == sorted([message["content"] for message in talk] for talk in said)
    desk.write(path, dialogues([user("first of all")], *after), age=-120)
    assert desk.run(path).conversations == 1


def test_a_second_dialogue_without_an_id_leaves_the_first_as_it_was(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "talks.jsonl", dialogues(TALKS[0]))
    desk.run(path)
    desk.write(path, dialogues(*TALKS), age=-60)
    done = desk.run(path)
    assert (done.conversations, done.messages) == (2, 6)


def test_a_message_file_with_another_talk_in_it_is_another_conversation(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "talk.json", json.dumps(TALK).encode())
    desk.run(path)
    path.write_text(json.dumps([user("another"), assistant("talk")]))
    assert desk.run(path).conversations == 1
    assert sorted(conversations(desk)) == [["another", "talk"], ["one", "two", "three", "four", "five"]]


MESSAGES = st.lists(st.sampled_from([SYSTEM, user("a"), user("b"), assistant("c")]), max_size=4)


@given(talks=st.lists(MESSAGES, max_size=5), archived=st.lists(MESSAGES, max_size=5))
def test_every_numbered_conversation_gets_a_chain_of_its_own(talks: list[list[Any]], archived: list[list[Any]]) -> None:
    titles = [str(number) for number in range(1, len(talks) + 1)]
    chains = chains_of(titles, talks, {str(number): talk for number, talk in enumerate(archived, start=1)})
    assert len(set(chains)) == len(talks) and all(chain.isdecimal() for chain in chains)
