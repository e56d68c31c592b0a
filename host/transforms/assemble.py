"""Phase 4: head, handoff, tail become one legal list again (seed 4, phase 4; hermes.md 5.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from host.messages.reading import is_system
from host.messages.types import Message
from host.transforms.boundary import Cut
from host.transforms.handoff import merged_in_front, with_note
from host.transforms.media import strip_historical_media
from host.transforms.plan import Plan
from host.transforms.sanitize import repair_pairs

BRIDGE = {"user": "(continued)", "assistant": "Understood."}
"""Text of a turn that keeps roles apart where a pinned message must not take the summary in."""


@dataclass(frozen=True)
class Seat:
    """The role of the handoff, and whether it has to share the first tail message."""

    role: str
    merged: bool


def choose_seat(last_head: str, first_tail: str, *, user_survives: bool) -> Seat:
    """Role of the handoff between its neighbours ("none": there is no such neighbour).

    No two equal roles meet, and the first message after the system prompt is the user's.
    """
    leads = last_head in ("none", "system")
    must_be_user = leads or not user_survives
    preferred = "user" if must_be_user or last_head in ("assistant", "tool") else "assistant"
    if preferred != first_tail:
        return Seat(preferred, merged=False)
    flipped = "assistant" if preferred == "user" else "user"
    if flipped != last_head and not must_be_user:
        return Seat(flipped, merged=False)
    return Seat(preferred, merged=True)


def seat_between(head: Sequence[Message], tail: Sequence[Message]) -> Seat:
    """The seat of a handoff between these; system messages are no neighbours, a prompt alone leads."""
    spoken = [m.get("role", "") for m in head if not is_system(m)]
    answered = (m.get("role", "") for m in tail if not is_system(m))
    survives = any(m.get("role") == "user" for m in (*head, *tail))
    return choose_seat(spoken[-1] if spoken else ("system" if head else "none"), next(answered, "none"), user_survives=survives)


def assemble(messages: Sequence[Message], cut: Cut, handoff: str, plan: Plan, *, note: bool = True) -> list[Message]:
    """The compacted list; all but the system prompt and a merge target are the objects that came in."""
    head = list(messages[: cut.start])
    if note and head and is_system(head[0]):
        head[0] = with_note(head[0])
    lifted = [] if cut.lifted is None else [messages[cut.lifted]]
    return _finish([*head, *_seated(head, [*lifted, *messages[cut.end :]], handoff, plan)])


def _seated(head: list[Message], tail: list[Message], handoff: str, plan: Plan) -> list[Message]:
    if not handoff:
        return tail
    first = next((i for i, m in enumerate(tail) if not is_system(m)), len(tail))
    seat = seat_between(head, tail)
    alone: Message = {"role": seat.role, "content": handoff}
    if not seat.merged:
        return [alone, *tail]
    if plan.is_pinned(tail[first]):
        other = "assistant" if seat.role == "user" else "user"
        bridge: Message = {"role": other, "content": BRIDGE[other]}
        return [alone, bridge, *tail] if not head or seat.role != head[-1].get("role") else [bridge, alone, *tail]
    return [*tail[:first], merged_in_front(handoff, tail[first]), *tail[first + 1 :]]


Finish = Callable[[list[Message]], list[Message]]
FINISH: tuple[Finish, ...] = (repair_pairs, strip_historical_media)
"""What every compacted list goes through last; each step changes nothing the second time."""


def _finish(messages: list[Message]) -> list[Message]:
    for step in FINISH:
        messages = step(messages)
    return messages
