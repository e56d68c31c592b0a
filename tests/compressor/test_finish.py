"""Which reasons for the end of an answer say that it is complete, and what the others say."""

from __future__ import annotations

import pytest

from host.compressor.faults import Fault
from host.compressor.finish import COMPLETE, WORDS, unfinished


@pytest.mark.parametrize(
    "reason", [None, *sorted(COMPLETE), "STOP", "FinishReason.STOP", "end-turn", "endTurn", "FINISH_REASON_UNSPECIFIED"]
)
def test_complete_answers(reason: str | None) -> None:
    assert unfinished(reason) is None


@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        ("maxTokens", Fault.CUT_OFF),
        ("FinishReason.MAX_TOKENS", Fault.CUT_OFF),
        ("model_context_window_exceeded", Fault.CUT_OFF),
        ("NOT_FINISHED", Fault.CUT_OFF),
        ("content-filter", Fault.REFUSED),
        ("guardrail_intervened", Fault.REFUSED),
        ("tool-calls", Fault.TOOL_CALL),
        ("MALFORMED_FUNCTION_CALL", Fault.TOOL_CALL),
        ("pause_turn", Fault.BROKEN_OFF),
        ("insufficient_system_resource", Fault.BROKEN_OFF),
        ("error", Fault.BROKEN_OFF),
        ("brand_new_reason", Fault.BROKEN_OFF),
        ("停止", None),
    ],
)
def test_all_others_are_none(reason: str, fault: Fault | None) -> None:
    finding = unfinished(reason)
    assert (finding[0] if finding else None) is fault


def test_a_reason_that_nobody_knows_is_named() -> None:
    assert "brand_new" in str(unfinished("brand_new"))


def test_no_reason_says_two_things() -> None:
    said = [*COMPLETE, *(reason for reasons in WORDS.values() for reason in reasons)]
    assert len(said) == len(set(said))
