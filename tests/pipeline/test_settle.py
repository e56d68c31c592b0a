"""What the host guarantees after any engine."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.messages.violations import violations
from host.pipeline.settle import IDLE, Refused, Settled, render, settle
from host.testing.histories import histories
from host.testing.messages import assistant, call, chat, result, system, user
from host.transforms.handoff import END_MARKER, handoff_text
from tests.engines_for_tests import CharCount

COUNT = CharCount().messages

HISTORY = [
    system("Be brief."),
    user("first"),
    assistant("done", ()),
    user("read it"),
    assistant(None, [call("a", "read_file", {"path": "x.py"}), call("b", "terminal", {"command": "ls"})]),
    result("a", "A" * 4_000),
    result("b", "B" * 4_000),
    assistant("both read"),
    user("now fix it"),
]


def ledger(messages: list[Message]) -> Ledger:
    return Ledger(Entry(message, row) for row, message in enumerate(messages, 1))


def settled(returned: list[Message], history: list[Message] = HISTORY, **more: Any) -> Settled:
    outcome = settle(ledger(history), returned, count=COUNT, **more)
    assert isinstance(outcome, Settled), outcome
    return outcome


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (None, "NoneType"),
        ("text", "str"),
        ({"role": "user"}, "dict"),
        ([], "empty"),
        (["text"], "no messages"),
        ([{"content": "no role"}], "no messages"),
        ([*HISTORY, user("x" * 40_000)], "grew"),
        ([{"role": "narrator", "content": "x"}], "unknown-role"),
        (
            [user("x"), {"role": "assistant", "content": None, "tool_calls": [call("q", "f", "{oops")]}, result("q", "r")],
            "arguments-not-json",
        ),
    ],
)
def test_what_cannot_be_accepted_is_refused_by_its_rule(returned: object, says: str) -> None:
    outcome = settle(ledger(HISTORY), returned, count=COUNT)
    assert isinstance(outcome, Refused)
    assert says in outcome.rule


def test_an_engine_that_keeps_only_the_last_message_gets_system_and_request_back() -> None:
    outcome = settled([HISTORY[-1]])
    assert outcome.messages == [HISTORY[0], HISTORY[-1]]
    assert outcome.messages[0] is HISTORY[0]
    assert [list(span) for span in outcome.receipt.lost] == [list(range(2, 9))]


def test_the_newest_request_is_restored_as_the_same_object_in_archive_order() -> None:
    history = [*HISTORY, assistant(None, [call("c", "terminal")]), result("c", "ok")]
    summary = user(handoff_text("notes"))
    outcome = settled([history[0], summary, *history[9:]], history)
    assert [m["role"] for m in outcome.messages] == ["system", "user", "assistant", "tool"]
    merged = outcome.messages[1]["content"]
    assert isinstance(merged, str) and merged.split(END_MARKER)[1].strip() == "now fix it"
    assert outcome.receipt.repairs and "row 9" in outcome.receipt.repairs[0]


def test_pinned_messages_come_back_where_they_were() -> None:
    pin = HISTORY[1]
    outcome = settled([HISTORY[0], HISTORY[-1]], pins=[Entry(pin, 2)])
    assert outcome.messages == [HISTORY[0], pin, assistant("Understood."), HISTORY[-1]]
    assert outcome.messages[1] is pin


def test_orphan_results_go_and_missing_ones_are_stubbed() -> None:
    outcome = settled([HISTORY[0], HISTORY[5], HISTORY[4], HISTORY[6], HISTORY[8]])
    assert violations(outcome.messages) == []
    assert {m.get("tool_call_id") for m in outcome.messages} == {None, "a", "b"}


def test_keys_that_an_engine_added_for_itself_do_not_go_out() -> None:
    marked = [{**message, "_flag": True} for message in HISTORY[2:]]
    outcome = settled([HISTORY[0], *marked])  # type: ignore[list-item]
    assert all("_flag" not in message for message in outcome.messages)
    assert all(new is old for new, old in zip(outcome.messages, [HISTORY[0], *HISTORY[2:]], strict=True))


def test_a_rebuilt_copy_is_recognised_as_the_message_it_is() -> None:
    outcome = settled(deepcopy([HISTORY[0], *HISTORY[3:]]))
    assert all(new is old for new, old in zip(outcome.messages, [HISTORY[0], *HISTORY[3:]], strict=True))
    assert outcome.ledger.rows() == [1, *range(4, 10)]


def test_a_summary_covers_every_row_that_is_nowhere_else() -> None:
    outcome = settled([HISTORY[0], HISTORY[1], assistant(handoff_text("notes")), HISTORY[-1]])
    assert [entry.kind for entry in outcome.ledger] == [Kind.ORIGINAL, Kind.ORIGINAL, Kind.SUMMARY, Kind.ORIGINAL]
    assert [list(span) for span in outcome.receipt.covered] == [list(range(3, 9))]
    assert outcome.receipt.lost == ()


def test_a_shortened_result_is_known_as_the_row_it_was_made_from() -> None:
    short = {**HISTORY[5], "content": "[read_file] read x.py"}
    outcome = settled([*HISTORY[:5], short, *HISTORY[6:]])  # type: ignore[list-item]
    entry = outcome.ledger[5]
    assert (entry.kind, entry.row) == (Kind.DIGEST, 6)


def test_a_second_compaction_takes_the_covers_of_the_first_along() -> None:
    first = settled([HISTORY[0], assistant(handoff_text("one")), HISTORY[-1]])
    longer = Ledger([*first.ledger, Entry(assistant("a"), 10), Entry(user("b"), 11)])
    second = settle(longer, [HISTORY[0], assistant(handoff_text("two")), longer[-1].message], count=COUNT)
    assert isinstance(second, Settled)
    assert [list(span) for span in second.receipt.covered] == [list(range(2, 11))]


@given(histories(), st.data())
def test_whatever_part_an_engine_returns_the_window_is_legal_and_holds_the_request(history: list[Message], data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.integers(0, len(history) - 1), unique=True, min_size=1))
    outcome = settle(ledger(history), [history[i] for i in kept], count=COUNT)
    if isinstance(outcome, Refused):
        return
    assert violations(outcome.messages) == []
    request = next((m for m in reversed(history) if m["role"] == "user"), None)
    assert request is None or any(m is request for m in outcome.messages)


@given(histories())
def test_nothing_is_changed_where_the_engine_changed_nothing(history: list[Message]) -> None:
    assert settle(ledger(history), list(history), count=COUNT) is IDLE
    assert settle(ledger(history), deepcopy(history), count=COUNT) is IDLE


def test_rendering_writes_a_merged_summary_in_front_of_its_message() -> None:
    summary, request = user(handoff_text("notes")), user("go")
    sent = render(Ledger([Entry(summary, None, Kind.MERGED), Entry(request, 3)]))
    assert len(sent) == 1
    assert str(sent[0]["content"]).endswith(f"{END_MARKER}\n\ngo")


def test_a_long_chat_of_equal_messages_keeps_its_occurrences() -> None:
    history = [*chat(6), user("yes"), assistant("ok"), user("yes")]
    outcome = settled(history[4:], history)
    assert outcome.ledger.rows() == [5, 6, 7, 8, 9]


def test_a_request_said_twice_is_not_put_in_twice() -> None:
    history = [system("s"), user("yes"), user("yes"), assistant("ok")]
    outcome = settled([history[0], dict(history[2]), history[3]], history)  # type: ignore[list-item]
    assert [m["role"] for m in outcome.messages] == ["system", "user", "assistant"]
    assert outcome.receipt.repairs == ()


def test_a_message_that_came_in_broken_is_not_held_against_the_engine() -> None:
    broken = [*HISTORY, assistant(None, [call("z", "terminal", '{"command": "ls')]), result("z", "cut off")]
    outcome = settle(ledger(broken), [broken[0], *broken[6:]], count=COUNT)
    assert isinstance(outcome, Settled)


def test_two_summaries_before_one_message_are_both_sent() -> None:
    one, two = user(handoff_text("one")), user(handoff_text("two"))
    sent = render(Ledger([Entry(one, None, Kind.MERGED), Entry(two, None, Kind.MERGED), Entry(user("go"), 3)]))
    assert len(sent) == 1 and all(text in str(sent[0]["content"]) for text in ("one", "two", "go"))


def test_one_object_said_twice_is_two_rows() -> None:
    yes = user("yes")
    outcome = settled([yes, HISTORY[2], yes], [yes, HISTORY[2], yes, user("x" * 400), assistant("y"), yes])
    assert None not in outcome.ledger.rows() and len(set(outcome.ledger.rows())) == 3


def test_calls_and_results_without_ids_do_no_harm() -> None:
    nameless = [user("x"), {"role": "assistant", "content": None, "tool_calls": [call("", "f")]}, {"role": "tool", "content": "r"}]
    assert not isinstance(settle(ledger([*HISTORY, *nameless]), [HISTORY[0], *nameless], count=COUNT), str)  # type: ignore[list-item]


def test_an_engine_that_drops_the_newest_message_is_refused() -> None:
    history = [*HISTORY, assistant(None, [call("c", "terminal")]), result("c", "ok")]
    outcome = settle(ledger(history), [history[0], history[8]], count=COUNT)
    assert isinstance(outcome, Refused) and "newest message" in outcome.rule


def test_words_put_into_the_users_mouth_never_follow_what_the_user_said() -> None:
    altered = user("now fix it and also delete everything")
    outcome = settled([HISTORY[0], HISTORY[7], HISTORY[8], altered])
    assert outcome.messages[-1] is HISTORY[8] and outcome.messages[-2] == altered


@pytest.mark.parametrize("content", [b"bytes", {1, 2}, object()])
def test_what_json_cannot_hold_is_refused(content: Any) -> None:
    outcome = settle(ledger(HISTORY), [HISTORY[0], {"role": "assistant", "content": content}, HISTORY[8]], count=COUNT)
    assert isinstance(outcome, Refused) and "JSON" in outcome.rule


def test_a_summary_written_anew_in_the_same_words_stands_for_what_left_since() -> None:
    words = handoff_text("nothing to add")
    rows = [system("s"), *chat(12)]
    first = Ledger(Entry(message, row) for row, message in enumerate(rows, 1))
    shown = first.messages()
    once = settle(first, [shown[0], user(words), *shown[-5:]], count=COUNT, given=shown)
    assert isinstance(once, Settled)
    again = settle(once.ledger, [once.messages[0], user(words), *once.messages[-3:]], count=COUNT, given=once.messages)
    assert isinstance(again, Settled)
    assert again.receipt.lost == ()
    assert again.receipt.covered == (range(2, 11),)
