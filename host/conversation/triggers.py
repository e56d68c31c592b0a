"""When a compaction is considered (seed 3, hermes.md 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class Gauged(Protocol):
    """What a trigger may look at."""

    @property
    def last_prompt(self) -> int:
        """The provider's last prompt tokens as the engine took them."""

    @property
    def calls_wait(self) -> bool:
        """Whether calls have no result yet."""

    def estimate(self) -> int:
        """Tokens of the next request, calibrated on real usage."""


Tokens = Callable[[Gauged], int]


@dataclass(frozen=True)
class Trigger:
    """One occasion. ``passes``: how often in a row, as long as each makes progress.

    ``force``: the user wants it, whatever stands against it. ``refused``: the model did not take the window, whatever it is
    counted for.
    """

    name: str
    when: str
    counts: str
    tokens: Tokens
    passes: int = 1
    force: bool = False
    refused: bool = False


def estimated(conversation: Gauged) -> int:
    """The calibrated estimate of the request about to be sent."""
    return conversation.estimate()


def reported(conversation: Gauged) -> int:
    """The provider's prompt tokens; 0 right after a compaction, the estimate where no usage ever came."""
    last = conversation.last_prompt
    if last < 0:
        return 0
    return last or conversation.estimate()


PREFLIGHT = Trigger("preflight", "before every model call", "calibrated estimate of system, messages and tools", estimated, passes=3)
POST_RESPONSE = Trigger("post-response", "when the results of a reply's tool calls are in", "prompt tokens the provider reported", reported)
REFUSAL = Trigger("refusal", "when the model refuses a window as too long", "not asked", estimated, refused=True)
MANUAL = Trigger("manual", "when the user asks", "not asked", estimated, force=True)

TRIGGERS: tuple[Trigger, ...] = (PREFLIGHT, POST_RESPONSE, REFUSAL, MANUAL)
"""All occasions, in the order of a turn."""
