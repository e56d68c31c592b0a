"""What an engine returned, message by message: archived ones wherever it put them, digests, summaries, and what it made up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from host.messages.canonical import identity, without_private
from host.messages.ledger import Entry, Kind, Ledger, align
from host.messages.reading import call_id, calls_of
from host.messages.types import Message
from host.transforms.handoff import is_handoff, split_merged
from host.transforms.sanitize import STUB


def recognised(before: Ledger, returned: Sequence[Message], given: Sequence[Message] = ()) -> list[Entry]:
    """An entry per message, merged ones as their parts: the archived one where it is the same, else what it was made from.

    ``given`` are the very messages that the engine got: a summary among them it kept, any other it wrote, in whatever words.
    """
    kept = {id(message) for message in given}
    parts = [(part, id(message) not in kept) for message in returned for part in split_merged(without_private(message))]
    messages = [part for part, _ in parts]
    found = _out_of_order(before, messages, align(before, messages))
    shortened = _by_call(before, {index for index in found if index is not None})
    entries = (
        _unmerged(before[index]) if index is not None else _made(message, shortened) for index, message in zip(found, messages, strict=True)
    )
    return [_written_anew(entry, anew) for entry, (_, anew) in zip(entries, parts, strict=True)]


def _out_of_order(before: Ledger, messages: Sequence[Message], found: Sequence[int | None]) -> list[int | None]:
    """Equal messages that an engine put elsewhere are those of the archive too, occurrence by occurrence."""
    if None not in found:
        return list(found)
    used = {index for index in found if index is not None}
    free: defaultdict[bytes, list[int]] = defaultdict(list)
    for place in range(len(before) - 1, -1, -1):
        if place not in used:
            free[identity(before[place].message)].append(place)
    taken: list[int | None] = []
    for index, message in zip(found, messages, strict=True):
        places = free.get(identity(message)) if index is None and free else None
        taken.append(places.pop() if places else index)
    return taken


def _written_anew(entry: Entry, anew: bool) -> Entry:
    """A summary in the same words as the last one stands for more than that did."""
    return replace(entry, covers=()) if anew and entry.kind is Kind.SUMMARY else entry


def _unmerged(entry: Entry) -> Entry:
    return replace(entry, kind=Kind.SUMMARY) if entry.kind is Kind.MERGED else entry


def _by_call(before: Ledger, used: set[int]) -> dict[tuple[str, str], list[Entry]]:
    """Entries that the returned list does not hold as they were, by role and call ids: what a digest was made from."""
    left: dict[tuple[str, str], list[Entry]] = {}
    for index in range(len(before) - 1, -1, -1):
        if index not in used and (key := _call_key(before[index].message)):
            left.setdefault(key, []).append(before[index])
    return left


def _call_key(message: Message) -> tuple[str, str] | None:
    if message.get("role") == "tool":
        return ("tool", str(message.get("tool_call_id")))
    calls = calls_of(message)
    return ("assistant", " ".join(map(call_id, calls))) if calls else None


def _made(message: Message, shortened: dict[tuple[str, str], list[Entry]]) -> Entry:
    """The entry of a message that no row is equal to."""
    if is_handoff(message):
        return Entry(message, None, Kind.SUMMARY)
    if message.get("role") == "tool" and message.get("content") == STUB:
        return Entry(message, None, Kind.STUB)
    key = _call_key(message)
    if key and (sources := shortened.get(key)):
        return Entry(message, sources.pop().row, Kind.DIGEST)
    return Entry(message, None, Kind.FOREIGN)
