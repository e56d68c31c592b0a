"""How the last compaction went, read off what the engine kept: another process made it, and may have been told to wait."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from host.cli.store_text import local
from host.compressor.state import CompressorState
from host.conversation.wording import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.messages.types import JSON
    from host.store.protocols import Store
    from host.store.values import Published

ENGINE = "compressor"  # the engine whose document this is; what others keep is theirs


@dataclass(frozen=True)
class FailedSummary:
    """A compaction for which no model wrote a summary, the newest one. ``version`` is the window with notes in its place."""

    failure: str
    error: str
    time: datetime
    attempts: int  # failed in a row
    pause: int  # seconds during which no model is asked, but by hand
    version: int | None = None  # None: the window stayed as it was

    def words(self) -> str:
        """For people."""
        end = "aborted, the window stayed as it was" if self.version is None else f"with fallback, notes stand in version {self.version}"
        why = self.failure if not self.error else f"{self.failure}: {shown(self.error)}"
        pause = f"; no model is asked for another {self.pause:,} s, but by hand" if self.pause else ""
        return f"{local(self.time)}: {end} ({why}){pause}"

    def as_json(self) -> JSON:
        """For scripts; the pause is in seconds."""
        return {
            "outcome": "aborted" if self.version is None else "fallback",
            "failure": self.failure,
            "error": shown(self.error),
            "time": self.time.isoformat(),
            "attempts": self.attempts,
            "pause": self.pause,
            "version": self.version,
        }


def failed_summary(store: Store, conversation: str, versions: Sequence[Published], now: datetime | None = None) -> FailedSummary | None:
    """How the last compaction failed; None where it did not, or where another engine made it."""
    trouble = CompressorState.from_json(store.state(conversation, ENGINE).load()).trouble
    if trouble.kind is None:
        return None
    moment = datetime.fromtimestamp(trouble.changed, UTC)
    made = [version.version for version in versions if version.engine == ENGINE and version.undoes is None and version.time >= moment]
    left = trouble.cooling((now or datetime.now(UTC)).timestamp())
    return FailedSummary(trouble.kind.value, trouble.error, moment, trouble.attempts, math.ceil(left), made[-1] if made else None)
