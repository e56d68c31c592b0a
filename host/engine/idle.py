"""Why a compaction did not happen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Every reason there is; the text is what the user reads."""

    DISABLED = "disabled"
    BELOW_THRESHOLD = "below threshold"
    WAITING_FOR_USAGE = "waiting for real usage"
    COOLDOWN = "cooldown"
    INEFFECTIVE = "ineffective"
    SUMMARIES_FAILED = "summaries failed"
    NOTHING_TO_COMPRESS = "nothing to compress"
    ABORTED = "aborted"
    CALLS_WAIT = "tool calls wait for their results"
    DECLINED = "declined by the engine"
    NOT_FOLLOWED = "the engine was not followed"
    NOT_NOW = "not possible now"


@dataclass(frozen=True)
class Idle:
    """The reason, with the figures or the error behind it in ``detail``."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else str(self.reason)
