"""Pinned messages after any engine, at the level of settle."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.messages.violations import violations
from host.pipeline.exact import Exact
from host.pipeline.pinned import Pinned, joined
from host.pipeline.settle import IDLE, Refused, Settled, render, settle
from host.testing.messages import assistant, call, chat, result, system, user
from host.transforms.bridges import is_bridge
from host.transforms.handoff import handoff_text, is_handoff, merged_in_front
from tests.engines_for_tests import CharCount

COUNT = CharCount().messages
NOTES = user(handoff_text("notes"))

SAID = [
    system("Be brief."),
    user("first"),
    assistant("done"),
    user("read it"),
    assistant(None, [call("a", "read_file", {"path": "x.py"}), call("b", "terminal", {"command": "ls"})]),
    result("a", "A" * 2_000),
    result("b", "B" * 2_000),
    assistant("both read " * 90),
    user("now fix it"),
    assistant("fixing"),
    user("and test it"),
]
ROWS = range(1, len(SAID) + 1)
WHOLE = Ledger(Entry(message, row) for row, message in zip(ROWS, SAID, strict=True))


def pins(*rows: int) -> list[Entry]:
    return [WHOLE[row - 1] for row in rows]


def settled(returned: list[Any], *rows: int, before: Ledger = WHOLE, **more: Any) -> Settled:
    outcome = settle(before, returned, count=COUNT, pins=pins(*rows), **more)
    assert isinstance(outcome, Settled), outcome
    assert violations(outcome.messages) == []
    return outcome


def kept(outcome: Settled) -> list[int | None]:
    return [entry.row for entry in outcome.ledger if entry.kind is Kind.ORIGINAL]


@pytest.mark.parametrize(
    "returned",
    [
        [SAID[-1]],
        [SAID[0], NOTES, SAID[-1]],
        SAID[8:][::-1],
        deepcopy(SAID[7:]),
        [SAID[0], merged_in_front(handoff_text("notes"), SAID[1]), *SAID[8:]],
        [SAID[0], SAID[4], {**SAID[5], "content": "[read_file] x.py"}, {**SAID[6], "content": "ls"}, SAID[-1]],
        [SAID[0], {"role": "assistant", "content": "my own words"}, *SAID[8:]],
    ],
    ids=["nothing", "a summary", "back to front", "copies", "merged", "digests", "its own words"],
)
def test_whatever_comes_back_pins_stand_as_they_were_said_in_archive_order(returned: list[Any]) -> None:
    outcome = settled(returned, 2, 5, 6, 7)
    rows = [row for row in kept(outcome) if row in (2, 5, 6, 7, 11)]
    assert rows == [2, 5, 6, 7, 11]
    assert [m for m in outcome.messages if any(m is SAID[row - 1] for row in (2, 5, 6, 7, 11))] == [
        SAID[row - 1] for row in (2, 5, 6, 7, 11)
    ]
    covered = {row for span in outcome.receipt.covered for row in span}
    assert not covered & set(rows)
    again = settle(outcome.ledger, list(outcome.messages), count=COUNT, pins=pins(2, 5, 6, 7))
    assert again is IDLE


def test_no_summary_is_merged_into_a_pin() -> None:
    for row in (2, 4, 9, 11):
        outcome = settled([SAID[0], NOTES, SAID[row - 1], SAID[-1]] if row != 11 else [SAID[0], NOTES, SAID[-1]], row)
        assert sum(map(is_handoff, outcome.messages)) == 1 and NOTES in outcome.messages
        assert violations(outcome.messages, strict=True) == []


def test_a_pin_that_a_summary_covers_comes_in_and_leaves_its_covers() -> None:
    before = settled([SAID[0], NOTES, *SAID[8:]])
    assert before.receipt.covered == (range(2, 9),)
    outcome = settled([*before.messages[:-1], *before.messages[-1:]], 4, before=before.ledger)
    assert kept(outcome) == [1, 4, 9, 10, 11]
    assert outcome.receipt.covered == (range(2, 4), range(5, 9))
    assert outcome.receipt.after > outcome.receipt.before


def test_growth_by_anything_but_pins_is_refused() -> None:
    before = settled([SAID[0], NOTES, *SAID[8:]])
    longer = [SAID[0], user(handoff_text("notes " * 40)), *SAID[8:]]
    assert isinstance(settle(before.ledger, longer, count=COUNT, pins=pins(4)), Refused)


def test_pins_wait_where_the_window_would_not_hold_them() -> None:
    before = settled([SAID[0], NOTES, *SAID[8:]])
    size = COUNT(render(before.ledger))
    waiting = settle(before.ledger, list(before.messages), count=COUNT, pins=pins(4, 5, 6, 7), limit=size + 100)
    assert waiting is IDLE
    outcome = settled(list(before.messages), 4, 5, 6, 7, before=before.ledger, limit=size + 2_000)
    assert kept(outcome) == [1, 4, 5, 6, 7, 9, 10, 11]


def test_a_stub_gives_way_to_the_pinned_result() -> None:
    stubbed = Ledger([*WHOLE[:5], Entry(result("a", "gone"), None, Kind.STUB), *WHOLE[6:]])
    outcome = settled(render(stubbed)[:7] + SAID[8:], 5, 6, 7, before=stubbed)
    assert [m for m in outcome.messages if m["role"] == "tool"] == [SAID[5], SAID[6]]


def test_an_edited_pin_stands_where_the_message_was_said() -> None:
    edited = Entry(user("read it twice"), 12)
    before = Ledger([*WHOLE[:3], edited, *WHOLE[4:]])
    outcome = settle(before, [SAID[0], SAID[-1]], count=COUNT, pins=[edited], places={12: 4})
    assert isinstance(outcome, Settled) and kept(outcome) == [1, 12, 11]


def test_equal_words_said_twice_are_two_messages_and_the_pinned_one_stays() -> None:
    said = [system("s"), user("yes"), assistant("ok"), *chat(4), user("yes"), assistant("fine")]
    before = Ledger(Entry(message, row) for row, message in enumerate(said, 1))
    outcome = settle(before, deepcopy([said[0], *said[-2:]]), count=COUNT, pins=[before[1]])
    assert isinstance(outcome, Settled) and kept(outcome) == [1, 2, 8, 9]


def test_an_older_request_never_follows_the_newest() -> None:
    outcome = settled([SAID[0], SAID[10], SAID[3], SAID[9]])
    assert [m["content"] for m in outcome.messages if m["role"] == "user"] == ["read it", "and test it"]


def test_the_block_of_exact_values_is_not_merged_into_a_pin() -> None:
    from host.messages.facts import facts_of, told
    from host.messages.searchable import searchable

    rule: Message = user("Never touch main, the port is 8443 and the token lives in /etc/ctx/token.")
    said = [system("s"), rule, *chat(8, 900), user("pinned request"), assistant("ok"), user("newest")]
    before = Ledger(Entry(message, row) for row, message in enumerate(said, 1))
    holding = told(facts_of(rule), searchable(rule), row=2, role="user")
    exact = Exact(holding, 400, 4_000, CharCount().text)
    outcome = settle(before, [said[0], *said[-3:]], count=COUNT, pins=[before[10]], exact=exact)
    assert isinstance(outcome, Settled)
    assert any(entry.kind is Kind.FACTS for entry in outcome.ledger)
    assert any(m is said[10] for m in outcome.messages) and any("8443" in str(m["content"]) for m in outcome.messages)
    assert violations(outcome.messages, strict=True) == []


def test_a_window_that_has_its_pins_is_the_same_object() -> None:
    assert joined(WHOLE, Pinned(pins(2, 5, 6, 7))) is WHOLE
    assert joined(WHOLE, Pinned()) is WHOLE


def test_bridges_go_with_their_pins() -> None:
    outcome = settled([SAID[0], NOTES, SAID[-1]], 2)
    assert any(map(is_bridge, outcome.messages))
    later = settle(outcome.ledger, [outcome.messages[0], user(handoff_text("n")), SAID[-1]], count=COUNT, pins=[])
    assert isinstance(later, Settled) and not any(map(is_bridge, later.messages))
