"""What is known of the summary models: which of them failed, for how long nobody is asked, how much they take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from host.compressor.policy import POLICY
from host.compressor.state import CompressorState, Trouble
from host.compressor.summariser import Failed, Windows
from host.engine.idle import Idle, Reason
from host.engine.services import Services, SummaryModel
from host.engine.thrash import STREAK_LIMIT
from host.provider.ask import TextAsReply


@dataclass(frozen=True)
class GivenUp:
    """A model that failed where another one answered in its place, and when it may be asked again, in seconds since the epoch."""

    model: SummaryModel
    until: float


@dataclass(frozen=True)
class Record:
    """One value, replaced whole. ``trouble`` outlives the process; the models that were given up and the windows that were
    learnt do not: the next process asks everybody as configured.
    """

    trouble: Trouble = field(default_factory=Trouble)
    given_up: tuple[GivenUp, ...] = ()
    windows: Windows = ()

    def of(self, models: Sequence[SummaryModel], now: float) -> list[SummaryModel]:
        """Those among the models that may be asked."""
        resting = [gone.model for gone in self.given_up if now < gone.until]
        return [model for model in models if model not in resting]

    def succeeded(self, failed: Sequence[Failed], now: float) -> Record:
        """A summary was written, after these failed."""
        anew = [gone for gone in self.given_up if now < gone.until and gone.model not in [one.model for one in failed]]
        gone = [GivenUp(one.model, now + POLICY[one.kind].longest) for one in failed]
        return replace(self, trouble=self.trouble.over(now), given_up=(*anew, *gone))

    def failed(self, failed: Sequence[Failed], now: float) -> Record:
        """None was written: the last one's failure decides for how long nobody is asked; behind that everybody may be."""
        last = failed[-1]
        return replace(self, trouble=self.trouble.after(last.kind, last.error, POLICY[last.kind], now), given_up=())

    def passed_over(self, now: float) -> Record:
        """The user wants another attempt now, of everybody."""
        return replace(self, trouble=self.trouble.passed(now), given_up=())

    def forgotten(self, now: float) -> Record:
        """Everybody may be asked again."""
        return replace(self, trouble=self.trouble.over(now), given_up=())

    def reason(self, streak: int, now: float) -> Idle | None:
        """Why no summary is to be had now; None where one may be. ``streak``: so many in a row were made without a model."""
        if left := self.trouble.cooling(now):
            return Idle(Reason.COOLDOWN, f"{math.ceil(left)} s left; {self.trouble.error}")
        return Idle(Reason.SUMMARIES_FAILED, f"{streak} in a row; {self.trouble.error}") if streak >= STREAK_LIMIT else None

    def as_state(self, state: CompressorState) -> CompressorState:
        """A document with what is known of failures in it."""
        return replace(state, failed_model=self.given_up[0].model.name if self.given_up else "", trouble=self.trouble)


def configured(services: Services) -> tuple[SummaryModel, ...]:
    """The summary models in the order in which they are asked; a bare ``ask`` is a model of unknown window."""
    if services.summary_models or services.ask is None:
        return services.summary_models
    return (SummaryModel("the summary model", TextAsReply(services.ask), 0),)
