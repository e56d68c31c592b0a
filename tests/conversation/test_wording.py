"""What the user is told is true: only what can be done is advised."""

from __future__ import annotations

import pytest

from host.conversation.feedback import feedback
from host.conversation.wording import words_of_abort, words_of_loss, words_of_report
from host.engine.idle import Reason
from host.engine.outcome import Outcome
from host.engine.report import Report
from host.pipeline.settle import IDLE


@pytest.mark.parametrize(
    ("error", "again"),
    [
        ("the service did not answer in time", True),
        ("m has no quota left (HTTP 429)", False),
        ("m refused the API key in KEY (HTTP 401)", False),
        ("m wants to be paid first (HTTP 402)", False),
    ],
)
def test_another_try_is_advised_where_it_may_help(error: str, again: bool) -> None:
    assert ("to retry" in words_of_abort(Report(aborted=True, error=error))) == again


def test_a_search_is_advised_where_there_is_an_archive() -> None:
    report = Report(fallback_used=True, dropped=3)
    for archived in (True, False):
        words = [*words_of_loss(3, archived=archived), *words_of_report(report, archived=archived)]
        assert [("ctxhost grep" in text) for text in words] == [archived, archived]


def test_each_outcome_reads_otherwise_and_one_without_changes_says_why() -> None:
    applied = Outcome("manual", 900, 300, 20, 6)
    idle = Outcome("manual", 900, 900, 20, 20, refused=IDLE.rule, reason=Reason.NOTHING_TO_COMPRESS)
    failed = Outcome("manual", 900, 900, 20, 20, refused="no summary", reason=Reason.ABORTED, report=Report(aborted=True, error="no"))
    told = [" ".join(feedback(outcome).lines()) for outcome in (applied, idle, failed)]
    assert len({text.split(":")[0] for text in told}) == 3
    assert "nothing to compact" in told[1] and "Reason: no" in told[2]
