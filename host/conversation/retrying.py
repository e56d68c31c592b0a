"""What to do after a model refused a window."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Retry:
    """Take the window again and send it, after ``wait`` seconds. True where a bool is wanted.

    ``max_tokens`` caps the answer of this one request; None: as before. ``stays``: it is the model's own cap, on every answer.
    """

    why: str
    wait: float = 0.0
    max_tokens: int | None = None
    stays: bool = False

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class GiveUp:
    """Sending it again would not help; raise the error. False where a bool is wanted.

    ``advice``: what the user can do, where it is known what the refusal is about; empty where only the error itself can tell.
    """

    why: str
    advice: str = ""

    def __bool__(self) -> bool:
        return False
