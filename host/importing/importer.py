"""Bringing recordings of other clients into the archive: all of them in one run, or what is new in a moment."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from host.engine.services import Progress
from host.errors import UsageError
from host.formats.feeds.events import MAIN
from host.importing.catching_up import CatchingUp
from host.importing.finding import Finds, found
from host.importing.keeping import kept_of, refuse_foreign
from host.importing.naming import family
from host.importing.order import Waiting, in_order, newest_archived, newest_record
from host.importing.places import Places, RecordedFile
from host.importing.values import CaughtUp, Enough, Imported, Pace, Trouble
from host.store.protocols import FileStore, quiet

LINES = 4_000  # of a file that grew, in one transaction
UNINDEXED = 8_000  # messages after which a run indexes: fewer make more work of it, more keep a search waiting
INDEXING = 1.5  # seconds, then others get a turn
TURN = 0.105  # seconds: a process that waits for the file looks every 0.1 s
MEGABYTE = 1_000_000


class Importer:
    """Reads the recordings of other clients into an archive. ``user_home`` and ``environ`` say where the clients keep them."""

    def __init__(self, store: FileStore, *, user_home: Path, environ: Mapping[str, str]) -> None:
        self._store = store
        self._places = Places(user_home, environ)
        self._catching_up = CatchingUp(store, self._places)

    def found(self, paths: Sequence[Path] = (), client: str | None = None) -> Finds:
        """The files and folders of these paths, or without paths those of one or all clients. Raises UsageError where there is none."""
        return found(self._places, paths, client)

    def run(self, paths: Sequence[Path] = (), client: str | None = None, *, progress: Progress = quiet) -> Imported:
        """Read them all, the newest session first; ``portions`` tells what is raised."""
        return sum(self.portions(self.found(paths, client), progress=progress), Imported())

    def portions(self, finds: Finds, *, progress: Progress = quiet) -> Generator[Imported, None, None]:
        """Read files, the newest session first, and say of each portion what it brought.

        What is read can be searched at once, and stays when the run is cut short. Raises UsageError where no file holds a
        conversation, NotAConversation for a named one that holds something else.
        """
        yield from _Run(self._store, progress).over(finds)

    def read(self, path: Path) -> str | None:
        """Read one file, and nothing else; returns the conversation that it holds, None where it holds none.

        Damaged lines are passed over. Raises UsageError where there is no such file, NotAConversation where it holds something else.
        """
        (file,) = self.found([path]).files
        refuse_foreign(file)
        for _ in kept_of(self._store, file, Pace(_whole)):
            pass
        return self._store.imports.conversation(file.name, MAIN)

    def catch_up(self, directories: Sequence[str], seconds: float) -> CaughtUp:
        """Read what is new of the sessions of these working directories, all where none is named, for as long as given.

        Never raises for what files or archive are like: that becomes a notice.
        """
        return self._catching_up.catch_up(directories, seconds)


class _Run:
    """One run over many files."""

    def __init__(self, store: FileStore, progress: Progress) -> None:
        self._store = store
        self._progress = progress
        self._unindexed = 0
        self._bytes, self._total = 0, 0
        self._begun = time.monotonic()

    def over(self, finds: Finds) -> Iterator[Imported]:
        waiting, others = self._waiting(finds.files)
        done = others + Imported(unreadable=finds.unreadable)
        yield done
        for each in waiting:
            if each.file.is_named:
                refuse_foreign(each.file)
        self._total = sum(each.size for each in waiting)
        for each in in_order(waiting):
            before = self._bytes
            for kept in self._read(each):
                done += kept
                yield self._clocked(kept)
            self._bytes = before + each.size
        self._index()
        yield self._clocked(Imported())
        _refuse_nothing(done, finds)

    def _waiting(self, files: Sequence[RecordedFile]) -> tuple[list[Waiting], Imported]:
        """The files with something new, and what is said of the others."""
        known, newest = self._store.imports.readings(), newest_archived(self._store)
        waiting, others = [], Imported()
        for file in files:
            try:
                status = file.path.stat()
            except OSError as error:
                others += Imported(unreadable=(Trouble(file.shown, error.strerror or str(error)),))
                continue
            if known.get(file.name) == (status.st_size, status.st_mtime_ns) and self._is_read_as_asked(file):
                others += Imported(unchanged=1)
            elif file.name in known and self._store.imports.deleted(file.name):
                others += Imported(deleted=1)
            else:
                said = newest_record(file, status)
                history = file.name not in known and (newest is None or said < newest)
                waiting.append(Waiting(file, status.st_size, said, history))
        return waiting, others

    def _is_read_as_asked(self, file: RecordedFile) -> bool:
        """Whether a file was read as the recording of the client that the user names."""
        if not file.is_asked or (reading := self._store.imports.reading(file.name)) is None:
            return True
        return family(reading.client) == file.client

    def _read(self, each: Waiting) -> Iterator[Imported]:
        is_known = self._store.imports.reading(each.file.name) is not None
        for kept in kept_of(self._store, each.file, Pace(_every(LINES) if is_known else _whole, each.history)):
            self._bytes += kept.bytes
            self._unindexed += kept.messages + kept.versions
            yield kept
            if kept.bytes:
                self._show("reading sessions, MB")
            if self._unindexed >= UNINDEXED:
                self._index()

    def _clocked(self, kept: Imported) -> Imported:
        """The same, with the seconds since the one before."""
        now = time.monotonic()
        seconds, self._begun = now - self._begun, now
        return replace(kept, seconds=seconds)

    def _index(self) -> None:
        """Index what waits, as long as it becomes less: a damaged index is left alone, and what others add meanwhile to them."""
        left, before = 1 << 62, 1 << 63
        while 0 < left < before:
            self._show("indexing, MB")
            before, left = left, self._store.search.catch_up(seconds=INDEXING)
            if left:
                time.sleep(TURN)
        self._unindexed = 0

    def _show(self, text: str) -> None:
        self._progress(self._bytes // MEGABYTE, -(-self._total // MEGABYTE), text)


def _refuse_nothing(done: Imported, finds: Finds) -> None:
    """Raise UsageError where no file held a conversation, and nothing was wrong with any."""
    if not (done.read or done.unchanged or done.deleted or done.empty or done.damaged or done.unreadable):
        raise UsageError(
            f"no conversation was found in {finds.looked}; {done.passed_over:,} files hold something else",
            "name a file to see what it holds; `ctxhost import --help` says what is read",
        )


def _whole() -> bool:
    """A file that was never read is kept in one transaction: its messages get ids that follow each other."""
    return False


def _every(lines: int) -> Enough:
    left = iter(range(1, 1 << 62))
    return lambda: next(left) % lines == 0
