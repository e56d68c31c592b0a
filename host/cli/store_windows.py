"""Windows of a conversation: as the model sees it now, as a version showed it, and what lies between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from host.cli.store_sessions import what_made
from host.cli.store_text import aligned, counted, first_words, local, plain, spans
from host.conversation.restoring import extended, restored
from host.errors import UsageError
from host.messages.canonical import identity
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import JSON, Message
from host.pipeline.settle import render
from host.store.protocols import Archive
from host.store.undoing import would_undo
from host.store.values import Published

Tokens = Callable[[Message], int]
BEGINNING = 0  # the version before the first: the archive as it came


@dataclass(frozen=True)
class WindowState:
    """A window as it is, or was, and what to call it."""

    name: str
    ledger: Ledger

    def total(self, tokens: Tokens) -> int:
        """Tokens of the messages as they are sent."""
        return sum(map(tokens, render(self.ledger)))

    def sizes(self, tokens: Tokens) -> str:
        """``14 messages, 3,100 tokens``."""
        return f"{counted(len(render(self.ledger)), 'message')}, {counted(self.total(tokens), 'token')}"


@dataclass(frozen=True)
class Change:
    """From one state of the window to another: the entries that left, and those that came."""

    before: WindowState
    after: WindowState

    @property
    def left(self) -> list[Entry]:
        """What only the earlier one shows."""
        return _only(self.before.ledger, self.after.ledger)

    @property
    def came(self) -> list[Entry]:
        """What only the later one shows."""
        return _only(self.after.ledger, self.before.ledger)


@dataclass(frozen=True)
class History:
    """The versions of a conversation's window, with the archive that they point into."""

    archive: Archive
    versions: Sequence[Published]

    @property
    def newest(self) -> int:
        """The newest version, 0 while there is none."""
        return self.versions[-1].version if self.versions else BEGINNING

    def now(self) -> WindowState:
        """The window with all that came since."""
        newest = self.versions[-1] if self.versions else None
        name = f"version {self.newest} ({made_by(newest)})" if newest else "the archive itself: nothing was compacted"
        return WindowState(name, restored(self.archive, newest))

    def at(self, version: int, until: int | None = None) -> WindowState:
        """A version as it was published; with the rows until a position. UsageError where it does not exist."""
        found = next((each for each in self.versions if each.version == version), None)
        if found is not None:
            return WindowState(f"version {version} ({made_by(found)})", self._until(found.ledger, found.upto, until))
        if version != BEGINNING:
            known = f"0 to {self.newest}" if self.versions else "0 alone"
            raise UsageError(f"there is no version {version}", f"versions are {known}; `ctxhost sessions show ID` lists them")
        first = until if until is not None else self._upto(BEGINNING)
        return WindowState("version 0 (the archive itself)", self._until(Ledger(), 0, first))

    def between(self, start: int, end: int) -> Change:
        """What changed from one version to another; rows that merely followed are in both."""
        until = max(self._upto(start), self._upto(end))
        return Change(self.at(start, until), self.at(end, until))

    def undone(self) -> tuple[int, Change]:
        """The version that an undo would take back, and what it would do to the window now. UsageError where it cannot."""
        undoing = would_undo(self.versions)
        before = undoing.before
        upto, entries = (before.upto, before.entries) if before else (0, Ledger())
        name = f"as after version {before.version}" if before else "as before any compaction"
        ledger = self._with_rows(Ledger(entries), upto, None)
        return undoing.undone.version, Change(self.now(), WindowState(name, ledger))

    def _until(self, ledger: Ledger, upto: int, until: int | None) -> Ledger:
        entries = Ledger(ledger)  # of its own: appending to a shared one is for its owner
        return entries if until is None else self._with_rows(entries, upto, until)

    def _with_rows(self, ledger: Ledger, upto: int, until: int | None) -> Ledger:
        return extended(ledger, self.archive.rows(upto + 1, until), self.archive.places())

    def _upto(self, version: int) -> int:
        found = next((each for each in self.versions if each.version == version), None)
        if found is not None:
            return found.upto
        return self.versions[0].upto if self.versions else self.archive.range()[1]


def made_by(version: Published) -> str:
    """What made a version, and when."""
    engine = f" by {plain(version.engine)}" if version.engine and version.undoes is None else ""
    return f"{what_made(version)}{engine}, {local(version.time)}"


def entry_lines(entries: Sequence[Entry], tokens: Tokens) -> list[str]:
    """One line an entry: position, kind, role, tokens, first words; made ones begin with what they cover."""
    return aligned((entry_row(entry, tokens) for entry in entries), right=[0, 3])


def entry_row(entry: Entry, tokens: Tokens) -> tuple[str, str, str, str, str]:
    """The columns of an entry's line."""
    position = "-" if entry.row is None else f"{entry.row}"
    return position, str(entry.kind), plain(str(entry.message.get("role"))), f"{tokens(entry.message):,}", words_of(entry)


def words_of(entry: Entry) -> str:
    """What an entry covers, and how it begins."""
    covers = f"[covers {spans(entry.covers)}] " if entry.covers else ""
    merged = "[in front of the next message] " if entry.kind is Kind.MERGED else ""
    return covers + merged + first_words(entry.message)


def window_json(version: int, shown: WindowState, tokens: Tokens) -> JSON:
    """A window for scripts: the messages as they are sent, and what each entry is."""
    return {
        "version": version,
        "tokens": shown.total(tokens),
        "entries": [entry_json(entry, tokens) for entry in shown.ledger],
        "messages": render(shown.ledger),
    }


def entry_json(entry: Entry, tokens: Tokens) -> JSON:
    """An entry for scripts; covers include both ends."""
    return {
        "position": entry.row,
        "kind": str(entry.kind),
        "role": entry.message.get("role"),
        "tokens": tokens(entry.message),
        "covers": [[span.start, span.stop - 1] for span in entry.covers],
        "words": first_words(entry.message),
    }


def change_lines(change: Change, tokens: Tokens) -> Iterator[str]:
    """What left, marked -, and what came, marked +."""
    yield f"from: {change.before.name}: {change.before.sizes(tokens)}"
    yield f"to:   {change.after.name}: {change.after.sizes(tokens)}"
    if not change.left and not change.came:
        yield "they show the same"
        return
    marked = [*(("-", entry) for entry in change.left), *(("+", entry) for entry in change.came)]
    yield from aligned(((mark, *entry_row(entry, tokens)) for mark, entry in marked), right=[1, 4])


def change_json(change: Change, tokens: Tokens) -> JSON:
    """A change for scripts."""
    return {
        "from": change.before.name,
        "to": change.after.name,
        "tokens_before": change.before.total(tokens),
        "tokens_after": change.after.total(tokens),
        "left": [entry_json(entry, tokens) for entry in change.left],
        "came": [entry_json(entry, tokens) for entry in change.came],
    }


def _only(ledger: Ledger, other: Ledger) -> list[Entry]:
    known = set(map(_sign, other))
    return [entry for entry in ledger if _sign(entry) not in known]


def _sign(entry: Entry) -> tuple[object, ...]:
    """By what an entry is the same in two versions."""
    if entry.kind is Kind.ORIGINAL and entry.row is not None:
        return (entry.row,)
    return entry.row, entry.kind, entry.covers, identity(entry.message)
