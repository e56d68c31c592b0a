"""A recording that grows, read on from where it was left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from host.formats.feeds.events import MAIN, Event, FeedFormat
from host.importing.binding import Binding
from host.importing.lines import Lines, goes_on
from host.importing.matching import entries_by_chain
from host.importing.places import RecordedFile
from host.importing.values import Enough, Imported
from host.messages.types import Message
from host.store.protocols import FileStore
from host.store.readings import Entry, Reading


class Recording:
    """One file while it is read. What is unknown at the place where it was left is read from the beginning."""

    def __init__(self, store: FileStore, file: RecordedFile, format: FeedFormat, opened: BinaryIO, remembered: Reading | None) -> None:
        status = os.fstat(opened.fileno())
        known = remembered is not None and remembered.client == format.name and goes_on(opened, remembered)
        begun = remembered if known and remembered is not None else Reading(file.name, format.name)
        self.is_over = False
        self._file = file
        self._client = format.name
        self._size, self._mtime = status.st_size, status.st_mtime_ns
        self._expected = remembered.offset if remembered is not None else 0
        self._lines = Lines(opened, file.shown, begun.offset, begun.line)
        self._rows = iter(self._lines)
        self._feed = format.start(file.path, begun.state, partial(store.imports.recorded, file.name) if known else _nothing_known)
        self._binding = Binding(store, file, format.name, again=remembered is not None and not known)

    def keep_next(self, enough: Enough, *, history: bool) -> Imported:
        """Read until it is enough, and keep that in one transaction; raises Outrun where another process was quicker.

        The whole file is read where what it holds may be archived already. ``history`` counts only where all is kept at once.
        """
        begin, main = self._lines.offset, self._feed.about(MAIN)
        damaged = len(self._lines.damaged)
        events = self._read(enough)
        chains = entries_by_chain(events)
        self._meet(chains)
        if self._binding.is_matching and not self.is_over:
            chains = entries_by_chain([*events, *self._read(_never)])
        if MAIN not in chains and self._feed.about(MAIN) != main and self._binding.has(MAIN):
            chains[MAIN] = []  # nothing was said, but more is known: a title, a model
        abouts = {chain: self._feed.about(chain) for chain in chains}
        chapters = self._binding.chapters(chains, abouts)
        kept = self._binding.keep(self._reading(), chapters, expected=self._expected, history=history and begin == 0 and self.is_over)
        self._expected = self._lines.offset
        return kept + self._read_now(begin, damaged)

    def _meet(self, chains: dict[str, list[Entry]]) -> None:
        for chain, entries in chains.items():
            self._binding.meet(chain, entries, self._feed.about(chain))

    def _read(self, enough: Enough) -> list[Event]:
        events: list[Event] = []
        for number, row in self._rows:
            events.extend(self._feed.take(number, row))
            if enough():
                return events
        self.is_over = True
        return events

    def _reading(self) -> Reading:
        """How far it was read. Until it is over neither size nor time are those of the file: it has something new."""
        size, mtime = (self._size, self._mtime) if self.is_over else (-1, 0)
        lines, state = self._lines, self._feed.state()
        return Reading(self._file.name, self._client, size, mtime, lines.offset, lines.line, lines.check(), state)

    def _read_now(self, begin: int, damaged: int) -> Imported:
        return Imported(
            damaged=tuple(self._lines.damaged[damaged:]),
            unfinished=int(self.is_over and self._lines.is_unfinished),
            bytes=self._lines.offset - begin,
        )


def portions(recording: Recording, enough: Enough, *, history: bool = False) -> Iterator[Imported]:
    """Keep all that is left of a recording, portion by portion."""
    while not recording.is_over:
        yield recording.keep_next(enough, history=history)


def _nothing_known(chain: str, key: str) -> Message | None:
    return None


def _never() -> bool:
    return False
