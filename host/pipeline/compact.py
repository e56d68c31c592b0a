"""The four phases as one corridor: prune > cut > summarise > assemble (seed 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import is_

from host.messages.reading import last_index, text_of
from host.messages.types import Message
from host.transforms.assemble import assemble
from host.transforms.boundary import TAIL_FLOOR_MAX, Cut, choose_cut, kept_tokens
from host.transforms.bridges import is_bridge
from host.transforms.handoff import handoff_body, handoff_text, is_handoff, opened
from host.transforms.plan import Cost, Plan
from host.transforms.prune import prune

WINDOW_SHARE = 0.97  # of the window: what the estimate may be off
LEAST_BODY = 48  # tokens; a shorter summary says nothing that its frame is worth


@dataclass(frozen=True)
class Middle:
    """What a summary is made of. Without turns there is only an earlier summary, to be shortened."""

    originals: list[Message]  # the turns as they were
    shortened: Callable[[], list[Message]]  # the same with old tool results as one line each, made when asked for
    previous: str  # the body of the summary that this one takes up, empty at first
    room: int  # tokens that the summary may take
    focus: str | None = None
    opening: str = ""  # what the user began the conversation with
    later: Sequence[Message] = ()  # the turns that stay behind the summary

    @property
    def turns(self) -> list[Message]:
        """The turns with old tool results as one line each."""
        return self.shortened()


Summarise = Callable[[Middle], str]


def compact(messages: list[Message], plan: Plan, summarise: Summarise) -> list[Message]:
    """One compaction. The input is not touched; what is kept is the same objects, in the same order.

    The same list comes back where there is nothing to compact.
    """
    full = opened(messages)
    pinned = plan.pinned(full)
    floor = min(plan.protect_last_n, TAIL_FLOOR_MAX)
    pruned = prune(full, cost=plan.cost, protect_last=floor, tail_budget=plan.tail, pinned=pinned, mask=plan.mask)
    newest = last_index(full, is_handoff)
    cut = choose_cut(pruned, plan, newest, pinned)
    middle = middle_of(pruned, full, cut, plan, newest)
    if not middle.originals and all(map(is_, pruned, full)) and fits_already(full, plan):
        return messages
    frame = choose_frame(kept_tokens(pruned, cut, plan), plan)
    body = clipped(summarise(replace(middle, room=frame.room)), frame.room, plan.cost) if frame.handoff else ""
    handoff = handoff_text(body, short=frame.short) if frame.handoff and (body or middle.originals) else ""
    return assemble(pruned, cut, handoff, plan, note=frame.note)


def fits_already(messages: list[Message], plan: Plan) -> bool:
    """Whether the list is under the threshold as it is, with the note that it may carry."""
    return plan.threshold is None or plan.tools + plan.note + plan.spent(messages) <= plan.threshold


def clipped(body: str, room: int, cost: Cost) -> str:
    """A body of at most ``room`` tokens: its end goes."""
    while body and cost({"role": "user", "content": body}) > room:
        body = body[: len(body) * 4 // 5].rstrip()
    return body


def middle_of(pruned: Sequence[Message], full: Sequence[Message], cut: Cut, plan: Plan, newest: int) -> Middle:
    """The turns between head and tail; earlier handoffs among them, up to ``newest``, are the previous summary, oldest first.

    Pinned turns among the others are read too, since what was said around them is not understood without them; but no
    summary covers them. Those right behind the previous summary were read for it: it is not told of them again. Without a
    turn that leaves there is nothing to tell.
    """
    indices = [i for i in range(cut.start, cut.end) if i != cut.lifted]
    earlier = {i for i in indices if i <= newest and is_handoff(full[i])}
    turns = [i for i in indices if i not in earlier and not is_bridge(full[i])]
    read_before = {*takewhile(lambda i: i in cut.pinned, (i for i in turns if i > newest))} if earlier else ()
    kept = [i for i in turns if i not in read_before] if any(i not in cut.pinned for i in turns) else []
    bodies = [handoff_body(full[i]) for i in sorted(earlier)]
    return Middle(
        originals=[full[i] for i in kept],
        shortened=lambda: [pruned[i] for i in kept],
        previous="\n\n".join(filter(None, bodies)),
        room=plan.summary,
        focus=plan.focus,
        opening=next((text_of(m) for m in full if m.get("role") == "user" and not is_handoff(m)), ""),
        later=full[cut.end :],
    )


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
    tries = [
        Frame(True, False, True, plan.threshold - kept - plan.frame),
        Frame(True, True, True, plan.threshold - kept - short),
        Frame(True, True, False, plan.threshold - bare - short),
    ]
    if plan.window is not None and bare > plan.threshold:
        tries.append(Frame(True, True, False, int(plan.window * WINDOW_SHARE) - bare - short))
    fitting = next((frame for frame in tries if frame.room >= LEAST_BODY), Frame(False, True, False, 0))
    return replace(fitting, room=min(plan.summary, fitting.room))
