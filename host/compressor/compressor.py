"""The built-in engine ``compressor``: prune, cut, summarise, reassemble."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from host.compressor.failures import Failure
from host.compressor.feasibility import small_models
from host.compressor.focus import implicit_focus
from host.compressor.notes import allows, write_notes
from host.compressor.policy import POLICY, Ending, decision_for, stays
from host.compressor.record import Record, configured
from host.compressor.state import CompressorState
from host.compressor.summariser import Draft, Summariser, SummaryFailed, Task
from host.engine.engine import Engine
from host.engine.idle import Idle
from host.engine.report import Report
from host.engine.services import Services, SummaryModel
from host.engine.window import Window
from host.errors import StoreError
from host.messages.reading import calls_of, has_image, has_words
from host.messages.types import Message
from host.pipeline.compact import Middle, clipped, compact

WHERE = "`ctxhost grep` finds them"
RECOVERED = "recovered"


class Stays(Exception):
    """The window stays as it is; the report says why."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.error)
        self.report = report


class Compressor(Engine[None]):
    """Summarises the middle: with a model where one is configured, else from the text itself.

    All that it remembers is in two values that are replaced whole: ``state``, and ``record``, what it learnt of the models.
    """

    name = "compressor"
    leaves_input_alone = True

    def __init__(self, services: Services) -> None:
        self.model = services.facts.model
        self.record = Record()
        self.summariser = Summariser(services)
        self.told = 0  # tokens of the request, as the host estimates it
        self.is_checked = False
        super().__init__(services)
        kept = self.stored()
        self.record, self.compression_count = replace(self.record, trouble=kept.trouble), kept.compactions
        ineffective = kept.ineffective if kept.left else 0  # without what was left nobody could tell when a pause is over
        effect = replace(self.state.effect, ineffective=ineffective, streak=kept.streak, left=kept.left, stays=kept.stays)
        self.state = replace(self.state, effect=effect)

    def compact(self, window: Window) -> list[Message]:
        """One walk through the corridor, which cuts again once old tool results are short."""
        self.check_models()
        try:
            return compact(list(window.messages), window.plan, partial(self.summarise, window))
        except Stays as stayed:
            self.state = replace(self.state, report=stayed.report)
            return list(window.messages)

    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str = "",
    ) -> list[Message]:
        """As every engine; ``force`` ends a cooldown, and what was learnt of failures is kept."""
        self.told = current_tokens or 0
        self.catch_up()
        if force:
            self.record = self.record.passed_over(self.now)
        after = super().compress(messages, current_tokens, focus_topic, force, memory_context)
        self.keep()
        return after

    def summarise(self, window: Window, middle: Middle) -> str:
        """The body of the summary, at most ``middle.room`` tokens. Raises Stays where there is to be none.

        An earlier summary may hold what no rule hid when it was written: it is masked anew.
        """
        middle = replace(middle, previous=self.services.mask(middle.previous))
        if not any(map(says_something, middle.originals)):
            return self.unchanged(middle)
        models = configured(self.services)
        if not models:
            return self.notes(middle)
        if window.reason != "manual" and self.cooling:
            return self.without_model(window, middle, Draft(middle.previous), cooling=True)
        focus = middle.focus or implicit_focus(window.messages, self.services.mask)
        try:
            written = self.summariser.write(Task(middle, focus, window.plan.memory), self.asked(models), self.record.windows)
        except SummaryFailed as failure:
            return self.failed(window, middle, failure)
        self.record = replace(self.record.succeeded(written.failed, self.now), windows=written.windows)
        if written.failed:
            first = written.failed[0]
            report = Report(note=RECOVERED, error=first.error, failed_model=first.model.name, answered_by=written.model.name)
            self.state = replace(self.state, report=report)
        return written.body

    def asked(self, models: Sequence[SummaryModel]) -> Sequence[SummaryModel]:
        """The models that are asked now, in this order; all of them where all were given up."""
        return self.record.of(models, self.now) or models

    def unchanged(self, middle: Middle) -> str:
        """The earlier summary as it is, in short where it outgrew its room: there is nothing new to tell."""
        if not middle.previous:
            raise Stays(Report())
        fits = clipped(middle.previous, middle.room, self.services.count.message) == middle.previous
        return middle.previous if fits else self.notes(middle)

    def failed(self, window: Window, middle: Middle, failure: SummaryFailed) -> str:
        """What stands for the middle after the last model failed too."""
        last = failure.failed[-1]
        self.record = replace(self.record, windows=failure.windows)
        if POLICY[last.kind].ends is Ending.NOTES:
            return self.notes(middle)
        self.record = self.record.failed(failure.failed, self.now)
        handed_over = failure.failed[0].model.name if len(failure.failed) > 1 else ""
        return self.without_model(window, middle, failure.draft, handed_over)

    def without_model(self, window: Window, middle: Middle, draft: Draft, handed_over: str = "", *, cooling: bool = False) -> str:
        """Notes for the turns that no model summarised, as ``POLICY`` has it. Raises Stays where the window is to stay.

        ``handed_over`` is the first model that failed where another one was asked after it.
        """
        trouble = self.record.trouble
        decision = decision_for(trouble.kind or Failure.OTHER, abort_on_failure=self.services.thresholds.abort_on_summary_failure)
        report = Report(error=trouble.error, failed_model=handed_over)
        if stays(decision.ends, past_window=self.is_past(window), cooling=cooling, attempts=trouble.attempts):
            raise Stays(replace(report, aborted=True))
        rest = middle.originals[draft.done :]
        self.state = replace(self.state, report=replace(report, fallback_used=True, dropped=len(rest), note=WHERE))
        return self.notes(replace(middle, originals=rest, previous=draft.body))

    def notes(self, middle: Middle) -> str:
        """The summary that needs no model."""
        count = self.services.count
        before = count.text(middle.previous)

        def fits(body: str) -> bool:
            size = count.text(body)
            return size <= middle.room and allows(size, map(count.message, middle.originals), before)

        return write_notes(
            middle.originals,
            previous=middle.previous,
            opening=middle.opening,
            later=middle.later,
            mask=self.services.mask,
            fits=fits,
        )

    def is_past(self, window: Window) -> bool:
        """Whether the request is larger than its model takes."""
        own = window.plan.spent(window.messages) + window.plan.tools
        return max(own, self.told) > self.limit

    def check_models(self) -> None:
        """Once: say which summary models are too small to take everything at once."""
        if not self.is_checked:
            self.is_checked = True
            for warning in small_models(configured(self.services), self.threshold_tokens):
                self.services.log.warning(warning)

    def why_idle(self, tokens: int) -> Idle | None:
        """As every engine; besides, a cooldown is waited for, and summaries that failed twice in a row end the automatic ones."""
        idle = super().why_idle(tokens)
        if idle is not None or self.no_summary() is None:
            return idle
        self.catch_up()
        return self.no_summary() if tokens <= self.limit or self.is_waiting else None

    @property
    def is_waiting(self) -> bool:
        """Whether nobody is asked now, and until then the window stays however large it is."""
        kind, strict = self.record.trouble.kind or Failure.OTHER, self.services.thresholds.abort_on_summary_failure
        return bool(self.cooling) and decision_for(kind, abort_on_failure=strict).ends is Ending.ABORT

    def no_summary(self) -> Idle | None:
        """Why no model is asked by itself now; None where one is, or none is configured."""
        return self.record.reason(self.state.effect.streak, self.now) if configured(self.services) else None

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """As every engine; a changed verdict on the last compactions is kept."""
        before = self.state.ineffective
        super().update_from_response(usage)
        if self.state.ineffective != before:
            self.keep()

    def update_model(
        self, model: str, context_length: int, base_url: str = "", api_key: str = "", provider: str = "", api_mode: str = ""
    ) -> None:
        """As every engine; with another model the failures of the earlier one are forgotten."""
        super().update_model(model, context_length, base_url, api_key, provider, api_mode)
        if model != self.model:
            self.model = model
            self.forget_failures()

    def on_session_reset(self) -> None:
        """Forget counters, failures and state of the session."""
        super().on_session_reset()
        self.forget_failures()

    def forget_failures(self) -> None:
        """No cooldown, no streak, and every model may be asked."""
        self.record = self.record.forgotten(self.now)
        self.state = replace(self.state, effect=replace(self.state.effect, streak=0))
        self.keep()

    def on_not_published(self, tokens: int | None) -> None:
        """As every engine; what was learnt of the models is kept."""
        super().on_not_published(tokens)
        self.keep()

    @property
    def now(self) -> float:
        """Seconds since the epoch."""
        return self.services.clock().timestamp()

    @property
    def cooling(self) -> float:
        """Seconds during which no model is asked, 0 where one may be."""
        return self.record.trouble.cooling(self.now)

    def catch_up(self) -> CompressorState:
        """Take up what another process learnt of the summary models since; gives what is stored."""
        stored = self.stored()
        if stored.trouble.changed > self.record.trouble.changed:
            self.record = replace(self.record, trouble=stored.trouble)
            self.state = replace(self.state, effect=replace(self.state.effect, streak=stored.streak))
        return stored

    def keep(self) -> None:
        """Keep what is to be known after a restart, if it changed; where that cannot be done, this process knows it all the same."""
        stored = self.catch_up()
        effect = self.state.effect
        counted = replace(
            stored,
            compactions=self.compression_count,
            ineffective=effect.ineffective,
            streak=effect.streak,
            left=effect.left,
            stays=effect.stays,
        )
        known = self.record.as_state(counted)
        with suppress(StoreError):
            if known != stored:
                self.services.state.save(known.as_json())

    def stored(self) -> CompressorState:
        """The document as it is stored; a fresh one where it cannot be read."""
        with suppress(StoreError):
            return CompressorState.from_json(self.services.state.load())
        return CompressorState()


def says_something(message: Message) -> bool:
    """Whether a summary could say anything of a message: words, calls, a picture."""
    return has_words(message) or bool(calls_of(message)) or has_image(message)
