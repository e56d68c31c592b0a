"""The last exchanges of a conversation, parted from what stands before them and put back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from host.testing.histories import histories
from host.testing.messages import assistant, call, chat, result, system, user
from host.transforms.exchanges import rejoin, split_exchanges
from host.transforms.handoff import handoff_text


@given(histories(), st.integers(1, 5))
def test_parting_loses_nothing_and_joining_without_merging_changes_nothing(history: list[object], keep: int) -> None:
    head, tail = split_exchanges(history, keep)  # type: ignore[arg-type]
    assert all(new is old for new, old in zip([*head, *tail], history, strict=True))
    joined = rejoin(head, tail, merging=False)
    assert joined[: len(head)] == head and joined[len(joined) - len(tail) :] == tail
    assert len(joined) - len(history) <= 1


def test_a_handoff_in_the_users_name_is_no_exchange() -> None:
    messages = [*chat(2), user(handoff_text("notes")), *chat(4)]
    assert [len(part) for part in split_exchanges(messages, 2)] == [3, 4]
    assert [len(part) for part in split_exchanges(messages, 3)] == [7, 0]


def test_an_exchange_has_its_tool_calls_in_it() -> None:
    messages = [system("S"), *chat(2), user("go"), assistant(None, [call("a", "look")]), result("a", "1"), assistant("done")]
    assert split_exchanges(messages, 1)[1] == messages[3:]


def test_messages_with_calls_are_never_merged() -> None:
    head, tail = [user("a"), assistant("b")], [assistant(None, [call("a", "look")]), result("a", "1")]
    assert rejoin(head, tail) == [*head, user(""), *tail]
    assert rejoin([], tail) == tail and rejoin(head, []) == head
