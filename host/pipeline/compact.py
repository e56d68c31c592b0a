"""The four phases as one corridor: prune > cut > summarise > assemble (seed 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import is_

from host.messages.types import Message
from host.transforms.assemble import assemble
from host.transforms.boundary import TAIL_FLOOR_MAX, Cut, choose_cut, kept_tokens
from host.transforms.handoff import handoff_body, handoff_text, is_handoff, split_merged
from host.transforms.plan import Cost, Plan
from host.transforms.prune import prune

WINDOW_SHARE = 0.97  # of the window: what the estimate may be off
LEAST_BODY = 48  # tokens; a shorter summary says nothing that its frame is worth


@dataclass(frozen=True)
class Middle:
    """What a summary is made of."""

    turns: list[Message]  # old tool results as one line each
    originals: list[Message]  # the same turns as they were
    previous: str  # the body of the summary that this one takes up, empty at first
    room: int  # tokens that the summary may take
    focus: str | None = None


@dataclass(frozen=True)
class Compacted:
    """The new list, and where the old one was cut; ``cut`` None: there was nothing to compact, the list is as it was."""

    messages: list[Message]
    cut: Cut | None = None
    body: str = ""

    @property
    def dropped(self) -> int:
        """Messages that are in the summary only."""
        return 0 if self.cut is None else self.cut.end - self.cut.start - (self.cut.lifted is not None)


Summarise = Callable[[Middle], str]


def compact(messages: list[Message], plan: Plan, summarise: Summarise) -> Compacted:
    """One compaction. The input is not touched; what is kept is the same objects, in the same order."""
    opened = [part for message in messages for part in split_merged(message)]
    pruned = prune(opened, cost=plan.cost, protect_last=min(plan.protect_last_n, TAIL_FLOOR_MAX), tail_budget=plan.tail).messages
    cut = choose_cut(pruned, plan)
    middle = middle_of(pruned, opened, cut, plan)
    if not middle.turns and all(map(is_, pruned, opened)):
        return Compacted(messages)
    frame = choose_frame(kept_tokens(pruned, cut, plan), plan)
    body = body_for(replace(middle, room=frame.room), summarise, plan.cost) if frame.handoff else ""
    handoff = handoff_text(body, short=frame.short) if frame.handoff and (body or middle.turns) else ""
    return Compacted(assemble(pruned, cut, handoff, plan, note=frame.note), cut, body)


def body_for(middle: Middle, summarise: Summarise, cost: Cost) -> str:
    """The summary, cut to its room; where only shorter tool results are new, the earlier one."""
    return clipped(summarise(middle) if middle.turns else middle.previous, middle.room, cost)


def clipped(body: str, room: int, cost: Cost) -> str:
    """A body of at most ``room`` tokens: its end goes."""
    while body and cost({"role": "user", "content": body}) > room:
        body = body[: len(body) * 4 // 5].rstrip()
    return body


def middle_of(pruned: Sequence[Message], opened: Sequence[Message], cut: Cut, plan: Plan) -> Middle:
    """The turns between head and tail; earlier handoffs among them are the previous summary, oldest first."""
    turns, originals, bodies = [], [], []
    for short, full in zip(cut.middle(pruned), cut.middle(opened), strict=True):
        if is_handoff(full):
            bodies.append(handoff_body(full))
        else:
            turns.append(short)
            originals.append(full)
    return Middle(turns, originals, "\n\n".join(filter(None, bodies)), plan.summary, plan.focus)


@dataclass(frozen=True)
class Frame:
    """How much of a handoff fits beside what is kept: all of it, a short one, or none."""

    handoff: bool
    short: bool
    note: bool
    room: int  # tokens for the body


def choose_frame(kept: int, plan: Plan) -> Frame:
    """The fullest frame that leaves a body room; ``kept`` counts the note already.

    It has to stay under the threshold. Where what is kept is over that already, a short frame may still fit the window.
    """
    if plan.threshold is None:
        return Frame(True, False, True, plan.summary)
    short = plan.cost({"role": "user", "content": handoff_text("", short=True)})
    bare = kept - plan.note
    tries = [(plan.threshold - kept, plan.frame, True), (plan.threshold - kept, short, True), (plan.threshold - bare, short, False)]
    if plan.window is not None and bare > plan.threshold:
        tries.append((int(plan.window * WINDOW_SHARE) - bare, short, False))
    for left, frame, note in tries:
        if left - frame >= LEAST_BODY:
            return Frame(True, frame is short, note, min(plan.summary, left - frame))
    return Frame(False, True, False, 0)
