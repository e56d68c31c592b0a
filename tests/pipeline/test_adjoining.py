"""Two handoffs side by side are one, and the message that they were merged into is found again whole."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.messages.violations import violations
from host.pipeline.adjoining import adjoined
from host.pipeline.pinned import unbridged
from host.pipeline.settle import IDLE, Settled, settle
from host.testing.messages import assistant, chat, system, user
from host.transforms.bridges import bridge
from host.transforms.handoff import (
    END_MARKER,
    PREFIX,
    SHORT_PREFIX,
    as_one,
    handoff_body,
    handoff_text,
    is_handoff,
    merged_in_front,
    split_merged,
)
from tests.engines_for_tests import CharCount

COUNT = CharCount().messages
HISTORY = [system("S"), *chat(12, chars=300), user("last")]
ONE, TWO = user(handoff_text("one")), user(handoff_text("two"))


def ledger(messages: list[Message]) -> Ledger:
    return Ledger(Entry(message, row) for row, message in enumerate(messages, 1))


def settled(before: Ledger, returned: list[Message], given: list[Message]) -> Settled:
    outcome = settle(before, returned, count=COUNT, given=given)
    assert isinstance(outcome, Settled), outcome
    return outcome


@pytest.mark.parametrize("second", [TWO, assistant(handoff_text("two"))])
@pytest.mark.parametrize("tail", [HISTORY[-1:], HISTORY[-2:]])
def test_two_that_an_engine_returns_side_by_side_are_one_for_all_that_left(second: Message, tail: list[Message]) -> None:
    outcome = settled(ledger(HISTORY), [HISTORY[0], ONE, second, *tail], HISTORY)
    (notes,) = [entry for entry in outcome.ledger if entry.kind in (Kind.SUMMARY, Kind.MERGED)]
    assert handoff_body(notes.message) == "one\n\ntwo" and str(notes.message["content"]).count(END_MARKER) == 1
    assert notes.covers == (range(2, 15 - len(tail)),)
    assert violations(outcome.messages, strict=True) == []


def test_one_before_a_merged_one_becomes_one_with_it_and_the_request_is_shown_once() -> None:
    once = settled(ledger(HISTORY), [HISTORY[0], ONE, HISTORY[-1]], HISTORY)
    more = Ledger([*once.ledger, *(Entry(message, row) for row, message in enumerate([assistant("a" * 600), user("go")], 15))])
    shown = [*once.messages, *more.messages()[-2:]]
    again = settled(more, [shown[0], TWO, shown[1], shown[-1]], shown)
    assert [(entry.kind, entry.row, entry.covers) for entry in again.ledger[1:]] == [
        (Kind.MERGED, None, (range(2, 14), range(15, 16))),
        (Kind.ORIGINAL, 14, ()),
        (Kind.ORIGINAL, 16, ()),
    ]
    (_, merged, _) = again.messages
    assert [is_handoff(part) for part in split_merged(merged)] == [True, False] and str(merged["content"]).endswith(f"{END_MARKER}\n\nlast")
    assert settle(again.ledger, deepcopy(again.messages), count=COUNT) is IDLE


def test_a_window_with_two_before_one_message_comes_to_one_with_its_next_compaction() -> None:
    (one, two) = (Entry(message, None, Kind.MERGED, (covers,)) for message, covers in ((ONE, range(2, 6)), (TWO, range(6, 10))))
    before = Ledger([Entry(HISTORY[0], 1), one, two, Entry(user("go"), 10), Entry(assistant("a" * 900), 11), Entry(user("last"), 12)])
    merged: Message = user(f"{ONE['content']}\n\n{TWO['content']}\n\ngo")
    returned: list[Message] = [HISTORY[0], merged, user("last")]
    outcome = settled(before, returned, returned)
    assert [(entry.kind, entry.row) for entry in outcome.ledger] == [
        (Kind.ORIGINAL, 1),
        (Kind.MERGED, None),
        (Kind.ORIGINAL, 10),
        (Kind.ORIGINAL, 12),
    ]
    assert outcome.ledger[1].covers == (range(2, 10),) and [list(span) for span in outcome.receipt.lost] == [[11]]


def test_summaries_with_something_between_stay_apart_as_do_those_of_parts() -> None:
    parts: Message = {"role": "user", "content": [{"type": "text", "text": handoff_text("three")}]}
    entries = [Entry(ONE, None, Kind.SUMMARY), Entry(assistant("ok"), 3), Entry(TWO, None, Kind.SUMMARY), Entry(parts, None, Kind.SUMMARY)]
    assert adjoined(entries) == entries


# --- as many levels as there are ---------------------------------------------------------------------------------

OWN: list[Message] = [
    user("go"),
    user(""),
    {"role": "user", "content": None},
    {"role": "user", "content": [{"type": "text", "text": "go"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
]


@given(st.lists(st.sampled_from(["", "## Goal\nG", "a\n\nb"]), max_size=4), st.sampled_from(OWN))
def test_a_message_is_parted_into_all_that_was_merged_into_it(bodies: list[str], own: Message) -> None:
    merged = own
    for body in reversed(bodies):
        merged = merged_in_front(handoff_text(body), merged)
    parts = split_merged(merged)
    assert parts[-1] == own and [handoff_body(part) for part in parts[:-1]] == bodies


def test_a_handoff_of_many_levels_is_opened_without_recursion() -> None:
    assert len(split_merged(user((handoff_text("", short=True) + "\n\n") * 1_500 + "go"))) == 1_501


@pytest.mark.parametrize(("short", "prefix"), [(True, SHORT_PREFIX), (False, PREFIX)])
def test_two_as_one_have_the_prefix_and_role_of_the_first(short: bool, prefix: str) -> None:
    one = as_one(assistant(handoff_text("one", short=short)), user("[CONTEXT SUMMARY]: two, from long ago"))
    assert one == assistant(f"{prefix}\none\n\ntwo, from long ago\n\n{END_MARKER}")
    assert handoff_body(as_one(user(handoff_text("")), TWO)) == "two"


# --- turns that keep roles apart ---------------------------------------------------------------------------------


def test_a_turn_between_two_messages_that_are_not_merged_stays_and_one_behind_a_summary_goes() -> None:
    turn, own = Entry(bridge("user"), None, Kind.FOREIGN), Entry(user("recap"), None, Kind.FOREIGN)
    request, notes = Entry(user("go"), 9), Entry(ONE, None, Kind.SUMMARY)
    for entries in ([own, turn, request], [Entry(user("a"), 3), turn, request]):
        assert unbridged(entries) == entries == unbridged([*entries[:1], turn, *entries[1:]])
    assert unbridged([notes, turn, request]) == [notes, request]
    assert unbridged([own, turn, Entry(bridge("assistant"), None, Kind.FOREIGN), request]) == [own, turn, request]
    assert unbridged([own, turn]) == [own] and unbridged([turn, request]) == [request]
    assert unbridged([own, turn, Entry(assistant("ok"), 4)]) == [own, Entry(assistant("ok"), 4)]


def test_a_turn_that_keeps_nothing_apart_any_more_goes_also_without_pins() -> None:
    said = [system("S"), *chat(12, chars=300), user("last")]
    turn = bridge("assistant")
    returned: list[Message] = [said[0], said[2], turn, said[4], said[-1]]
    outcome = settled(ledger(said), returned, said)
    again = settle(outcome.ledger, list(outcome.messages), count=COUNT, given=outcome.messages)
    assert again is IDLE and turn in outcome.messages
    moved = settled(ledger(said), [said[0], said[4], turn, said[-1], said[2]], said)
    assert turn not in moved.messages
