"""The system prompt in a window: as archived and in front, and nothing that an engine makes up has its authority (design, settle)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from host.messages.canonical import identity
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import is_system, text_of
from host.messages.types import Message
from host.pipeline.pinned import Pinned
from host.transforms.assemble import seat_between
from host.transforms.boundary import align_forward, newest_group
from host.transforms.handoff import GAP, NOTE, handoff_body, handoff_text, is_handoff, with_note


class Instructed(NamedTuple):
    """The messages that lead every window, all others, and what was done about what the engine made of them."""

    prompt: list[Entry]
    others: list[Entry]
    repairs: list[str]


def instructed(before: Ledger, entries: Sequence[Entry], pinned: Pinned) -> Instructed:
    """Take the prompt out of what an engine returned, and be it from the old window where that does not have it.

    The host's note at the end of its first message is the only change that counts. What an engine says in the role of the
    system beside it becomes notes like any summary's, without what the prompt says already; a system message that was archived
    in the middle of the conversation stays where it is; only such a one is ever pinned.
    """
    leading = [entry for entry in takewhile(lambda entry: is_system(entry.message), before) if entry.row not in pinned.rows]
    rows = {entry.row for entry in leading}
    returned = {entry.row for entry in entries}
    others = [entry for entry in entries if entry.row is None or entry.row not in rows]
    made = [entry.message for entry in others if is_system(entry.message) and entry.kind is not Kind.ORIGINAL]
    prompt = [_noted(leading[0], made), *leading[1:]] if leading else []
    restored = [old for old, new in zip(leading, prompt, strict=True) if new is old and old.row not in returned]
    repairs = [f"restored the {entry.message.get('role')} message of row {entry.row}" for entry in restored]
    return Instructed(prompt, _as_notes(prompt, others) if made else others, repairs)


def _noted(first: Entry, made: Sequence[Message]) -> Entry:
    """The first message with the host's note where an engine wrote that and nothing else."""
    noted = with_note(first.message)
    if noted is first.message or identity(noted) not in map(identity, made):
        return first
    return Entry(noted, first.row, Kind.DIGEST)


def _as_notes(prompt: Sequence[Entry], entries: Sequence[Entry]) -> list[Entry]:
    """The entries with what was made in the role of the system as one handoff, at its place but before the newest messages."""
    is_made = [is_system(entry.message) and entry.kind is not Kind.ORIGINAL for entry in entries]
    rest = [entry for entry, made in zip(entries, is_made, strict=True) if not made]
    told = [text_of(entry.message) for entry in prompt]
    words = [_beyond(told, entry.message) for entry, made in zip(entries, is_made, strict=True) if made]
    text = GAP.join(filter(None, words))
    if not text:
        return rest
    messages = [entry.message for entry in rest]
    place = min(align_forward(messages, is_made.index(True)), newest_group(messages))
    role = seat_between([*(entry.message for entry in prompt), *messages[:place]], messages[place:]).role
    notes: Message = {"role": role, "content": handoff_text(text)}
    return [*rest[:place], Entry(notes, None, Kind.SUMMARY), *rest[place:]]


def _beyond(told: Sequence[str], message: Message) -> str:
    """What a message says that the prompt does not; empty where that is nothing."""
    text = (handoff_body(message) if is_handoff(message) else text_of(message)).replace(NOTE, "").strip()
    for said in filter(None, told):
        text = text.removeprefix(said).strip()
    return "" if any(text in said for said in told) else text
