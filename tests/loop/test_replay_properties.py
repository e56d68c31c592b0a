"""Whole conversations, call by call, over random legal histories and small windows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from host.conversation.conversation import Conversation
from host.engine.outcome import Outcome
from host.loop.replay import replay
from host.messages.types import Message
from host.store.memory import MemoryArchive
from host.testing.histories import histories
from tests.engines_for_tests import CharCount, compressor


@given(st.lists(histories(max_turns=4), min_size=1, max_size=4), st.sampled_from([2_000, 3_000, 8_000]))
def test_every_call_is_legal_whole_and_fits_where_it_can(parts: list[list[Message]], window: int) -> None:
    recording = [message for number, part in enumerate(parts) for message in part if number == 0 or message["role"] != "system"]
    engine = compressor(window, count=CharCount())
    outcomes: list[Outcome] = []
    warnings: list[str] = []
    conversation = Conversation(engine, engine.services, MemoryArchive(), warn=warnings.append, watch=outcomes.append)
    result = replay(conversation, recording, [], count=CharCount().messages, compactions=outcomes)
    assert [(call.index, call.found, call.lost) for call in result.broken] == []
    assert [(call.index, call.tokens, str(call.irreducible)) for call in result.overfull] == []
    assert [(outcome, result.threshold) for outcome in result.unfinished] == []
    assert warnings == []


@given(histories(max_turns=6), st.sampled_from([2_000, 3_000]))
def test_every_row_is_shown_or_covered_and_lost_only_where_no_handoff_had_room(recording: list[Message], window: int) -> None:
    engine = compressor(window, count=CharCount())
    outcomes: list[Outcome] = []
    conversation = Conversation(engine, engine.services, MemoryArchive(), warn=lambda text: None, watch=outcomes.append)
    replay(conversation, recording, [], count=CharCount().messages, compactions=[])
    view = conversation.view
    shown = {entry.row for entry in view.ledger if entry.row is not None}
    covered = {row for entry in view.ledger for span in entry.covers for row in span}
    lost = {row for span in view.lost for row in span}
    assert shown | covered | lost == set(range(1, len(recording) + 1))
    assert not covered & shown
    assert not lost or any(outcome.after > engine.threshold_tokens * 3 // 4 for outcome in outcomes)
