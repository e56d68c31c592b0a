"""The last exchanges of a conversation, parted from what stands before them and put back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from host.messages.types import Message
from host.testing.histories import histories
from host.testing.messages import assistant, call, chat, result, system, user
from host.transforms.bridges import bridge, is_bridge
from host.transforms.exchanges import is_request, rejoin, split_exchanges
from host.transforms.handoff import handoff_text


@given(histories(), st.integers(1, 5))
def test_parting_loses_nothing_and_joining_without_merging_changes_nothing(history: list[Message], keep: int) -> None:
    head, tail = split_exchanges(history, keep, is_request)
    assert all(new is old for new, old in zip([*head, *tail], history, strict=True))
    joined = rejoin(head, tail, merging=False)
    assert joined[: len(head)] == head and joined[len(joined) - len(tail) :] == tail
    assert len(joined) - len(history) <= 1


def test_a_handoff_in_the_users_name_is_no_exchange() -> None:
    messages = [*chat(2), user(handoff_text("notes")), *chat(4)]
    assert [len(part) for part in split_exchanges(messages, 2, is_request)] == [3, 4]
    assert [len(part) for part in split_exchanges(messages, 3, is_request)] == [7, 0]


def test_an_exchange_has_its_tool_calls_in_it() -> None:
    messages = [system("S"), *chat(2), user("go"), assistant(None, [call("a", "look")]), result("a", "1"), assistant("done")]
    assert split_exchanges(messages, 1, is_request)[1] == messages[3:]


def test_messages_with_calls_are_never_merged() -> None:
    head, tail = [user("a"), assistant("b")], [assistant(None, [call("a", "look")]), result("a", "1")]
    assert rejoin(head, tail) == [*head, user(""), *tail]
    assert rejoin([], tail) == tail and rejoin(head, []) == head


def test_the_turn_between_is_whatever_is_asked_for() -> None:
    head, tail = [user("a")], [user("b")]
    assert rejoin(head, tail, merging=False) == [*head, assistant(""), *tail]
    joined = rejoin(head, tail, merging=False, turn=bridge)
    assert [is_bridge(message) for message in joined] == [False, True, False] and joined[1]["role"] == "assistant"


def test_nothing_is_kept_where_nothing_is_to_be() -> None:
    assert split_exchanges(chat(4), 0, is_request) == (chat(4), []) == split_exchanges(chat(4), 3, lambda message: False)
