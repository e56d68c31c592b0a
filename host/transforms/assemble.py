"""Phase 4: head, handoff, tail become one legal list again (seed 4, phase 4; hermes.md 5.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from host.messages.reading import is_system
from host.messages.types import Message
from host.transforms.boundary import Cut
from host.transforms.bridges import bridge, with_bridges
from host.transforms.handoff import merged_in_front, with_note
from host.transforms.media import strip_historical_media
from host.transforms.plan import Plan
from host.transforms.sanitize import repair_pairs


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
    return _finish([*head, *_seated(head, cut.behind(messages), handoff, plan)], plan)


def _seated(head: list[Message], behind: list[Message], handoff: str, plan: Plan) -> list[Message]:
    first = next((i for i, m in enumerate(behind) if not is_system(m)), len(behind))
    is_pinned = first in plan.pinned(behind)
    if not handoff:
        return with_bridges([*head, *behind], {len(head) + first} if is_pinned else ())[len(head) :]
    seat = seat_between(head, behind)
    alone: Message = {"role": seat.role, "content": handoff}
    if not seat.merged:
        return [alone, *behind]
    if is_pinned:
        return [alone, bridge(seat.role), *behind]
    return [*behind[:first], merged_in_front(handoff, behind[first]), *behind[first + 1 :]]


Finish = Callable[[list[Message], Sequence[Message]], list[Message]]


def whole_pairs(messages: list[Message], pins: Sequence[Message] = ()) -> list[Message]:
    """Calls and results in pairs; those of a pinned message are whole and stay."""
    return repair_pairs(messages)


FINISH: tuple[Finish, ...] = (whole_pairs, strip_historical_media)
"""What every compacted list goes through last, with the messages of it that stay as they are; done twice is done once."""


def _finish(messages: list[Message], plan: Plan) -> list[Message]:
    for step in FINISH:
        messages = step(messages, [messages[i] for i in plan.pinned(messages)])
    return messages
