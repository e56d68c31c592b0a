"""A short look at what the clients' session files have that the archive has not, before a search."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from threading import Lock

from host.errors import Outrun, StoreError, StoreUnavailable
from host.formats.sessions import CLIENTS
from host.importing.folders import Folders, Found
from host.importing.keeping import kept_of
from host.importing.order import newest_archived, newest_record
from host.importing.owners import Owners, spellings
from host.importing.places import Place, Places, RecordedFile
from host.importing.unread import Changed, Stamp, Unread
from host.importing.values import CaughtUp, Enough, Imported, Pace, counted
from host.importing.watching import Watch
from host.store.protocols import FileStore

SLICE = 0.008  # seconds of reading; keeping what was read takes about as long again
LOOKING = 0.6  # share of the time in which files are looked for and at
ASKING = 0.3  # share of the time in which files are asked whose they are
TICK = 0.01  # seconds: what SQLite waits less than it was told
FILE = "session file"
BUSY = "another search is reading the session files; what is new in them may be missing"
WRITING = "another process is writing to the archive; what is new in the session files may be missing"
UNMATCHED = "{} left to `ctxhost import`: what is archived of it has to be compared with it, which takes longer"
UNLISTED = "there was no time to look for session files in {}; the next search looks there"
UNSEEN = "there was no time to look at {}; the next search does"
UNASKED = "there was no time to see whose {} may be; the next search does"


class CatchingUp:
    """Looks again and again."""

    def __init__(self, store: FileStore, places: Places) -> None:
        self._store = store
        self._places = places
        self._owners = Owners(store)
        self._folders = Folders()
        self._watches: defaultdict[tuple[str, ...], Watch] = defaultdict(Watch)  # by the directories that are asked for
        self._unread = Unread(store.imports)
        self._empty: dict[str, Stamp] = {}  # files that brought nothing: the archive does not remember them
        self._unmatched: dict[str, Stamp] = {}  # files for which there was no time
        self._lock = Lock()

    def catch_up(self, directories: Sequence[str], seconds: float) -> CaughtUp:
        """One look, the file written last first, of no more than so many seconds but for what is just being kept."""
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=max(seconds, 0)):
            return CaughtUp(notices=(BUSY,))
        try:
            return self._look(directories, until, least=SLICE if seconds > 0 else 0.0)
        except StoreError as error:
            return CaughtUp(notices=(f"the session files were not read: {error.what}",))
        finally:
            self._lock.release()

    def _look(self, directories: Sequence[str], until: float, *, least: float) -> CaughtUp:
        changed, notices = self._changed(directories, until)
        until = max(until, time.monotonic() + least)  # where finding the files takes all the time, looks would come no further
        done, ours = Imported(), Imported()
        try:
            for each in changed:
                if time.monotonic() >= until:
                    break
                brought = self._read(each, until)
                done += brought
                ours += brought if self._is_of(each.file, directories) else Imported()
        except StoreUnavailable:
            if time.monotonic() < until - TICK:
                raise
            notices.append(WRITING)
        left = [each for each in changed if self._empty.get(each.file.name) != each.stamp]
        return CaughtUp(self._unread.lines(left, until), done.messages, (*notices, *told(done, ours)))

    def _changed(self, directories: Sequence[str], until: float) -> tuple[list[Changed], list[str]]:
        """What has something new, the file written last first, and what is said of files that there was no time for."""
        known, watch = self._store.imports.readings(), self._watches[tuple(directories)]
        now = time.monotonic()
        looked_until = now + max(LOOKING * (until - now), SLICE)
        self._folders.unlisted = 0
        ours = self._owners.remembered(directories, known) if directories else {}
        files = self._files_in(directories, ours, known, looked_until) if directories else self._files_of_all(looked_until)
        changed = [each for each in watch.changed(files, known, looked_until) if self._empty.get(each.file.name) != each.stamp]
        missed = ((UNLISTED, self._folders.unlisted, "folder"), (UNSEEN, watch.unseen, FILE))
        unseen = [notice.format(counted(number, what)) for notice, number, what in missed if number]
        if not directories:
            return changed, unseen
        now = time.monotonic()
        begun, unasked = self._begun_in(directories, ours, changed, now + max(ASKING * (until - now), SLICE))
        return begun, [*unseen, *unasked]

    def _files_of_all(self, until: float) -> dict[str, Found]:
        return self._found([place for name in CLIENTS for place in self._places.searched(name)], until)

    def _files_in(
        self, directories: Sequence[str], ours: Mapping[str, RecordedFile], known: Mapping[str, object], until: float
    ) -> dict[str, Found]:
        """The files of these directories, and those that may be: in a folder of the directory's name, or never read."""
        foreign = self._owners.foreign[tuple(directories)]
        recorded = {name: Found(str(file.path), name, file.client or "") for name, file in ours.items()}
        found = {**recorded, **self._found(self._places.searched_for(directories), until)}
        may_be = {name for name, file in found.items() if name not in foreign and (CLIENTS[file.client].by_directory or name not in known)}
        return {name: file for name, file in found.items() if name in ours or name in may_be}

    def _found(self, places: Sequence[Place], until: float) -> dict[str, Found]:
        """The files of these places by name, each once however many ways lead to it."""
        return {file.name: file for place in reversed(places) for file in self._folders.files(place, until)}

    def _begun_in(
        self, directories: Sequence[str], ours: Mapping[str, RecordedFile], changed: Sequence[Changed], until: float
    ) -> tuple[list[Changed], list[str]]:
        """Without the new files that began in other directories; these are not asked again."""
        spelled, foreign = spellings(directories), self._owners.foreign[tuple(directories)]
        kept: list[Changed] = []
        unasked = 0
        for each in changed:
            if each.file.name in ours:
                kept.append(each)
            elif time.monotonic() >= until:
                unasked += 1
            elif (directory := self._owners.directory_of(each.file)) in spelled or not directory:
                kept.append(each)
            else:
                foreign.add(each.file.name)
        return kept, [UNASKED.format(counted(unasked, FILE))] if unasked else []

    def _is_of(self, file: RecordedFile, directories: Sequence[str]) -> bool:
        """Whether a file may be named to who works in these directories: another project's is not."""
        return not directories or self._owners.directory_of(file) in spellings(directories)

    def _read(self, each: Changed, until: float) -> Imported:
        """Read what is new of a file as far as the time goes. One that brought nothing is not read again as long as it stays so."""
        if self._unmatched.get(each.file.name) == each.stamp:
            return Imported(unmatched=1)
        done, history = Imported(), each.is_new and self._is_past(each.file)
        if not each.is_new and self._store.imports.deleted(each.file.name):
            return done
        with suppress(Outrun), closing(kept_of(self._store, each.file, Pace(_slices(until), history, until))) as portions:
            for kept in portions:  # where others read it just now the next look sees how far they came
                done += kept
                if time.monotonic() >= until:
                    break
        if done.unmatched:
            self._unmatched[each.file.name] = each.stamp
        if done.empty or done.passed_over:
            self._empty[each.file.name] = each.stamp
        return done

    def _is_past(self, file: RecordedFile) -> bool:
        newest = newest_archived(self._store)
        try:
            return newest is None or newest_record(file, file.path.stat()) < newest
        except OSError:
            return False


def _slices(until: float) -> Enough:
    """Enough is what was read in a slice of time, or when the time is over."""
    begun: float | None = None

    def enough() -> bool:
        nonlocal begun
        now = time.monotonic()
        begun = now if begun is None else begun
        if now - begun < SLICE and now < until:
            return False
        begun = None
        return True

    return enough


def told(done: Imported, ours: Imported) -> Iterator[str]:
    """What could not be read or kept, in a notice of each kind. Only files that are ``ours`` are named."""
    kinds = (
        (done.damaged, ours.damaged, "damaged line was passed over", "damaged lines were passed over"),
        (done.refused, ours.refused, "message could not be kept", "messages could not be kept"),
        (done.unreadable, ours.unreadable, "session file cannot be read", "session files cannot be read"),
    )
    for every, named, one, several in kinds:
        if every:
            first = f", the first: {named[0]}" if named else ""
            yield f"{len(every):,} {one if len(every) == 1 else several}{first}"
    if done.unmatched:
        yield UNMATCHED.format(counted(done.unmatched, FILE))
