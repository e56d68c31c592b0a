"""A recording that grows, read on from where it was left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import BinaryIO

from host.formats.feeds.events import MAIN, Event, FeedFormat, Said
from host.importing.binding import Binding
from host.importing.chains import entries_by_chain, timed
from host.importing.lines import Lines, goes_on
from host.importing.places import RecordedFile
from host.importing.values import Enough, Imported, Pace
from host.messages.types import Message
from host.store.protocols import FileStore
from host.store.readings import Chapter, Entry, Reading

COMPARED_BYTES = 1 << 20  # of a file, and
COMPARED_ROWS = 2_000  # of what is archived: more is not compared with each other where there is little time


class Recording:
    """One file while it is read. What is unknown at the place where it was left is read from the beginning.

    ``is_kept`` tells whether anything of it is remembered: a file without a message never is. ``is_unmatched``: it has to be
    compared with the archive whole, which there was no time for.
    """

    def __init__(self, store: FileStore, file: RecordedFile, format: FeedFormat, opened: BinaryIO, remembered: Reading | None) -> None:
        status = os.fstat(opened.fileno())
        known = remembered is not None and remembered.client == format.name and goes_on(opened, remembered)
        begun = remembered if known and remembered is not None else Reading(file.name, format.name)
        self.is_over = False
        self.is_kept = known
        self.is_unmatched = False
        self._file = file
        self._format = format
        self._size, self._mtime = status.st_size, status.st_mtime_ns
        self._begun = datetime.fromtimestamp(status.st_mtime, UTC)
        self._expected = remembered.offset if remembered is not None else 0
        self._lines = Lines(opened, file.shown, begun.offset, begun.line)
        self._rows = iter(self._lines)
        self._numbers: dict[tuple[str, str], int] = {}
        self._feed = format.start(file.path, begun.state, partial(store.imports.recorded, file.name) if known else _nothing_known)
        self._is_anew = remembered is not None and not known
        self._binding = Binding(store, file, format.name, again=self._is_anew)

    def keep_next(self, pace: Pace) -> Imported:
        """Read until it is enough, and keep that in one transaction; raises Outrun where another process was quicker.

        The whole file is read where what it holds may be archived already, nothing where that takes too long. The history of
        the pace counts only where all is kept at once.
        """
        begin, main = self._lines.offset, self._feed.about(MAIN)
        damaged = len(self._lines.damaged)
        self._numbers = {}
        events = self._read(pace.enough)
        self._meet(entries_by_chain(events))
        if self._binding.is_matching and pace.is_short and self._is_too_much_to_compare():
            self.is_unmatched = self.is_over = True
            return Imported()
        if self._binding.is_matching and not self.is_over:
            events += self._read(_never)
        chains = self._timed(entries_by_chain(events), goes_on=begin > 0)
        if MAIN not in chains and not self._is_anew and self._feed.about(MAIN) != main and self._binding.has(MAIN):
            chains[MAIN] = []  # nothing was said, but more is known: a title, a model
        kept = self._kept(self._binding.chapters(chains, {chain: self._feed.about(chain) for chain in chains}), pace)
        return kept + self._read_now(begin, damaged)

    def _kept(self, chapters: list[Chapter], pace: Pace) -> Imported:
        """Keep chapters. As long as there are none nothing is remembered: what is wrong with such a file is said each time."""
        if not chapters and not self.is_kept:
            return Imported()
        pace = replace(pace, history=pace.history and not self.is_kept and self.is_over)
        kept = self._binding.keep(self._reading(), chapters, expected=self._expected, pace=pace, line_of=self._numbers)
        self._expected, self.is_kept = self._lines.offset, True
        return kept

    def _timed(self, chains: dict[str, list[Entry]], *, goes_on: bool) -> dict[str, list[Entry]]:
        """The chains, each message with a time. The first one's may be that of what was said ``before`` this reading."""
        before = self._binding.newest_time if goes_on else _no_time
        return {chain: timed(entries, partial(before, chain), self._begun) for chain, entries in chains.items()}

    def _meet(self, chains: dict[str, list[Entry]]) -> None:
        for chain, entries in chains.items():
            self._binding.meet(chain, entries, self._feed.about(chain))

    def _is_too_much_to_compare(self) -> bool:
        return self._size > COMPARED_BYTES or self._binding.compared > COMPARED_ROWS

    def _read(self, enough: Enough) -> list[Event]:
        events: list[Event] = []
        for number, row in self._rows:
            if why := self._format.fault(row):
                self._lines.pass_over(number, why)
            for event in self._feed.take(number, row):
                if isinstance(event, Said):
                    self._numbers[event.chain, event.key] = number
                events.append(event)
            if enough():
                return events
        self.is_over = True
        return events

    def _reading(self) -> Reading:
        """How far it was read. Until it is over neither size nor time are those of the file: it has something new."""
        size, mtime = (self._size, self._mtime) if self.is_over else (-1, 0)
        lines, state = self._lines, self._feed.state()
        return Reading(self._file.name, self._format.name, size, mtime, lines.offset, lines.line, lines.check(), state)

    def _read_now(self, begin: int, damaged: int) -> Imported:
        return Imported(
            damaged=tuple(self._lines.damaged[damaged:]),
            unfinished=int(self.is_over and self._lines.is_unfinished),
            bytes=self._lines.offset - begin,
        )


def portions(recording: Recording, pace: Pace) -> Iterator[Imported]:
    """Keep all that is left of a recording, portion by portion."""
    while not recording.is_over:
        yield recording.keep_next(pace)


def _nothing_known(chain: str, key: str) -> Message | None:
    return None


def _no_time(chain: str) -> datetime | None:
    return None


def _never() -> bool:
    return False
