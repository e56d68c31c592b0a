"""What became of one compaction, as the host saw it."""

from __future__ import annotations

from dataclasses import dataclass, field

from host.engine.idle import Reason
from host.engine.report import Report


@dataclass(frozen=True)
class Outcome:
    """Sizes before and after in tokens and messages. ``refused`` says why the old window stayed, None where it did not."""

    trigger: str
    before: int
    after: int
    messages_before: int
    messages_after: int
    row: int = 0  # the newest row of the archive at that moment
    kept: int = 0  # messages that are the same as before
    seconds: float = 0.0
    refused: str | None = None
    reason: Reason | None = None  # the kind of ``refused``
    report: Report = field(default_factory=Report)  # the engine's own word

    @property
    def saved(self) -> int:
        """Tokens that left the window."""
        return self.before - self.after

    @property
    def progressed(self) -> bool:
        """Fewer messages, or at least 5 % fewer tokens (hermes.md 3.5)."""
        return self.refused is None and (self.messages_after < self.messages_before or self.after < 0.95 * self.before)

    def as_json(self) -> dict[str, str | int | float]:
        """The figures of a compaction for a script."""
        return {
            "trigger": self.trigger,
            "row": self.row,
            "tokens_before": self.before,
            "tokens_after": self.after,
            "messages_before": self.messages_before,
            "messages_after": self.messages_after,
            "kept": self.kept,
            "seconds": round(self.seconds, 4),
        }
