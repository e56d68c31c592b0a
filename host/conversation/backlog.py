"""Messages that were accepted while the archive could not be written."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime

from host.errors import Forgotten, NotStorable, StoreUnavailable
from host.messages.canonical import canonical
from host.messages.types import Message
from host.store.protocols import Archive

RETRY_SECONDS = 1.0  # between two tries
PAUSES = 5  # times as long as the last try took


class Backlog:
    """They wait in order, and are written in order as soon as it goes again."""

    def __init__(self, archive: Archive, warn: Callable[[str], None]) -> None:
        self._archive = archive
        self._warn = warn
        self._waiting: deque[tuple[Message, datetime]] = deque()
        self._next_try = 0.0

    def __len__(self) -> int:
        return len(self._waiting)

    def messages(self) -> list[Message]:
        """Those that wait, oldest first; the very objects."""
        return [message for message, _ in self._waiting]

    def wait(self, message: Message, said: datetime | None, error: StoreUnavailable | None = None) -> None:
        """Take a message; NotStorable for one that could never be written."""
        try:
            canonical(message)
        except (TypeError, ValueError, RecursionError) as unstorable:
            raise NotStorable(str(unstorable)) from unstorable
        if error is not None:
            self._warn(f"messages are not archived now and are kept as soon as it goes again: {error.what}")
            self._next_try = time.monotonic() + RETRY_SECONDS
        self._waiting.append((message, said or datetime.now(UTC)))

    def replace(self, old: Message, new: Message) -> None:
        """One that waits was told anew before it could be written."""
        self._waiting = deque((new if message is old else message, said) for message, said in self._waiting)

    def written(self, *, now: bool = False) -> int:
        """Write what can be written, and say how many that was; without ``now`` not more often than once a second."""
        if not self._waiting or (time.monotonic() < self._next_try and not now):
            return 0
        done, started = 0, time.monotonic()
        while self._waiting:
            message, said = self._waiting[0]
            try:
                self._archive.append(message, time=said)
            except StoreUnavailable:
                tried = time.monotonic() - started  # a file that another program holds locked is waited for, but not every turn
                self._next_try = time.monotonic() + max(RETRY_SECONDS, PAUSES * tried)
                break
            except (NotStorable, Forgotten) as error:
                self._warn(str(error))
            self._waiting.popleft()
            done += 1
        if done:
            self._warn(f"the archive can be written again: {done} messages that waited are kept")
        return done
