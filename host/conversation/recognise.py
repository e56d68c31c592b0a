"""What a list that a caller hands over is to the archive: known, made by an engine, a new version, or new."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from host.messages.canonical import identity
from host.messages.ledger import Entry, Ledger, align
from host.messages.reading import is_system, tool_call_id
from host.messages.types import Message
from host.transforms.handoff import split_merged

REASONING_KEYS = frozenset({"reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items", "thinking"})
REASONING_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


class Telling(StrEnum):
    """What a message of the list is."""

    KNOWN = "known"  # archived, and this says nothing new
    MADE = "made"  # an engine's: a summary, a digest, a stub
    VERSION = "version"  # archived in other words
    NEW = "new"


@dataclass(frozen=True)
class Told:
    """A message of the list; ``row`` is the position of the archived one that it is, or replaces."""

    message: Message
    telling: Telling
    row: int | None = None


@dataclass(frozen=True)
class Received:
    """What a list that was handed over brought. ``rows`` are the positions of its messages, None for an engine's."""

    rows: tuple[int | None, ...]
    added: int
    versions: int


def recognise(known: Ledger, messages: Sequence[Message], is_made: Callable[[Message], bool]) -> list[Told]:
    """Per message what it is to ``known``, the newest version of every archived message in order.

    A list may be cut at either end and hold summaries. What stands between two known messages in the place of others
    is a new version of them: by the id of the tool call, as system prompt, or where there are as many on both sides.
    """
    parts = [part for message in messages for part in split_merged(message)]
    found = align(known, parts)
    told = [
        Told(part, Telling.KNOWN, known[at].row) if at is not None else Told(part, Telling.MADE if is_made(part) else Telling.NEW)
        for part, at in zip(parts, found, strict=True)
    ]
    used = {at for at in found if at is not None}
    for run, gap in _runs(told, found, len(known)):
        free = [known[at] for at in gap if at not in used]
        in_order = len(run) == len(free) or (len(run) > len(free) and gap.stop == len(known))  # the end may go on
        for at, entry in _counterparts([told[i].message for i in run], free, in_order=in_order):
            telling = Telling.KNOWN if says_nothing_new(entry.message, told[run[at]].message) else Telling.VERSION
            told[run[at]] = Told(told[run[at]].message, telling, entry.row)
    return told


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


def _counterparts(messages: Sequence[Message], free: list[Entry], *, in_order: bool) -> Iterator[tuple[int, Entry]]:
    """Which of the messages stand in the place of which entries."""
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
        if entry is not None:
            free.remove(entry)
            yield index, entry


def _answers(call: str) -> Callable[[Entry], bool]:
    return lambda entry: tool_call_id(entry.message) == call


def _instructs(entry: Entry) -> bool:
    return is_system(entry.message)


def _any(entry: Entry) -> bool:
    return True
