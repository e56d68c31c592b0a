"""The built-in engine ``compressor``: prune, cut, summarise, reassemble."""

from __future__ import annotations

from dataclasses import replace

from host.compressor.notes import write_notes
from host.compressor.template import summary_prompt
from host.engine.engine import Engine
from host.engine.report import Report
from host.engine.window import Window
from host.errors import ProviderError
from host.messages.types import Message
from host.pipeline.compact import Middle, compact
from host.tokens import summary_budget


class Compressor(Engine[None]):
    """Summarises the middle: with a model where one is configured, else from the text itself."""

    name = "compressor"
    leaves_input_alone = True

    def compact(self, window: Window) -> list[Message]:
        """One walk through the corridor, which cuts again once old tool results are short."""
        return compact(list(window.messages), window.plan, self.summarise)

    def summarise(self, middle: Middle) -> str:
        """The body of the summary, at most ``middle.room`` tokens."""
        if self.services.ask is None or not middle.originals:
            return self.notes(middle)
        try:
            return self.asked(middle)
        except ProviderError as error:
            self.state = replace(self.state, report=Report(fallback_used=True, dropped=len(middle.originals), note=error.what))
            self.services.log.warning("Compression summary failed: %s. Inserted a summary made without a model.", error.what)
            return self.notes(middle)

    def asked(self, middle: Middle) -> str:
        """The model's summary."""
        budget = summary_budget(self.services.count.messages(middle.turns), middle.room)
        today = self.services.clock().date()
        prompt = summary_prompt(
            middle.turns, previous=middle.previous, budget=budget, today=today, focus=middle.focus, mask=self.services.mask
        )
        return self.services.mask(self.ask(prompt)).strip()

    def notes(self, middle: Middle) -> str:
        """The summary that needs no model."""
        return write_notes(
            middle.originals,
            previous=middle.previous,
            opening=middle.opening,
            mask=self.services.mask,
            fits=lambda body: self.services.count.text(body) <= middle.room,
        )
