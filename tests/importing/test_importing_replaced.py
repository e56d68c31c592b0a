"""A session file under its own name that another session was written over: a conversation of its own, that nobody else's project sees."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from host.messages.reading import text_of
from host.store.care import Forget
from host.store.query import Query
from tests.importing.conftest import NOON, PROJECT, Desk, Record, append, encoded, line, rollout, session_id, turns

OTHER = "/home/ann/other"
AMPLE = 60.0
LATER = NOON + timedelta(days=1)
Bring = Callable[[Desk], object]
BRINGERS: dict[str, Bring] = {
    "import": lambda desk: desk.run(),
    "the server of its folder": lambda desk: desk.importer.catch_up((PROJECT,), AMPLE),
    "a server of all": lambda desk: desk.importer.catch_up((), AMPLE),
}


def talks(desk: Desk) -> dict[str, list[str]]:
    """What every conversation of the archive holds, by its id."""
    return {session.id: said_in(desk, session.conversation) for session in desk.store.sessions.listed()}


def said_in(desk: Desk, conversation: str) -> list[str]:
    return [text_of(row.message) for row in desk.store.archive(conversation).current() if row.message is not None]


def texts(rows: list[Record]) -> list[str]:
    """What the lines of a session say."""
    contents = (row["message"]["content"] for row in rows)
    return [content if isinstance(content, str) else content[0]["text"] for content in contents]


def hits(desk: Desk, directory: str, words: str) -> int:
    """How many messages a search in one project finds."""
    desk.store.search.catch_up()
    return len(desk.store.search.find(Query(words, directories=(directory,))).hits)


@pytest.mark.parametrize("bring", BRINGERS)
@pytest.mark.parametrize("cwd", [PROJECT, OTHER])
def test_another_session_in_a_file_is_another_conversation_that_grows_by_itself(desk: Desk, cwd: str, bring: str) -> None:
    first, second = turns("first", 2), turns("second", 3, cwd=cwd, begin=LATER)
    path = desk.claude("first", first, age=90)
    BRINGERS[bring](desk)
    desk.claude("first", second, age=60)
    BRINGERS[bring](desk)
    found = talks(desk)
    (other,) = found.keys() - {session_id("first")}
    assert other.startswith(f"{session_id('first')}-")
    assert found == {session_id("first"): texts(first), other: texts(second)}
    more = turns("second", 1, first=4, cwd=cwd, begin=LATER)
    append(path, encoded(more))
    BRINGERS[bring](desk)
    assert talks(desk) == {session_id("first"): texts(first), other: texts([*second, *more])}
    assert (hits(desk, OTHER, "second") > 0, hits(desk, OTHER, "first")) == (cwd == OTHER, 0)
    assert hits(desk, PROJECT, "second") == (0 if cwd == OTHER else 8)
    assert desk.store.admin.verify().is_clean


def test_a_session_that_comes_back_to_its_file_goes_on_in_its_conversation(desk: Desk) -> None:
    for age, name, count, begin in ((90, "first", 2, NOON), (60, "second", 2, LATER), (30, "first", 3, NOON), (0, "second", 3, LATER)):
        desk.claude("first", turns(name, count, begin=begin), age=age)
        desk.run()
    assert sorted(talks(desk).values()) == [texts(turns("first", 3)), texts(turns("second", 3))]


def test_a_third_session_is_a_third_conversation(desk: Desk) -> None:
    for age, name in ((60, "first"), (30, "second"), (0, "third")):
        desk.claude("first", turns(name, 2), age=age)
        desk.run()
    assert sorted(talks(desk).values()) == [texts(turns(name, 2)) for name in ("first", "second", "third")]


def test_a_copy_of_what_took_the_place_of_a_session_adds_nothing(desk: Desk) -> None:
    for age, name in ((60, "first"), (30, "second")):
        desk.claude("first", turns(name, 2), age=age)
        desk.run()
    desk.claude("first", turns("second", 2), folder="-backup")
    assert (desk.run().messages, len(talks(desk))) == (0, 2)


SAME: dict[str, Callable[[list[Record]], list[Record]]] = {
    "cut": lambda rows: rows[:1],
    "without its beginning": lambda rows: rows[2:],
    "without its beginning, and grown": lambda rows: [*rows[2:], *turns("first", 1, first=4)],
}


@pytest.mark.parametrize("how", SAME)
def test_a_file_in_which_one_message_is_recognised_is_the_session_that_it_was(desk: Desk, how: str) -> None:
    desk.claude("first", turns("first", 3), age=60)
    desk.run()
    desk.claude("first", SAME[how](turns("first", 3)))
    assert desk.run().conversations == 0
    assert list(talks(desk)) == [session_id("first")]


def test_where_all_was_erased_a_file_is_the_session_that_it_was(desk: Desk) -> None:
    desk.claude("first", turns("first", 2), age=60)
    desk.run()
    desk.store.admin.forget(Forget(text="of first"), apply=True)
    desk.claude("first", b"\n" + encoded(turns("first", 2)))
    assert (desk.run().messages, talks(desk)) == (0, {session_id("first"): []})


def test_a_session_whose_only_message_was_edited_in_its_file_is_the_session_that_it_was(desk: Desk) -> None:
    for age, said in ((60, "my password is tulip"), (30, "my password is gone")):
        desk.claude("first", [line("first", "user", said, 2)], age=age)
        assert desk.run().conversations == (age == 60)
    assert talks(desk) == {session_id("first"): ["my password is gone"]}


def test_a_file_that_was_cut_down_to_what_was_erased_does_not_bring_it_back(desk: Desk) -> None:
    desk.claude("first", turns("first", 2), age=60)
    desk.run()
    desk.store.admin.forget(Forget(conversation=session_id("first"), position=2), apply=True)
    desk.claude("first", turns("first", 2)[1:2], age=30)
    done = desk.run()
    assert (done.conversations, done.messages, len(done.erased)) == (0, 0, 1)


UNSAID: dict[str, bytes] = {
    "nothing": b"",
    "a title": encoded([{"type": "ai-title", "aiTitle": "A title", "sessionId": session_id("second")}]),
    "a snapshot": encoded([{"type": "file-history-snapshot", "messageId": "1"}]),
}


@pytest.mark.parametrize("bring", BRINGERS)
@pytest.mark.parametrize("what", UNSAID)
def test_before_the_first_message_of_another_session_nothing_begins_and_nothing_of_it_is_mixed(desk: Desk, what: str, bring: str) -> None:
    desk.claude("first", turns("first", 2), age=60)
    desk.run()
    path = desk.claude("first", UNSAID[what], age=30)
    BRINGERS[bring](desk)
    assert talks(desk) == {session_id("first"): texts(turns("first", 2))}
    for row in turns("second", 2):
        append(path, encoded([row]))
        BRINGERS[bring](desk)
    assert sorted(talks(desk).values()) == [texts(turns(name, 2)) for name in ("first", "second")]


def test_before_the_first_message_of_another_rollout_nothing_begins(desk: Desk) -> None:
    path = desk.codex("first", rollout("first", 2), age=60)
    desk.run()
    desk.codex("first", rollout("second", 0), age=30)
    assert (desk.run().conversations, len(talks(desk))) == (0, 1)
    append(path, encoded(rollout("second", 1)[1:]))
    assert (desk.run().conversations, len(desk.texts("second"))) == (1, 2)


def agent(text: str, cwd: str) -> list[Record]:
    """The side chain of one prompt."""
    return [line(text, "user", text, 2, isSidechain=True, agentId="a1b2c3d", cwd=cwd, sessionId=session_id("talk"))]


@pytest.mark.parametrize("cwd", [PROJECT, OTHER])
def test_another_side_chain_in_an_agents_file_is_another_conversation(desk: Desk, cwd: str) -> None:
    path = desk.user_home / ".claude" / "projects" / "-home-ann-shop" / "agent-a1b2c3d.jsonl"
    for age, text, directory in ((60, "look at the cart", PROJECT), (0, "count the boats", cwd)):
        desk.write(path, agent(text, directory), age=age)
        desk.run()
    assert sorted(talks(desk).values()) == [["count the boats"], ["look at the cart"]]
    assert hits(desk, PROJECT, "boats") == (cwd == PROJECT)


@pytest.mark.parametrize("cwd", [PROJECT, OTHER])
def test_another_rollout_under_the_id_of_one_is_another_conversation(desk: Desk, cwd: str) -> None:
    def renamed(rows: list[Record]) -> list[Record]:
        rows[0]["payload"]["id"] = session_id("first")
        return rows

    desk.codex("first", rollout("first", 2), age=60)
    desk.run()
    desk.codex("first", renamed(rollout("second", 3, cwd=cwd)))
    desk.run()
    assert sorted(len(said) for said in talks(desk).values()) == [4, 6]
    assert hits(desk, PROJECT, "second") == (0 if cwd == OTHER else 6)


@pytest.mark.parametrize("bring", BRINGERS)
@pytest.mark.parametrize("cwd", [PROJECT, OTHER])
def test_a_greeting_that_both_sessions_begin_with_does_not_make_them_one(desk: Desk, cwd: str, bring: str) -> None:
    greeted = {
        name: [line(name, "user", "hello", 2, cwd=where, begin=begin), *turns(name, 2, first=2, cwd=where, begin=begin)]
        for name, where, begin in (("first", PROJECT, NOON), ("second", cwd, LATER))
    }
    desk.claude("first", greeted["first"], age=60)
    BRINGERS[bring](desk)
    path = desk.claude("first", b"", age=30)
    for row in greeted["second"]:
        append(path, encoded([row]))
        BRINGERS[bring](desk)
    assert sorted(talks(desk).values()) == [texts(rows) for rows in greeted.values()]
    assert hits(desk, PROJECT, "second") == (0 if cwd == OTHER else 4)


def timeless(rows: list[Record]) -> list[Record]:
    return [{key: value for key, value in row.items() if key != "timestamp"} for row in rows]


def test_a_session_without_times_is_known_by_its_keys_and_by_most_of_what_it_says(desk: Desk) -> None:
    for age, name, count in ((90, "first", 3), (80, "first", 1), (60, "second", 2), (30, "first", 4)):
        desk.claude("first", b"\n" * age + encoded(timeless(turns(name, count))), age=age)
        desk.run()
    assert sorted(talks(desk).values()) == [texts(turns("first", 4)), texts(turns("second", 2))]
