"""A whole list handed over: what is known adds nothing, an edit adds a version, what is new is kept."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.conversation.conversation import Conversation
from host.conversation.recognise import Telling, recognise
from host.messages.ledger import Entry, Ledger
from host.messages.types import Message
from host.messages.violations import violations
from host.store.memory import MemoryStore
from host.testing.histories import histories
from host.testing.messages import assistant, call, result, system, user
from host.transforms.handoff import handoff_text, merged_in_front
from tests.desk import Desk, long_session


def as_message(**keys: Any) -> Message:
    return cast(Message, keys)


TALK: list[Message] = [
    system("You are an agent. Today is 2026-11-29."),
    user("yes"),
    assistant("ok"),
    user("yes"),
    as_message(role="assistant", content="", reasoning_content="hm", tool_calls=[call("call_0", "look", {"a": 1, "b": 2})]),
    result("call_0", "a long output"),
    as_message(role="assistant", content=[{"type": "thinking", "thinking": "so", "signature": "s1"}, {"type": "text", "text": "done"}]),
    user("thanks"),
]


def changed(index: int, **keys: Any) -> list[Message]:
    return [cast(Message, {**message, **keys}) if at == index else message for at, message in enumerate(TALK)]


def without(index: int, key: str) -> list[Message]:
    return [cast(Message, {k: v for k, v in m.items() if k != key}) if at == index else m for at, m in enumerate(TALK)]


RETELLINGS: dict[str, list[Message]] = {
    "the very same": TALK,
    "the last ones alone": TALK[3:],
    "the first ones alone": TALK[:5],
    "a moved cache marker": changed(2, content=[{"type": "text", "text": "ok", "cache_control": {"type": "ephemeral"}}]),
    "a time of its own": changed(3, timestamp="2026-11-30T10:00:00Z"),
    "another order of keys": [cast(Message, dict(reversed(message.items()))) for message in TALK],
    "another spelling of the arguments": changed(4, tool_calls=[call("call_0", "look", '{ "b": 2, "a": 1 }')]),
    "no reasoning": without(4, "reasoning_content"),
    "no thinking part": changed(6, content=[{"type": "text", "text": "done"}]),
    "a signature of its own": changed(
        6, content=[{"type": "thinking", "thinking": "so", "signature": "s2"}, {"type": "text", "text": "done"}]
    ),
}
EDITS: dict[str, list[Message]] = {
    "a date in the system prompt": changed(0, content="You are an agent. Today is 2026-11-30."),
    "a pruned tool result": changed(5, content="[Old tool output cleared]"),
    "a redacted question": changed(3, content="[redacted]"),
    "a reply told anew at the end": [*TALK[:-1], user("thanks a lot")],
    "a pruned result in a list that goes on": [*changed(5, content="[cleared]"), assistant("welcome")],
    "a date, in a list without its beginning": [system("You are an agent. Today is 2026-12-01."), *TALK[4:]],
}


def desk_with(messages: list[Message]) -> tuple[Desk, Conversation]:
    desk = Desk(MemoryStore())
    talk = desk.open()
    assert talk.receive(messages).added == len(messages)
    return desk, talk


@pytest.mark.parametrize("told", RETELLINGS.values(), ids=RETELLINGS)
def test_what_says_nothing_new_adds_nothing_at_once_and_after_a_restart(told: list[Message]) -> None:
    desk, talk = desk_with(TALK)
    for conversation in (talk, talk, desk.open()):
        received = conversation.receive(told)
        assert (received.added, received.versions) == (0, 0)
    assert talk.archive.range() == (1, len(TALK))


@pytest.mark.parametrize("told", EDITS.values(), ids=EDITS)
def test_an_edit_adds_one_version_and_handed_over_again_nothing(told: list[Message]) -> None:
    desk, talk = desk_with(TALK)
    first = talk.receive(told)
    assert first.versions == 1
    assert first.added == max(0, len(told) - len(TALK))
    for conversation in (talk, desk.open()):
        again = conversation.receive(told)
        assert (again.added, again.versions) == (0, 0)
    assert talk.window()[-len(told) + 1 :] == told[1:]
    assert desk.open().window() == talk.window()
    replaced = [row for row in talk.archive.rows() if row.superseded]
    assert [row.message for row in replaced] == [TALK[replaced[0].position - 1]]


def test_a_user_who_takes_requests_back_sees_them_leave_the_window_and_nothing_leaves_the_archive() -> None:
    desk, talk = desk_with([user("q1"), assistant("a1"), user("q2"), assistant("a2"), user("q3"), assistant("a3")])
    received = talk.receive([user("q1"), assistant("a1"), user("something else")])
    assert (received.added, received.versions, received.rewound) == (1, 0, 4)
    for conversation in (talk, desk.open()):
        assert conversation.window() == [user("q1"), assistant("a1"), user("something else")]
    assert talk.archive.range() == (1, 7)
    assert talk.receive([user("q1"), assistant("a1"), user("something else")]).rows == (1, 2, 7)


def test_an_answer_told_anew_is_a_version_of_it() -> None:
    _, talk = desk_with([user("q1"), assistant("a1"), user("q2"), assistant("a2")])
    received = talk.receive([user("q1"), assistant("a1"), user("q2"), assistant("quite different")])
    assert (received.added, received.versions, received.rewound) == (0, 1, 0)
    assert talk.window()[-1] == assistant("quite different")


def test_a_wholly_different_list_is_new() -> None:
    _, talk = desk_with([user("What is the weather?"), assistant("Sunny.")])
    received = talk.receive([user("Write me a parser, please"), assistant("def parse(): ...")])
    assert (received.added, received.versions, received.rewound) == (2, 0, 0)


def test_a_merged_message_is_one_message_with_one_row() -> None:
    _, talk = desk_with([user("q1"), assistant("a1")])
    received = talk.receive([user("q1"), assistant("a1"), merged_in_front(handoff_text("notes"), user("q2")), assistant("a2")])
    assert len(received.rows) == 4


def test_the_users_edit_of_what_a_summary_stands_for_follows_the_summary() -> None:
    desk, talk = desk_with(long_session(60))
    talk.compact()
    covered = next(
        row for entry in talk.view.ledger for span in entry.covers for row in span if long_session(60)[row - 1]["role"] == "user"
    )
    edited = [user("use port 9443 instead") if i == covered - 1 else m for i, m in enumerate(long_session(60))]
    assert talk.receive(edited).versions == 1
    for conversation in (talk, desk.open()):
        assert user("use port 9443 instead") in conversation.window()
        assert conversation.window()[-1] == edited[-1]
        assert violations(conversation.window()) == []


def test_an_edit_takes_a_waiting_call_away() -> None:
    _, talk = desk_with([user("go"), assistant(None, [call("a", "look")])])
    talk.receive([user("go"), assistant("no need to look")])
    talk.compact()


def test_real_repeats_are_all_kept() -> None:
    _, talk = desk_with([user("yes"), assistant("ok")])
    received = talk.receive([user("yes"), assistant("ok"), user("yes"), assistant("ok")])
    assert received.rows == (1, 2, 3, 4)
    assert (received.added, received.versions) == (2, 0)


def test_a_call_id_used_again_is_another_call_c100() -> None:
    turn = [user("a"), assistant(None, [call("call_0", "run")]), result("call_0", "first")]
    again = [user("b"), assistant(None, [call("call_0", "run")]), result("call_0", "second")]
    _, talk = desk_with([*turn, *again])
    assert [row.message for row in talk.archive.rows() if row.role == "tool"] == [turn[2], again[2]]
    assert [message for message in talk.window() if message["role"] == "tool"] == [turn[2], again[2]]


def test_the_compacted_window_handed_back_adds_nothing_not_even_after_the_next_compaction() -> None:
    desk = Desk(MemoryStore())
    talk = desk.open()
    talk.receive(long_session(60))
    talk.compact()
    old = talk.window()
    talk.receive([*old, user("go on"), assistant("yes")])
    assert talk.archive.range()[1] == 63
    talk.compact()
    for conversation in (talk, desk.open()):
        for told in (old, conversation.window(), long_session(60)):
            received = conversation.receive(told)
            assert (received.added, received.versions) == (0, 0)


@given(histories(), st.data())
def test_any_cut_of_a_history_is_known(history: list[Message], data: st.DataObject) -> None:
    known = Ledger(Entry(message, row) for row, message in enumerate(history, 1))
    start = data.draw(st.integers(0, len(history)))
    end = data.draw(st.integers(start, len(history)))
    told = [cast(Message, dict(message)) for message in history[start:end]]
    recognised = recognise(known, told, lambda message: False)
    assert {one.telling for one in recognised.told} <= {Telling.KNOWN}
    assert recognised.rewound == ()


@given(histories(), st.data())
def test_handing_over_a_longer_list_adds_its_end_and_a_restart_changes_nothing(history: list[Message], data: st.DataObject) -> None:
    desk = Desk(MemoryStore())
    talk = desk.open()
    end = data.draw(st.integers(0, len(history)))
    talk.receive(history[:end])
    assert talk.receive(history).added == len(history) - end
    assert desk.open().receive(history).added == 0
    assert [row.message for row in talk.archive.rows()] == history


@given(histories(), st.data())
def test_one_edited_message_is_one_version(history: list[Message], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, max(0, len(history) - 1)))
    if not history or history[at]["role"] == "tool":
        return
    desk = Desk(MemoryStore())
    talk = desk.open()
    talk.receive(history)
    edited = [cast(Message, {**m, "content": "told in wholly other words"}) if i == at else m for i, m in enumerate(history)]
    received = talk.receive(edited)
    if len(history) > 1:  # alone and in wholly other words it may be another conversation
        assert (received.added, received.versions) == (0, int(edited[at] != history[at]))
    assert talk.receive(edited) == talk.receive(edited)
    assert talk.archive.range()[1] == len(history) + int(edited[at] != history[at])


def test_a_message_that_cannot_be_kept_is_quarantined_and_the_rest_goes_on() -> None:
    desk = Desk(MemoryStore())
    talk = desk.open()
    odd = as_message(role="user", content={1, 2})
    received = talk.receive([user("before"), odd, assistant("after")])
    assert talk.window() == [user("before"), assistant("after")]
    assert received.added == 2
    assert any("quarantine" in warning for warning in desk.warnings)
