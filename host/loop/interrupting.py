"""Stopping a turn: from the keyboard, or from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

GLANCE = 0.05  # seconds between two looks at whether the turn is to stop while a tool works


class Stopped(KeyboardInterrupt):
    """Another thread wants the turn to end; it passes wherever an interrupt from the keyboard passes."""


class Abandoned(Exception):
    """A tool did not answer in time; its thread goes on, and nobody waits for it."""


class Stop:
    """The wish of another thread that the turn ends; ``check`` and everything that waits raise Stopped once it is there."""

    def __init__(self) -> None:
        self._wish = threading.Event()

    def wish(self) -> None:
        """End the turn at its next step."""
        self._wish.set()

    def forget(self) -> None:
        """What was wished is done, or came when no turn ran."""
        self._wish.clear()

    def check(self) -> None:
        """Raise Stopped where somebody wants the turn to end."""
        if self._wish.is_set():
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        if self._wish.wait(seconds):
            raise Stopped

    def answer_of(self, work: Callable[[], T], seconds: float) -> T:
        """What a work that may hang gives back or raises, from a thread of its own; Abandoned after so many seconds."""
        answers: SimpleQueue[T | _Raised] = SimpleQueue()
        threading.Thread(target=_answered, args=(work, answers), name="ctxhost tool", daemon=True).start()
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            self.check()
            try:
                answer = answers.get(timeout=min(left, GLANCE))
            except Empty:
                continue
            if isinstance(answer, _Raised):
                raise answer.error
            return answer
        raise Abandoned


@dataclass(frozen=True)
class _Raised:
    error: BaseException


def _answered(work: Callable[[], T], answers: SimpleQueue[T | _Raised]) -> None:
    try:
        answers.put(work())
    except BaseException as error:  # noqa: BLE001  the thread's end: whoever waits raises it
        answers.put(_Raised(error))
