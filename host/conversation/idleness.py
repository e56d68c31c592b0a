"""Why the conversation was not compacted when that was last considered, for whoever asks, in other processes too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from host.conversation.wording import SKIPPED
from host.engine.idle import Idle, Reason
from host.engine.services import State
from host.errors import StoreError


class Idleness:
    """The newest reason. It is written down when its kind changes, so that a turn costs no transaction; None after a compaction."""

    def __init__(self, kept: State | None, warn: Callable[[str], None]) -> None:
        self._kept = kept
        self._warn = warn
        self._written: list[Idle | None] = []  # the newest that was; empty in the beginning, when nobody knows what is kept
        self.current: Idle | None = None
        self._has_compacted = False  # since ``begin``

    def begin(self) -> None:
        """The first of the passes in which a compaction is considered on one occasion."""
        self._has_compacted = False

    def note(self, idle: Idle | None) -> None:
        """A compaction was considered: why it did not happen, None where it did; what ends the passes after that is no reason."""
        if idle is not None and self._has_compacted:
            return
        self.current, self._has_compacted = idle, idle is None
        if idle is not None and idle.reason in SKIPPED:
            self._warn(SKIPPED[idle.reason].format(f": {idle.detail}" if idle.detail else ""))
        if [idle and idle.reason] != [old and old.reason for old in self._written]:
            self.write()

    def write(self) -> None:
        """Keep the reason with its newest figures; where that fails it is not kept, and nothing else is the worse for it."""
        if self._kept is None or self._written == [self.current]:
            return
        self._written = [self.current]
        with suppress(StoreError):
            others = {name: note for name, note in self._kept.load().items() if name != "idle"}
            self._kept.save(others | as_document(self.current, datetime.now(UTC)))


@dataclass(frozen=True)
class KeptIdle:
    """A reason as it was kept, and when."""

    idle: Idle
    since: datetime | None


def as_document(idle: Idle | None, now: datetime) -> dict[str, object]:
    """The host's note of it; empty right after a compaction."""
    return {} if idle is None else {"idle": {"reason": idle.reason.name, "detail": idle.detail, "since": now.isoformat()}}


def idle_of(document: dict[str, object]) -> KeptIdle | None:
    """The reason in the host's document; None where it has none, or one that a newer version wrote."""
    kept = document.get("idle")
    if not isinstance(kept, dict) or str(kept.get("reason")) not in Reason.__members__:
        return None
    idle = Idle(Reason[str(kept["reason"])], str(kept.get("detail") or ""))
    try:
        return KeptIdle(idle, datetime.fromisoformat(str(kept.get("since"))))
    except ValueError:
        return KeptIdle(idle, None)
