"""An order to end (SIGTERM) that a turn obeys as it obeys Ctrl-C: what was said so far is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

TERMINATED = 128 + signal.SIGTERM


@dataclass
class Order:
    """Whether the order has come."""

    came: bool = False


class Terminated(KeyboardInterrupt):
    """Passes wherever an interrupt from the keyboard passes."""


@contextmanager
def obeyed() -> Iterator[Order]:
    """Turn the first order into an interrupt; a second one ends the process as ever."""
    order = Order()
    if threading.current_thread() is not threading.main_thread():
        yield order
        return

    def come(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        order.came = True
        raise Terminated

    before = signal.signal(signal.SIGTERM, come)
    try:
        yield order
    finally:
        signal.signal(signal.SIGTERM, before)
