"""What a compaction is asked for, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from host.conversation.triggers import Trigger
from host.conversation.view import View
from host.engine.idle import Idle, Reason
from host.engine.outcome import Outcome
from host.engine.report import Report
from host.messages.ledger import Kind
from host.pipeline.settle import Settled


@dataclass(frozen=True)
class Wish:
    """What a compaction is asked for. ``keep`` exchanges at the end stay as they are; None: the engine decides.

    ``is_first``: not one more pass on the same occasion.
    """

    trigger: Trigger
    focus: str | None = None
    keep: int | None = None
    is_first: bool = True


@dataclass(frozen=True)
class Verdict:
    """What was settled, or why the old window stays, and what the engine says of it.

    ``undone``: the engine took its part for compacted, and the window stays all the same.
    """

    settled: Settled | None = None
    idle: Idle | None = None
    report: Report = field(default_factory=Report)
    undone: bool = False

    @property
    def refused(self) -> str | None:
        """Why the old window stays, in words."""
        return None if self.idle is None else self.idle.detail or str(self.idle)


class Size(NamedTuple):
    """Of a window: tokens of the request, and messages."""

    tokens: int
    messages: int


SHORTER = 0.95  # of the tokens before


def helped(outcome: Outcome) -> bool:
    """Whether the window is shorter now, by this compaction or by another process's that went before it."""
    return outcome.progressed or (outcome.reason is Reason.NOT_NOW and outcome.after < SHORTER * outcome.before)


def outcome_of(wish: Wish, verdict: Verdict, view: View, before: Size, after: Size, seconds: float) -> Outcome:
    """A compaction as it is told; ``view`` is the one that goes on."""
    return Outcome(
        trigger=wish.trigger.name,
        before=before.tokens,
        after=after.tokens,
        messages_before=before.messages,
        messages_after=after.messages,
        row=view.rows,
        kept=sum(entry.kind is Kind.ORIGINAL for entry in view.ledger),
        seconds=seconds,
        refused=verdict.refused,
        reason=verdict.idle.reason if verdict.idle is not None else None,
        report=verdict.report,
    )
