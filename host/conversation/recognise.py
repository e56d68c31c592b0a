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
    told = [
        Told(index, part, Telling.KNOWN, known[at]) if at is not None else Told(index, part, Telling.MADE if is_made(part) else Telling.NEW)
        for (index, part), at in zip(parts, found, strict=True)
    ]
    used = {at for at in found if at is not None}
    free: list[Entry] = []
    prompts: list[Entry] = []  # system messages that others stand in the place of
    for run, gap in _runs(told, found, len(known)):
        free = [known[at] for at in gap if at not in used]
        in_order = len(run) == len(free) or (len(run) > len(free) and gap.stop == len(known))  # the end may go on
        for at, entry in _counterparts([told[i].message for i in run], free, in_order=in_order, alike=not used):
            telling = Telling.KNOWN if says_nothing_new(entry.message, told[run[at]].message) else Telling.VERSION
            told[run[at]] = replace(told[run[at]], telling=telling, entry=entry)
        if any(is_system(told[i].message) for i in run):
            prompts += [entry for entry in free if is_system(entry.message)]
    went_on = bool(used) and bool(told) and told[-1].telling is Telling.NEW
    back = free if went_on and any(entry.message.get("role") == "user" for entry in free) else []
    return Recognised(told, tuple(dict.fromkeys(entry.row for entry in [*prompts, *back] if entry.row is not None)))


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


def _counterparts(messages: Sequence[Message], free: list[Entry], *, in_order: bool, alike: bool) -> Iterator[tuple[int, Entry]]:
    """Which of the messages stand in the place of which entries, and are taken out of ``free``; only those ``alike``, if asked."""
    for index, message in enumerate(messages):
        wanted: Callable[[Entry], bool]
        if call := tool_call_id(message):
            wanted = _answers(call)
        elif is_system(message):
            wanted = _instructs
        elif in_order and free and free[0].message.get("role") == message.get("role"):
            wanted = _any
        else:
            continue
        entry = next(filter(wanted, free), None)
        if entry is not None and (not alike or reads_alike(entry.message, message)):
            free.remove(entry)
            yield index, entry


def reads_alike(known: Message, told: Message) -> bool:
    """Whether two messages share a good part of their pairs of characters: an edit, not another message."""
    ours, theirs = (_pairs(text_of(message)[:COMPARED]) for message in (known, told))
    return len(ours & theirs) >= ALIKE * len(ours | theirs)


def _pairs(text: str) -> set[str]:
    return {left + right for left, right in pairwise(text)}


def _answers(call: str) -> Callable[[Entry], bool]:
    return lambda entry: tool_call_id(entry.message) == call


def _instructs(entry: Entry) -> bool:
    return is_system(entry.message)


def _any(entry: Entry) -> bool:
    return True
