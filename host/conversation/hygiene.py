"""A conversation is made to fit before the agent wakes (hermes.md 13)."""

from __future__ import annotations

from host.conversation.current import Current
from host.conversation.engine_door import EngineDoor
from host.conversation.manual import LEAST_MESSAGES
from host.conversation.shelf import Shelf
from host.conversation.triggers import HYGIENE
from host.conversation.verdict import Wish
from host.engine.idle import Idle, Reason
from host.engine.outcome import Outcome
from host.messages.reading import is_system

FULL = 0.85  # of the window
GROWN = 1.10  # times the messages that a round left above the limit, before the next one for their number


class Hygiene:
    """At most one compaction a time, in place; an engine's pause counts as long as the model still takes the window."""

    def __init__(self, current: Current, door: EngineDoor, shelf: Shelf) -> None:
        self._current = current
        self._door = door
        self._shelf = shelf
        self._left: int | None = None  # messages that the last round left; None: not looked up yet

    def run(self, limit_messages: int) -> Outcome | None:
        """Compact where 85 % of the window or the number of messages is reached; None where nothing was tried."""
        current = self._current
        if not current.automatic or current.calls_wait or sum(not is_system(message) for message in current.messages) < LEAST_MESSAGES:
            return None
        if not self._is_due_by_number(limit_messages) and not self._is_due_by_size():
            return None
        outcome = current.compacted(Wish(HYGIENE))
        self._left = outcome.messages_after
        return outcome

    def _is_due_by_size(self) -> bool:
        tokens, window = HYGIENE.tokens(self._current), self._current.services.facts.usable
        if tokens < int(window * FULL):
            return False
        idle = self._door.why_idle(tokens, window) if tokens <= self._current.limit else None
        if idle is None or idle.reason is Reason.BELOW_THRESHOLD:
            return True
        self._current.rest(Idle(idle.reason, idle.detail))
        return False

    def _is_due_by_number(self, limit: int) -> bool:
        number = len(self._current.messages)
        if number < limit:
            return False
        if self._left is None:
            self._left = self._left_by_the_last_one()
        return self._left < limit or number >= self._left * GROWN

    def _left_by_the_last_one(self) -> int:
        """Messages of the newest view where hygiene made it, in another process perhaps; 0 where it did not."""
        published = self._shelf.views.current() if self._shelf.views is not None else None
        return len(published.ledger) if published is not None and published.trigger == HYGIENE.name else 0
