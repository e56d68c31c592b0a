"""The block of exact values in a window: what the user ruled and what has to be known to the letter (design, settle)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from host.messages.facts import FactKind, Told, block
from host.messages.ledger import Entry, Kind
from host.messages.reading import is_system, text_of
from host.messages.searchable import searchable
from host.messages.types import Message
from host.transforms.boundary import align_forward
from host.transforms.handoff import handoff_text, with_exact, without_exact

SUMMARIES = frozenset({Kind.SUMMARY, Kind.MERGED})
LEAST = 40  # tokens: a smaller block holds a heading and hardly a value
FRAME = 16  # tokens of its heading and its end
SHARE = 0.30  # of the window before: what summaries and block take together at most, so that a short conversation gets shorter


@dataclass(frozen=True)
class Exact:
    """What holds of what was told, how many tokens a block of it may take, and the window that it has to stay in."""

    holding: Sequence[Told]
    budget: int
    threshold: int
    count: Callable[[str], int]


def without_block(entries: Sequence[Entry]) -> list[Entry]:
    """The entries without any block of exact values."""
    return [_written(entry, "") if entry.kind in SUMMARIES else entry for entry in entries if entry.kind is not Kind.FACTS]


@dataclass(frozen=True)
class Rooms:
    """Tokens for a block in a window which has none: as much as is usual, and what it may take before anything is lost.

    ``saved`` are the tokens by which the window is smaller without it.
    """

    usual: int
    widest: int  # for what would be lost with that, whatever the share
    saved: int

    @classmethod
    def of(cls, exact: Exact, before: Sequence[Entry], after: Sequence[Entry], old: int, new: int) -> Rooms:
        """For the window ``after`` of ``new`` tokens; the one ``before`` had ``old``.

        Usual is at most half of what is free below the threshold, since the window is to grow a while. Of a short conversation
        no more than its share, which the summaries have first, or than the block that stands in it takes already.
        """
        stands = sum(exact.count(text) - exact.count(without_exact(text)) for text in _handoffs(before))
        share = max(int(old * SHARE) - sum(map(exact.count, _handoffs(after))), stands)
        most = min(exact.budget, exact.threshold - new)
        free = min(old, exact.threshold) - new
        return cls(min(most, share, free // 2), most, old - new)


def loses(exact: Exact, before: Sequence[Entry], after: Sequence[Entry]) -> bool:
    """Whether anything that holds was told in the window ``before`` and is told nowhere in the one ``after``."""
    old, new = _Window(before), _Window(after)
    left = (one for one in new.without(exact.holding) if one.fact.kind is not FactKind.release and old.tells(one))
    return any(not new.shows(one.fact.text) for one in left)


def with_block(entries: list[Entry], exact: Exact, room: int) -> list[Entry]:
    """The entries, which have no block, with one of what holds and is told in none of them, if it fits into ``room`` tokens."""
    if room - FRAME < LEAST:
        return entries
    window = _Window(entries)
    text = block(window.without(exact.holding), room - FRAME, exact.count, is_shown=window.shows)
    if not text:
        return entries
    last = next((i for i in range(len(entries) - 1, -1, -1) if entries[i].kind in SUMMARIES), None)
    if last is not None:
        return [_written(entry, text) if i == last else entry for i, entry in enumerate(entries)]
    return _seated(entries, handoff_text(with_exact("", text).strip(), short=True))


class _Window:
    """What the model sees by itself."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def without(self, told: Sequence[Told]) -> list[Told]:
        """What was told in rows that the window does not show as they are."""
        return [one for one in told if one.row not in self._rows]

    def tells(self, one: Told) -> bool:
        """Whether what was told is told here: in its own row, or by what stands for that."""
        return one.row in self._rows or one.fact.text in self._made

    def shows(self, text: str) -> bool:
        """Whether a text is said or quoted anywhere in the window."""
        return text in self._text

    @cached_property
    def _rows(self) -> frozenset[int | None]:
        return frozenset(entry.row for entry in self._entries if entry.kind is Kind.ORIGINAL)

    @cached_property
    def _made(self) -> str:
        return "\n".join(searchable(entry.message) for entry in self._entries if entry.kind is not Kind.ORIGINAL)

    @cached_property
    def _text(self) -> str:
        return "\n".join(searchable(entry.message) for entry in self._entries)


def _handoffs(entries: Sequence[Entry]) -> list[str]:
    return [text_of(entry.message) for entry in entries if entry.kind in SUMMARIES or entry.kind is Kind.FACTS]


def _written(entry: Entry, text: str) -> Entry:
    """The summary with this block in the place of any other; the same entry where nothing changes."""
    old = entry.message.get("content")
    if not isinstance(old, str):
        return entry
    new = with_exact(old, text)
    return entry if new == old else replace(entry, message={**entry.message, "content": new})


def _seated(entries: list[Entry], handoff: str) -> list[Entry]:
    """A handoff of the host's own where the first rows are missing; ``render`` merges it where two user messages would meet."""
    rows = [entry.row or 0 for entry in entries]
    place = next((i + 1 for i, (left, right) in enumerate(pairwise(rows)) if right != left + 1), len(entries) - 1)
    while place < len(entries) and is_system(entries[place].message):
        place += 1
    place = align_forward([entry.message for entry in entries], place)
    if place and entries[place - 1].message.get("role") == "user":
        place -= 1  # between a question and its answer nothing is said
    if place >= len(entries):
        return entries
    made: Message = {"role": "user", "content": handoff}
    return [*entries[:place], Entry(made, None, Kind.FACTS), *entries[place:]]
