"""Phase 2: where the head ends and the tail begins (seed 5, hermes.md 6, design: Rules of the window)."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from host.messages.reading import calls_of, has_words, is_system, last_index
from host.messages.types import Message
from host.tokens.budgets import SOFT_CEILING_RATIO
from host.transforms.bridges import is_bridge, with_bridges
from host.transforms.handoff import is_handoff
from host.transforms.plan import Cost, Plan

TAIL_FLOOR_MIN = 3  # messages
TAIL_FLOOR_MAX = 8  # more could hold a whole run of large tool outputs
HEAD_SHARE = 0.25  # of the threshold, so that old turns never crowd out the new ones


@dataclass(frozen=True)
class Cut:
    """Head ``[0, start)``, middle ``[start, end)``, tail ``[end, n)``.

    ``lifted`` is the index of the newest request where it stands in the middle, ``pinned`` are those of the pinned
    messages in it, as whole groups: they stay as they are, after the summary.
    """

    start: int
    end: int
    lifted: int | None = None
    pinned: frozenset[int] = frozenset()

    @cached_property
    def staying(self) -> list[int]:
        """The indices within the middle of what no summary stands for, in the order of the list."""
        lifted = () if self.lifted is None else (self.lifted,)
        return sorted({*self.pinned, *lifted})

    def middle(self, messages: Sequence[Message]) -> list[Message]:
        """What the summary covers; turns that only kept roles apart go without one."""
        staying = {*self.staying}
        inner = enumerate(messages[self.start : self.end], self.start)
        return [m for i, m in inner if i not in staying and not (self.pinned and is_bridge(m))]

    def behind(self, messages: Sequence[Message]) -> list[Message]:
        """What stands behind the summary: what stays of the middle, then the tail, with turns between that keep roles apart."""
        kept = [*self.staying, *range(self.end, len(messages))]
        after = {at for at, i in enumerate(kept) if at and i != kept[at - 1] + 1}
        seams = {at for at in after if kept[at] in self.pinned or kept[at - 1] in self.pinned}
        return with_bridges([messages[i] for i in kept], seams)


def choose_cut(messages: Sequence[Message], plan: Plan, handoff: int | None = None, pinned: frozenset[int] | None = None) -> Cut:
    """The cut that keeps most: all anchors where the result fits, else the reply anchor goes, then the request is lifted.

    ``handoff`` is the index of the newest handoff, -1 where there is none; ``pinned`` are the indices of pinned messages, as
    whole groups. None: they are looked for.
    """
    handoff = last_index(messages, is_handoff) if handoff is None else handoff
    pinned = plan.pinned(messages) if pinned is None else pinned
    start, newest = head_end(messages, plan, condensed=handoff >= 0), newest_group(messages)
    least = handoff + 1  # an earlier handoff is always taken into the new one
    bare = min(max(tail_cut(messages, start, plan), align_forward(messages, least)), newest)
    for anchors in (ANCHORS, ANCHORS[:1]):
        end = min(anchored_cut(messages, start, bare, anchors), newest)
        cut = Cut(start, end, pinned=_within(pinned, start, end))
        if end >= least and fits(messages, cut, plan):
            return cut
    return lifted_cut(messages, start, bare, plan, pinned)


def fits(messages: Sequence[Message], cut: Cut, plan: Plan) -> bool:
    """Whether head, handoff, pins, lifted request and tail stay under the threshold beside system and tools."""
    return plan.threshold is None or kept_tokens(messages, cut, plan) + plan.frame + plan.summary <= plan.threshold


def kept_tokens(messages: Sequence[Message], cut: Cut, plan: Plan) -> int:
    """Tokens of all that is sent beside the handoff: tools, system and its note, head, pins, lifted request, tail."""
    return plan.tools + plan.note + plan.spent(messages[: cut.start]) + plan.spent(cut.behind(messages))


def head_end(messages: Sequence[Message], plan: Plan, *, condensed: bool) -> int:
    """Where the head ends: system prompt and the first turns, as whole groups; it grows over the newest request.

    A head that would not begin with the user is left out, so that the window always does. Once the list is
    ``condensed`` into a handoff, the first turns are in it: nothing but the system prompt is protected then, after a resume as well.
    """
    system = system_end(messages)
    protected = 0 if condensed else plan.protect_first_n
    end = align_forward(messages, head_size(messages, protected))
    if end > system and messages[system].get("role") != "user":
        end = system
    if plan.threshold is not None:
        end = shrink_head(messages, system, end, plan.cost, int(plan.threshold * HEAD_SHARE))
    request = newest_request(messages)
    return align_forward(messages, end + 1) if request == end else end


def head_size(messages: Sequence[Message], protect_first_n: int) -> int:
    """The system prompt and ``protect_first_n`` messages after it."""
    return min(len(messages), system_end(messages) + protect_first_n)


def system_end(messages: Sequence[Message]) -> int:
    """Index of the first message that is not part of the leading system prompt."""
    end = 0
    while end < len(messages) and is_system(messages[end]):
        end += 1
    return end


def shrink_head(messages: Sequence[Message], system: int, end: int, cost: Cost, budget: int) -> int:
    """The longest head of whole groups within the budget."""
    whole, spent = system, 0
    for index in range(system, end):
        spent += cost(messages[index])
        if spent > budget:
            return whole
        if index + 1 == end or messages[index + 1].get("role") != "tool":
            whole = index + 1
    return whole


def tail_cut(messages: Sequence[Message], start: int, plan: Plan) -> int:
    """Where the tail begins by its budget alone, never inside a tool group, at least one message after ``start``."""
    count = len(messages)
    available = max(0, count - start - 1)
    floor = max(TAIL_FLOOR_MIN, min(plan.protect_last_n, TAIL_FLOOR_MAX))
    floor = min(floor, max(TAIL_FLOOR_MIN, available - 2), available) if available > 1 else 0
    end, spent = _walk(messages, start, int(plan.tail * SOFT_CEILING_RATIO), floor, plan.cost)
    if end <= start and spent > 0:  # all of it fits the ceiling: the plain budget still finds a place to cut
        end = _first_over(messages, start, plan.tail, floor, plan.cost)
    end = min(end, count - floor)
    if end <= start:
        end = max(count - floor, start + 1)
    return align_backward(messages, end)


def anchored_cut(messages: Sequence[Message], start: int, end: int, anchors: Sequence[Anchor]) -> int:
    """The cut after each anchor has pulled it earlier; never before ``start`` + 1, never in front of orphan results."""
    for anchor in anchors:
        end = min(end, anchor(messages, start, end))
    return past_system(messages, align_forward(messages, max(end, start + 1)))


def anchor_request(messages: Sequence[Message], start: int, end: int) -> int:
    """The newest request of the user stays in the tail."""
    request = newest_request(messages, start)
    return end if request < 0 else min(end, max(request, start + 1))


def anchor_reply(messages: Sequence[Message], start: int, end: int) -> int:
    """The newest reply that the user could read stays in the tail."""
    reply = newest_reply(messages, start)
    return end if reply < 0 or reply >= end else max(align_backward(messages, reply), start + 1)


Anchor = Callable[[Sequence[Message], int, int], int]
ANCHORS: tuple[Anchor, ...] = (anchor_request, anchor_reply)
"""What keeps the cut earlier, strongest first: where the result would not fit, the last is dropped first."""


def lifted_cut(messages: Sequence[Message], start: int, end: int, plan: Plan, pinned: frozenset[int] = frozenset()) -> Cut:
    """The earliest cut that fits without anchors; the request is taken out of the middle, at last the head goes too."""
    system = system_end(messages)
    request = newest_request(messages)
    cut = Cut(start, max(start, end))
    for head in (start, min(start, system + 1 if request == system else system)):
        staying = {i for i in pinned if i >= head}
        room = room_behind(messages, head, plan) - plan.spent([messages[i] for i in staying])
        for boundary, tail in _cuts_from(messages, max(end, head), plan.cost, staying):
            lifted = request if head <= request < boundary else None
            cut = Cut(head, boundary, lifted, _within(pinned, head, boundary))
            if tail + (0 if lifted is None or lifted in staying else plan.cost(messages[lifted])) <= room:
                return cut
    return cut


def room_behind(messages: Sequence[Message], head: int, plan: Plan) -> float:
    """Tokens that may stand behind the head, the full handoff left free."""
    if plan.threshold is None:
        return math.inf
    return plan.threshold - plan.tools - plan.note - plan.frame - plan.summary - plan.spent(messages[:head])


def newest_group(messages: Sequence[Message]) -> int:
    """Index where the newest group begins: it is in every tail."""
    newest = len(messages) - 1
    while newest > 0 and messages[newest].get("role") == "tool":
        newest -= 1
    return max(0, newest)


def newest_request(messages: Sequence[Message], since: int = 0) -> int:
    """Index of the newest user message that a person wrote, -1 where there is none."""
    return last_index(messages, lambda m: m.get("role") == "user" and not is_handoff(m) and not is_bridge(m), since=since)


def newest_reply(messages: Sequence[Message], since: int = 0) -> int:
    """Index of the newest assistant message with words; where none has any, of the newest assistant message."""
    spoken = last_index(messages, lambda m: m.get("role") == "assistant" and has_words(m) and not is_bridge(m), since=since)
    return spoken if spoken >= 0 else last_index(messages, lambda m: m.get("role") == "assistant", since=since)


def align_forward(messages: Sequence[Message], index: int) -> int:
    """The first place at or after ``index`` that is not inside a run of tool results."""
    while index < len(messages) and messages[index].get("role") == "tool":
        index += 1
    return index


def past_system(messages: Sequence[Message], index: int) -> int:
    """``index``, or the first place after it that no system message stands at.

    A tail that began with one would have it behind the prompt, as if it had been there from the start.
    """
    while index < len(messages) and is_system(messages[index]):
        index += 1
    return index


def align_backward(messages: Sequence[Message], index: int) -> int:
    """``index``, or the calling assistant where the messages just before it are results of its group."""
    if index <= 0 or index >= len(messages):
        return index
    before = index - 1
    while before >= 0 and messages[before].get("role") == "tool":
        before -= 1
    return before if before >= 0 and calls_of(messages[before]) else index


def _walk(messages: Sequence[Message], start: int, ceiling: int, floor: int, cost: Cost) -> tuple[int, int]:
    """First index of the longest end within the ceiling (but at least ``floor`` messages), and its tokens."""
    count = end = len(messages)
    spent = 0
    for index in range(count - 1, start - 1, -1):
        price = cost(messages[index])
        if spent + price > ceiling and count - index >= floor:
            break
        spent += price
        end = index
    return end, spent


def _first_over(messages: Sequence[Message], start: int, budget: int, floor: int, cost: Cost) -> int:
    """Index of the message with which the budget is overrun; it still belongs to the tail."""
    count, spent = len(messages), 0
    for index in range(count - 1, start - 1, -1):
        spent += cost(messages[index])
        if spent > budget and count - index >= floor:
            return index
    return start


def _within(pinned: frozenset[int], start: int, end: int) -> frozenset[int]:
    return frozenset(i for i in pinned if start <= i < end) if pinned else pinned


def _cuts_from(messages: Sequence[Message], end: int, cost: Cost, staying: Container[int]) -> Iterator[tuple[int, int]]:
    """Every place from ``end`` on where a group begins, with the tokens from there on but for what stays in any case.

    The newest group comes last, whoever speaks.
    """
    newest = newest_group(messages)
    left = sum(cost(message) for index, message in enumerate(messages[end:], end) if index not in staying)
    for index in range(end, newest + 1):
        if index == newest or (messages[index].get("role") != "tool" and not is_system(messages[index])):
            yield index, left
        left -= 0 if index in staying else cost(messages[index])
