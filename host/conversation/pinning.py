"""Pinned messages of a conversation: which there are, whether they fit, and as entries for a window (design, settle)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from host.conversation.groups import Groups
from host.conversation.picturing import is_same_but_for_images
from host.conversation.shelf import Shelf
from host.conversation.view import View
from host.engine.services import Services
from host.errors import Outrun, UsageError
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import is_system
from host.messages.searchable import searchable
from host.messages.types import Message
from host.pipeline.pinned import Pinned, joined
from host.pipeline.settle import render
from host.store.protocols import Pins
from host.store.values import PIN, Pin, Publication, Row
from host.transforms.handoff import is_handoff

SHARE = 4  # pins may hold one part in so many of what the model takes
WORDS_CHARS = 60  # of a message that is named


@dataclass(frozen=True)
class PinShown:
    """A pin as it is told. ``row`` is the newest version of its message, ``tokens`` are those of its whole group.

    ``in_window``: all of the group is shown now as it was said, its pictures perhaps smaller. ``fits``: it is within what pins may hold.
    """

    pin: Pin
    row: int
    role: str
    words: str
    tokens: int
    in_window: bool
    fits: bool


@dataclass(frozen=True)
class Held:
    """A pin with what it holds: its message and the rest of its group, none where the message was erased."""

    pin: Pin
    row: Row | None
    entries: tuple[Entry, ...]


class Pinning:
    """The pins of a conversation. They may hold a quarter of what the model takes; reads the store at every look."""

    def __init__(self, shelf: Shelf, services: Services, warn: Callable[[str], None]) -> None:
        self._shelf = shelf
        self._services = services
        self._warn = warn
        self._looked: object = None  # what was last looked at for pins that have room again

    @property
    def limit(self) -> int:
        """Tokens that a window may hold beside the tools' schemas and the answer."""
        facts = self._services.facts
        return max(0, facts.window - facts.output_reserve - facts.tools)

    @property
    def budget(self) -> int:
        """Tokens that pins may hold."""
        facts = self._services.facts
        return max(0, facts.window - facts.output_reserve) // SHARE

    def pinned(self, ledger: Ledger) -> Pinned:
        """The pins that fit, with the whole group of each, in archive order: the objects of the window where it shows them."""
        pins = self._all()
        if not pins:
            return Pinned((), self._shelf.archive.places())
        groups = Groups(self._shelf.archive)
        return in_archive_order(self._fitting(self._held(pins, groups, ledger)), groups)

    def tell_left(self, ledger: Ledger) -> None:
        """Name each pin that a compacted window does without because it does not fit, as after a change to a smaller model."""
        pins = self._all()
        held = self._held(pins, Groups(self._shelf.archive), ledger) if pins else []
        fitting = self._fitting(held)
        for one in held:
            if one.row is not None and one not in fitting and not is_shown(one, ledger):
                self._warn(self._words_of_leaving(one.row))

    def brought_back(self, view: View) -> View:
        """The view with the pins that it does not show and that have room now, published; the same view where there are none.

        So a pin that had to leave under a smaller model does not wait for a compaction. Looked for when pins, model or window change.
        """
        pins = self._all()
        looked = (tuple(pins), self.budget, self.limit, view.version)
        if not pins or looked == self._looked:
            return view
        groups = Groups(self._shelf.archive)
        fitting = self._fitting(self._held(pins, groups, view.ledger))
        missing = [one for one in fitting if one.row is not None and not is_shown(one, view.ledger)]
        new = self._published(view, in_archive_order(fitting, groups)) if missing else view
        if new is not None and new is not view:
            for one in missing:
                self._warn(f"message {one.pin.position} ({first_words(one.row)!r}) is pinned and has room now: it is back in the window")
        self._looked = looked
        return new or view

    def add(self, view: View, position: int, *, by: str) -> tuple[Pin, View]:
        """Pin a message, and the window with it in its place, where that has room; else it comes in with the next compaction.

        UsageError where it cannot be pinned, or the pins would hold too much.
        """
        store, groups = self._store(), Groups(self._shelf.archive)
        if not isinstance(by, str) or not by.strip():
            raise UsageError("a pin needs the name of who sets it", 'give by="user", or the name of a tool')
        row = self._row(groups, position)
        rows = groups.of(row)
        if not rows:
            raise UsageError(f"message {position} is the result of a call that is not archived", "pin a message that may stand alone")
        pins = store.all()
        if all(pin.position != row.place for pin in pins):
            self._refuse_too_much(position, as_entries(rows, view.ledger), self._held(pins, groups, view.ledger))
        pin = store.add(row.place, by=by)
        return pin, self._brought_in(view, row, {one.position for one in rows})

    def remove(self, position: int) -> bool:
        """Unpin a message, by the position of any version; it stays in the window until the next compaction."""
        _refuse_no_number(position)
        return self._store().remove(position)

    def shown(self, ledger: Ledger) -> list[PinShown]:
        """All pins in the order in which they were set, also those that have no room now."""
        pins = self._all()
        held = self._held(pins, Groups(self._shelf.archive), ledger) if pins else []
        fitting = self._fitting(held)
        return [
            PinShown(
                pin=one.pin,
                row=one.row.position if one.row is not None else one.pin.position,
                role=one.row.role if one.row is not None else "",
                words=first_words(one.row),
                tokens=self._cost(one.entries),
                in_window=is_shown(one, ledger),
                fits=one in fitting,
            )
            for one in held
        ]

    def _all(self) -> list[Pin]:
        return self._shelf.pins.all() if self._shelf.pins is not None else []

    def _store(self) -> Pins:
        if self._shelf.pins is None:
            raise UsageError("messages cannot be pinned here: the conversation is kept in no store", "open it in one")
        return self._shelf.pins

    def _row(self, groups: Groups, position: int) -> Row:
        """The message to pin; UsageError where there is none, or it needs no pin."""
        _refuse_no_number(position)
        first, last = self._shelf.archive.range()
        row = groups.row(position) if first <= position <= last and position else None
        if row is None:
            there = f"positions are {first} to {last}" if last else "it has none yet"
            raise UsageError(
                f"{position} is no message of this conversation", f"{there}; a message that is not archived yet has no position"
            )
        if row.message is None:
            why = "cannot be read" if row.damaged else "was erased"
            raise UsageError(f"message {position} {why}, there is nothing to pin", "pin another message")
        if is_handoff(row.message):
            raise UsageError(f"message {position} is a summary, which the next one takes up", "pin the messages that it stands for")
        if is_system(row.message) and all(row.role in ("system", "developer") for row in self._shelf.archive.rows(1, row.place)):
            raise UsageError(f"message {position} belongs to the system prompt: it is in every window without a pin", "pin another message")
        return row

    def _held(self, pins: Iterable[Pin], groups: Groups, ledger: Ledger) -> list[Held]:
        rows = {pin: groups.row(pin.position) for pin in pins}
        return [Held(pin, row, as_entries(groups.of(row) if row is not None else (), ledger)) for pin, row in rows.items()]

    def _fitting(self, held: Sequence[Held]) -> list[Held]:
        """Those that fit together: one that is too large by itself goes, then the oldest go."""
        fitting: list[Held] = []
        counted: set[int | None] = set()
        left = self.budget
        for one in sorted(held, key=lambda one: one.pin.time, reverse=True):
            if self._cost(one.entries) > self.budget:
                continue
            left -= self._cost(entry for entry in one.entries if entry.row not in counted)
            if left < 0:
                break
            counted.update(entry.row for entry in one.entries)
            fitting.append(one)
        return fitting

    def _refuse_too_much(self, position: int, entries: Sequence[Entry], held: Sequence[Held]) -> None:
        there = {entry.row: entry for one in held for entry in one.entries}
        holds = self._cost(there.values())
        adds = self._cost(entry for entry in entries if entry.row not in there)
        if holds + adds <= self.budget:
            return
        facts = self._services.facts
        reserve = f" less {facts.output_reserve:,} for the answer" if facts.output_reserve else ""
        group = f" with the {len(entries)} messages of its group" if len(entries) > 1 else ""
        raise UsageError(
            f"message {position} cannot be pinned: the pins hold {holds:,} tokens, this one would add {adds:,}{group}, "
            f"and pins may hold {self.budget:,}, a quarter of the window of {facts.window:,} tokens{reserve}",
            "unpin another message, or pin a shorter one",
        )

    def _brought_in(self, view: View, row: Row, rows: set[int]) -> View:
        """The view with a new pin's group in it, published; the same view where it shows them, or has no room."""
        pinned = self.pinned(view.ledger)
        new = self._published(view, pinned.among(rows | pinned.shown_in(view.ledger).rows))
        if new is None:
            self._warn(f"message {row.position} ({first_words(row)!r}) is pinned; there is no room now, the next compaction brings it in")
        return new or view

    def _published(self, view: View, pinned: Pinned) -> View | None:
        """The view with all of these in it; the same view where it shows them, None where there is no room."""
        ledger = joined(view.ledger, pinned)
        if ledger is view.ledger or self._shelf.views is None:
            return view
        waits = any(entry.kind is Kind.ORIGINAL and entry.row is None for entry in ledger)
        if waits or self._services.count.messages(render(ledger)) > self.limit:
            return None
        rows = sorted(row for row in pinned.rows - pinned.shown_in(view.ledger).rows if row is not None)
        publication = Publication(ledger, view.rows, self._shelf.state.engine, PIN, {"pinned": rows})
        try:
            kept = self._shelf.views.publish(publication, expected=view.version)
        except Outrun:  # another process went on with a window of its own: its next compaction, or ours, reads the pin
            return view
        return replace(view, ledger=ledger, version=kept.version)

    def _words_of_leaving(self, row: Row) -> str:
        return (
            f"message {row.position} ({first_words(row)!r}) stays pinned and has no room among the pins of this model, which may "
            f"hold {self.budget:,} tokens: the window does without it until it fits again"
        )

    def _cost(self, entries: Iterable[Entry]) -> int:
        return self._services.count.messages(entry.message for entry in entries)


def is_shown(held: Held, ledger: Ledger) -> bool:
    """Whether a window shows all of a pin's group as it was said, its pictures perhaps smaller."""
    return bool(held.entries) and len(Pinned(held.entries).shown_in(ledger).entries) == len(held.entries)


def as_entries(rows: Iterable[Row], ledger: Ledger) -> tuple[Entry, ...]:
    """Rows as entries: those of the window where it shows them as they are, or with the smaller pictures that a model takes."""
    found = {row.position: row.message for row in rows if row.message is not None}
    shown = {entry.row: entry for entry in ledger if _shows(entry, found)} if found else {}
    return tuple(shown.get(at) or Entry(message, at) for at, message in found.items())


def _shows(entry: Entry, messages: Mapping[int, Message]) -> bool:
    """Whether an entry shows one of these messages, by row."""
    message = messages.get(entry.row) if entry.row is not None else None
    if message is None:
        return False
    return entry.kind is Kind.ORIGINAL or (entry.kind is Kind.DIGEST and is_same_but_for_images(entry.message, message))


def in_archive_order(held: Iterable[Held], groups: Groups) -> Pinned:
    """All that pins hold, each message once."""
    entries = {entry.row: entry for one in held for entry in one.entries}
    pinned = Pinned((), groups.places)
    return replace(pinned, entries=sorted(entries.values(), key=pinned.place))


def first_words(row: Row | None) -> str:
    """How a message begins, on one line; what it calls where it says nothing."""
    text = " ".join(searchable(row.message).split()) if row is not None and row.message is not None else ""
    return text if len(text) <= WORDS_CHARS else text[: WORDS_CHARS - 1] + "…"


def _refuse_no_number(position: object) -> None:
    if not isinstance(position, int) or isinstance(position, bool):
        raise UsageError(f"a position is a number, this is {type(position).__name__}", "give the position that `add` returned")
