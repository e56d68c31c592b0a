"""Which models failed, and for how long nobody is asked: kept where another process finds it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from host.compressor.policy import POLICY
from host.compressor.state import CompressorState, Trouble
from host.compressor.summariser import Failed
from host.engine.idle import Idle, Reason
from host.engine.services import Services, SummaryModel
from host.engine.thrash import STREAK_LIMIT
from host.errors import StoreError
from host.provider.ask import Replying


class Record:
    """The failures of one conversation's summaries. ``given_up`` are models that failed where another was asked in their place."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.kept = CompressorState()
        self.trouble = Trouble()
        self.given_up: tuple[SummaryModel, ...] = ()  # in this process; the next one asks them again

    def begin(self) -> CompressorState:
        """Take up what an earlier process kept."""
        self.kept = self.stored()
        self.trouble = self.kept.trouble
        return self.kept

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return self.services.clock().timestamp()

    @property
    def cooling(self) -> float:
        """Seconds during which nobody is asked, 0 where anybody may be."""
        return self.trouble.cooling(self.now)

    def models(self) -> list[SummaryModel]:
        """Who is asked, in this order; none where none is configured. A bare ``ask`` is a model of unknown window."""
        known = self.services.summary_models
        if not known and self.services.ask is not None:
            known = (SummaryModel("the summary model", Replying(self.services.ask), 0),)
        return [model for model in known if model not in self.given_up]

    def succeeded(self, failed: Sequence[Failed]) -> None:
        """A summary was written, after these failed."""
        self.trouble = self.trouble.over(self.now)
        self._give_up(failed)

    def failed(self, failed: Sequence[Failed]) -> None:
        """None was written; what the last one said decides for how long nobody is asked."""
        last = failed[-1]
        self.trouble = self.trouble.after(last.kind, last.error, POLICY[last.kind], self.now)
        self._give_up(failed[:-1])

    def pass_over(self) -> None:
        """The user wants another attempt now."""
        self.trouble = self.trouble.passed(self.now)

    def forget(self) -> None:
        """Everybody may be asked again."""
        self.trouble, self.given_up = self.trouble.over(self.now), ()

    def reason(self, streak: int) -> Idle | None:
        """Why no summary is to be had now; None where one may be. ``streak``: so many in a row were made without a model."""
        if not self.models():
            return None
        if left := self.cooling:
            return Idle(Reason.COOLDOWN, f"{math.ceil(left)} s left; {self.trouble.error}")
        return Idle(Reason.SUMMARIES_FAILED, f"{streak} in a row; {self.trouble.error}") if streak >= STREAK_LIMIT else None

    def caught_up(self) -> CompressorState | None:
        """What another process learnt since, taken up; None where nothing newer is stored."""
        stored = self.stored()
        if stored.trouble.changed <= self.trouble.changed:
            return None
        self.kept, self.trouble = stored, stored.trouble
        return stored

    def keep(self, compactions: int, ineffective: int, streak: int) -> None:
        """Store all of it if it changed; where that cannot be done, this process knows it all the same."""
        failed_model = self.given_up[0].name if self.given_up else ""
        self.kept = CompressorState(compactions, ineffective, streak, failed_model, self.trouble, self.kept.more)
        document = self.kept.as_json()
        with suppress(StoreError):
            if document != self.services.state.load():
                self.services.state.save(document)

    def stored(self) -> CompressorState:
        """The document as it is stored; a fresh one where it cannot be read."""
        with suppress(StoreError):
            return CompressorState.from_json(self.services.state.load())
        return CompressorState()

    def _give_up(self, failed: Sequence[Failed]) -> None:
        self.given_up += tuple(failure.model for failure in failed)
