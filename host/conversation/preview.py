"""What a compaction would do, before it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from host.conversation.partial import part_of
from host.conversation.shelf import Shelf
from host.conversation.verdict import Verdict, Wish
from host.engine.idle import Idle
from host.engine.report import Report
from host.engine.services import Services
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import text_of
from host.messages.types import Message
from host.transforms.handoff import handoff_body, is_handoff

WRITTEN = (Kind.SUMMARY, Kind.MERGED, Kind.FOREIGN)


@dataclass(frozen=True)
class Preview:
    """Nothing was changed. ``leaving`` are the entries of the window that it would not show any more as they are.

    ``before`` and ``after`` are tokens of the request, system and tools included; ``given`` counts the messages that the engine
    would get, ``kept`` the others. ``draft`` is the text of the new summary; ``idle`` says why nothing would happen.
    """

    before: int
    after: int
    messages_before: int
    messages_after: int
    given: int
    kept: int
    focus: str | None = None
    keep: int | None = None
    leaving: tuple[Entry, ...] = ()
    draft: str = ""
    covers: tuple[range, ...] = ()  # rows that summaries would stand for
    idle: Idle | None = None
    report: Report = field(default_factory=Report)


@contextmanager
def untouched(services: Services, shelf: Shelf) -> Iterator[None]:
    """What an engine keeps in its document in this block is taken back behind it."""
    pending, pins = shelf.state.pending, services.pins
    before = None if services.state is shelf.state else services.state.load()
    try:
        yield
    finally:
        shelf.state.pending, services.pins = pending, pins
        if before is not None and services.state.load() != before:
            services.state.save(before)


def preview_of(before: Ledger, messages: list[Message], wish: Wish, verdict: Verdict, measure: Callable[[list[Message]], int]) -> Preview:
    """What a compaction that was tried says of the one that would be done."""
    settled, part = verdict.settled, part_of(before, messages, wish.keep)
    tokens = measure(messages)
    return Preview(
        before=tokens,
        after=tokens if settled is None else measure(settled.messages),
        messages_before=len(messages),
        messages_after=len(messages) if settled is None else len(settled.messages),
        given=len(part.given) if part is not None else 0,
        kept=len(part.kept) if part is not None else 0,
        focus=wish.focus,
        keep=wish.keep,
        leaving=leaving(before, verdict),
        draft=drafted(before, verdict),
        covers=settled.receipt.covered if settled is not None else (),
        idle=verdict.idle,
        report=verdict.report,
    )


def leaving(before: Ledger, verdict: Verdict) -> tuple[Entry, ...]:
    """Entries that are not shown any more as they are: summarised, shortened, or dropped."""
    if verdict.settled is None:
        return ()
    shown = {id(entry.message) for entry in verdict.settled.ledger if entry.kind not in WRITTEN}
    return tuple(entry for entry in before if id(entry.message) not in shown)


def drafted(before: Ledger, verdict: Verdict) -> str:
    """What the engine wrote that the window did not have."""
    known = {id(entry.message) for entry in before}
    fresh = [e.message for e in verdict.settled.ledger if e.kind in WRITTEN and id(e.message) not in known] if verdict.settled else []
    return "\n\n".join(filter(None, map(_notes, fresh)))


def _notes(message: Message) -> str:
    return handoff_body(message) if is_handoff(message) else text_of(message).strip()
