"""What is done when no summary could be had: one table (seed 8.1, hermes.md 10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from host.compressor.failures import Failure

ATTEMPTS = 3  # failed ones in a row after which a window that is too large for its model does not wait any longer


class Ending(StrEnum):
    """What becomes of the compaction once nobody is left to ask."""

    ABORT = "the window stays as it is"
    WAIT = "the window stays as it is; once it no longer fits the model, notes without a model after all"
    FALLBACK = "notes without a model"
    NOTES = "notes without a model, which counts as no failure"


@dataclass(frozen=True)
class Decision:
    """For one kind of failure. ``cooldown`` are seconds without another question, one for each time in a row, the last for all further.

    With ``smaller_pieces`` the same model is asked again with less at a time before anything else.
    """

    retry_on_main: bool
    cooldown: tuple[int, ...]
    ends: Ending
    note: str
    smaller_pieces: bool = False

    def seconds(self, repeats: int) -> int:
        """The cooldown after the ``repeats``-th failure of this kind in a row, 1 for the first."""
        return self.cooldown[min(repeats, len(self.cooldown)) - 1] if self.cooldown else 0

    @property
    def longest(self) -> int:
        """Seconds for which a model that failed is not asked while another one answers."""
        return max(self.cooldown, default=0)


LADDER = (60, 300, 900)

POLICY: Mapping[Failure, Decision] = {
    Failure.NO_MODEL: Decision(False, (), Ending.NOTES, "a choice of the user's"),
    Failure.ACCESS: Decision(True, (60,), Ending.ABORT, "key refused or missing, payment due: it stays so until somebody acts"),
    Failure.QUOTA: Decision(True, LADDER, Ending.ABORT, "used up for good, whatever the status says"),
    Failure.MODEL_MISSING: Decision(True, (60,), Ending.FALLBACK, "404, or the service knows no such model"),
    Failure.TIMEOUT: Decision(True, LADDER, Ending.WAIT, "nothing came within auxiliary.compression.timeout"),
    Failure.GATEWAY: Decision(True, LADDER, Ending.FALLBACK, "408, 502, 504"),
    Failure.RATE_LIMIT: Decision(True, LADDER, Ending.FALLBACK, "429"),
    Failure.SERVER: Decision(True, (60,), Ending.FALLBACK, "500, 503 and the other 5xx"),
    Failure.UNREADABLE: Decision(True, (30,), Ending.FALLBACK, "no JSON, or no chat completion"),
    Failure.CONNECTION: Decision(True, (30,), Ending.WAIT, "refused, dropped, cut short"),
    Failure.UNUSABLE: Decision(True, (60,), Ending.FALLBACK, "empty, refused, cut off, echoed, repetitive, orders, a tool call"),
    Failure.TOO_LONG: Decision(True, (60,), Ending.FALLBACK, "the middle is halved, down to a 32nd of it", smaller_pieces=True),
    Failure.BAD_REQUEST: Decision(True, (60,), Ending.FALLBACK, "400 and the other 4xx"),
    Failure.OTHER: Decision(True, (60,), Ending.FALLBACK, "anything else"),
}
"""Every kind has its decision."""


def decision_for(failure: Failure, *, abort_on_failure: bool) -> Decision:
    """The decision; with ``compression.abort_on_summary_failure`` no failure ends in notes without a model."""
    decision = POLICY[failure]
    return replace(decision, ends=Ending.ABORT) if abort_on_failure and decision.ends is not Ending.NOTES else decision


def stays(ending: Ending, *, past_window: bool, cooling: bool, attempts: int) -> bool:
    """Whether the window stays as it is. One that waits does so for ever only while it fits its model.

    ``cooling``: nobody was asked this time. ``attempts`` failed in a row.
    """
    if ending is Ending.WAIT:
        return not (past_window and (cooling or attempts >= ATTEMPTS))
    return ending is Ending.ABORT


def markdown() -> Iterator[str]:
    """The table for the manual, line by line."""
    yield "| failure | when | then the main model | pause (s) | then |"
    yield "|---|---|---|---|---|"
    for failure, decision in POLICY.items():
        asked = ("smaller pieces, then yes" if decision.smaller_pieces else "yes") if decision.retry_on_main else "no"
        pause = ", ".join(map(str, decision.cooldown)) or "none"
        yield f"| {failure} | {decision.note} | {asked} | {pause} | {decision.ends} |"
