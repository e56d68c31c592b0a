"""What a list that a caller hands over is to the archive: known, made by an engine, a new version, or new."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import cast

from host.messages.canonical import identity
from host.messages.ledger import Entry, Ledger, align
from host.messages.reading import is_system, text_of, tool_call_id
from host.messages.types import Message
from host.transforms.handoff import split_merged

REASONING_KEYS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items", "thinking"})
REASONING_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


ALIKE = 0.4  # of the pairs of characters
COMPARED = 2_000  # characters


class Telling(StrEnum):
    """What a message of the list is."""

    KNOWN = "known"  # archived, and this says nothing new
    MADE = "made"  # an engine's: a summary, a digest, a stub
    VERSION = "version"  # archived in other words
    NEW = "new"


@dataclass(frozen=True)
class Told:
    """A message of the list, or a part of one; ``entry`` is the archived message that it is, or replaces.

    ``index`` is its place in the list: of a summary merged in front of a message both have the same.
    """

    index: int
    message: Message
    telling: Telling
    entry: Entry | None = None


@dataclass(frozen=True)
class Recognised:
    """What a list is to the archive. ``rewound`` are the rows that the caller took back: it went on before them otherwise."""

    told: list[Told]
    rewound: tuple[int, ...] = ()


@dataclass(frozen=True)
class Received:
    """What a list that was handed over brought. ``rows`` are the positions of its messages, None for an engine's.

    ``rewound`` messages stay in the archive and have left the window.
    """

    rows: tuple[int | None, ...]
    added: int
    versions: int
    rewound: int = 0


def recognise(known: Ledger, messages: Sequence[Message], is_made: Callable[[Message], bool]) -> Recognised:
    """Per message what it is to ``known``, the newest version of every archived message in order.

    A list may be cut at either end and hold summaries. What stands between two known messages in the place of others
    is a new version of them: by the id of the tool call, as system prompt, or where there are as many on both sides. Of
    a list in which nothing is known only what reads alike is. New messages where the archive goes on with other requests
    of the user take those back.
    """
    parts = [(index, part) for index, message in enumerate(messages) for part in split_merged(message)]
    found = align(known, [part for _, part in parts])
    told = [_at_first_sight(known, index, part, at, is_made) for (index, part), at in zip(parts, found, strict=True)]
    used = {at for at in found if at is not None}
    gaps = [_Gap(run, [known[at] for at in gap if at not in used], gap.stop == len(known)) for run, gap in _runs(told, found, len(known))]
    for gap in gaps:
        for at, entry in gap.counterparts(told, alike=not used):
            told[at] = replace(told[at], telling=_retold(entry.message, told[at].message), entry=entry)
    return Recognised(told, tuple(dict.fromkeys(entry.row for entry in _taken_back(told, gaps) if entry.row is not None)) if used else ())


def _at_first_sight(known: Ledger, index: int, part: Message, at: int | None, is_made: Callable[[Message], bool]) -> Told:
    if at is not None:
        return Told(index, part, Telling.KNOWN, known[at])
    return Told(index, part, Telling.MADE if is_made(part) else Telling.NEW)


def _retold(known: Message, told: Message) -> Telling:
    return Telling.KNOWN if says_nothing_new(known, told) else Telling.VERSION


def _taken_back(told: Sequence[Told], gaps: Sequence[_Gap]) -> Iterator[Entry]:
    """What others stand in the place of: system messages, and the end of the archive where it holds requests of the user."""
    for gap in gaps:
        if any(is_system(told[i].message) for i in gap.run):
            yield from (entry for entry in gap.free if is_system(entry.message))
    last = gaps[-1] if gaps and told[-1].telling is Telling.NEW else None
    if last is not None and any(entry.message.get("role") == "user" for entry in last.free):
        yield from last.free


@dataclass
class _Gap:
    """New messages of the list, by index, and the archived ones that are ``free`` between the same neighbours."""

    run: list[int]
    free: list[Entry]
    is_last: bool

    def counterparts(self, told: Sequence[Told], *, alike: bool) -> Iterator[tuple[int, Entry]]:
        """Which messages stand in the place of which, taken out of ``free``; only those that read alike, if asked."""
        in_order = len(self.run) == len(self.free) or (len(self.run) > len(self.free) and self.is_last)  # the end may go on
        for index in self.run:
            message = told[index].message
            entry = next(filter(self._wanted(message, in_order=in_order), self.free), None)
            if entry is not None and (not alike or reads_alike(entry.message, message)):
                self.free.remove(entry)
                yield index, entry

    def _wanted(self, message: Message, *, in_order: bool) -> Callable[[Entry], bool]:
        if call := tool_call_id(message):
            return lambda entry: tool_call_id(entry.message) == call
        if is_system(message):
            return lambda entry: is_system(entry.message)
        return lambda entry: in_order and entry is self.free[0] and entry.message.get("role") == message.get("role")


def says_nothing_new(known: Message, told: Message) -> bool:
    """Whether it is the archived message without (some of) its reasoning."""
    left_out = {key for key in REASONING_KEYS if key in known and told.get(key) is None}
    dropped = left_out or len(_parts(told)) < len(_parts(known))
    return bool(dropped) and identity(_bare(known, left_out)) == identity(_bare(told, left_out))


def _bare(message: Message, keys: set[str]) -> Message:
    bare = {key: value for key, value in message.items() if key not in keys}
    if isinstance(message.get("content"), list):
        bare["content"] = [part for part in _parts(message) if not (isinstance(part, dict) and part.get("type") in REASONING_PARTS)]
    return cast(Message, bare)


def _parts(message: Message) -> list[object]:
    content = message.get("content")
    return list(content) if isinstance(content, list) else []


def _runs(told: Sequence[Told], found: Sequence[int | None], size: int) -> Iterator[tuple[list[int], range]]:
    """Runs of new messages, each with the indices of ``known`` between its neighbours."""
    run: list[int] = []
    left = -1
    for index, one in enumerate(told):
        at = found[index]
        if at is not None:
            if run:
                yield run, range(left + 1, at)
            run, left = [], max(left, at)
        elif one.telling is Telling.NEW:
            run.append(index)
    if run:
        yield run, range(left + 1, size)


def reads_alike(known: Message, told: Message) -> bool:
    """Whether two messages share a good part of their pairs of characters: an edit, not another message."""
    ours, theirs = (_pairs(text_of(message)[:COMPARED]) for message in (known, told))
    return len(ours & theirs) >= ALIKE * len(ours | theirs)


def _pairs(text: str) -> set[str]:
    return {left + right for left, right in pairwise(text)}
