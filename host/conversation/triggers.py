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

    def rough_or_estimate(self) -> int:
        """The same, without a look at what was counted before where that cannot matter."""


Tokens = Callable[[Gauged], int]


@dataclass(frozen=True)
class Trigger:
    """One occasion. ``passes``: how often in a row, as long as each makes progress.

    ``force``: the user wants it, whatever stands against it. ``refused``: the model did not take the window, whatever it is
    counted for. ``counted``: among the attempts to shorten one request. ``in_place``: the session goes on, whatever is configured.
    """

    name: str
    when: str
    counts: str
    tokens: Tokens
    passes: int = 1
    force: bool = False
    refused: bool = False
    counted: bool = False
    in_place: bool = False


def sized(conversation: Gauged) -> int:
    """The calibrated estimate of the request about to be sent, a rough one while it is small."""
    return conversation.rough_or_estimate()


def estimated(conversation: Gauged) -> int:
    """The calibrated estimate of the request about to be sent."""
    return conversation.estimate()


def reported(conversation: Gauged) -> int:
    """The provider's prompt tokens; 0 right after a compaction, the estimate where no usage ever came."""
    last = conversation.last_prompt
    if last < 0:
        return 0
    return last or conversation.estimate()


def stored(conversation: Gauged) -> int:
    """The provider's prompt tokens, else the estimate."""
    last = conversation.last_prompt
    return last if last > 0 else conversation.estimate()


HYGIENE = Trigger(
    "hygiene",
    "before the agent of a gateway wakes",
    "prompt tokens the provider reported, else the estimate; messages",
    stored,
    in_place=True,
)
PREFLIGHT = Trigger(
    "preflight", "before every model call", "calibrated estimate of system, messages and tools", sized, passes=3, counted=True
)
POST_RESPONSE = Trigger("post-response", "when the results of a reply's tool calls are in", "prompt tokens the provider reported", reported)
REFUSAL = Trigger("refusal", "when the model refuses a window as too long", "not asked", estimated, refused=True, counted=True)
MANUAL = Trigger("manual", "when the user asks", "not asked", estimated, force=True)

TRIGGERS: tuple[Trigger, ...] = (HYGIENE, PREFLIGHT, POST_RESPONSE, REFUSAL, MANUAL)
"""All occasions, in the order of a turn."""
