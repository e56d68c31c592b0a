"""Whole conversations, call by call, over random legal histories and small windows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from host.conversation.conversation import Conversation
from host.engine.outcome import Outcome
from host.loop.replay import irreducible, replay
from host.messages.types import Message
from host.pipeline.settle import Receipt
from host.store.memory import MemoryArchive
from host.testing.histories import histories
from tests.engines_for_tests import CharCount, compressor

LEAST_HANDOFF = 160
"""Where less than this is left beside what has to stay, even the smallest handoff does not fit, and the window may stay overfull."""


def floor(recording: list[Message], outcome: Outcome) -> int:
    return irreducible(recording, outcome.row, CharCount().messages, 0).total


@given(st.lists(histories(max_turns=4), min_size=1, max_size=4), st.sampled_from([2_000, 3_000, 8_000]))
def test_every_call_is_legal_whole_and_fits_where_it_can(parts: list[list[Message]], window: int) -> None:
    recording = [message for number, part in enumerate(parts) for message in part if number == 0 or message["role"] != "system"]
    engine = compressor(window, count=CharCount())
    outcomes: list[Outcome] = []
    warnings: list[str] = []
    conversation = Conversation(engine, engine.services, MemoryArchive(), warn=warnings.append, watch=outcomes.append)
    result = replay(conversation, recording, [], count=CharCount().messages, compactions=outcomes)
    assert [(call.index, call.found, call.lost) for call in result.broken] == []
    overfull = [call for call in result.overfull if call.irreducible.total <= window - LEAST_HANDOFF]
    assert [(call.index, call.tokens, str(call.irreducible)) for call in overfull] == []
    unfinished = [outcome for outcome in result.unfinished if floor(recording, outcome) <= result.threshold - LEAST_HANDOFF]
    assert [(outcome, result.threshold) for outcome in unfinished] == []
    assert [warning for warning in warnings if "not followed" in warning] == []


@given(histories(max_turns=6), st.sampled_from([2_000, 3_000]))
def test_every_row_is_shown_or_covered_or_named_as_lost_in_a_receipt(recording: list[Message], window: int) -> None:
    engine = compressor(window, count=CharCount())
    receipts: list[Receipt | None] = []
    conversation = Conversation(
        engine, engine.services, MemoryArchive(), warn=print, watch=lambda outcome: receipts.append(conversation.view.receipt)
    )
    replay(conversation, recording, [], count=CharCount().messages, compactions=[])
    view = conversation.view
    shown = {entry.row for entry in view.ledger if entry.row is not None}
    covered = {row for entry in view.ledger for span in entry.covers for row in span}
    named = {row for receipt in receipts if receipt for span in receipt.lost for row in span}
    assert not covered & shown
    assert set(range(1, view.rows + 1)) - shown - covered <= named
