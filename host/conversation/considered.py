"""Whether a compaction is due, and why it is not."""

from __future__ import annotations

from host.conversation.engine_door import EngineDoor
from host.conversation.triggers import POST_RESPONSE, PREFLIGHT, Gauged, Trigger
from host.engine.idle import Idle, Reason

ATTEMPTS = 3  # to shorten a request between two answers, before it is sent and after it was refused (hermes.md 3.4)
TRIED_OFTEN = "the window was shortened {} times since the last answer"
NO_COUNT = "the provider has not counted a window since the last compaction"
ESTIMATED = "about {:,} tokens are an estimate; the provider's next count decides"


def why_not(door: EngineDoor, trigger: Trigger, conversation: Gauged, *, automatic: bool, limit: int, first: bool) -> Idle | None:
    """Why an automatic trigger compacts nothing now; None: it does.

    ``limit`` are the tokens that the model takes. An engine may have the first estimate before a call wait for the provider's own
    count, as long as the request fits by it (hermes.md 4.5).
    """
    if not automatic:
        return Idle(Reason.DISABLED, "compression.enabled is false")
    if conversation.calls_wait:
        return Idle(Reason.CALLS_WAIT)
    tokens = trigger.tokens(conversation)
    idle = door.why_idle(tokens, limit)
    if idle is not None:
        unknown = trigger is POST_RESPONSE and idle.reason is Reason.BELOW_THRESHOLD and conversation.last_prompt < 0
        return Idle(Reason.WAITING_FOR_USAGE, NO_COUNT) if unknown else idle
    if first and trigger is PREFLIGHT and tokens <= limit and door.waits_for_usage(tokens):
        return Idle(Reason.WAITING_FOR_USAGE, ESTIMATED.format(tokens))
    return None


def is_worth_measuring(messages: int, rough: int, *, protected: int, threshold: int) -> bool:
    """Whether a window may be due at all: it has more messages than are protected anyway, or is large by its rough size (hermes.md 3.1)."""
    return messages > protected + 1 or rough >= threshold
