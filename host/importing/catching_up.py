"""A short look at what the clients' session files have that the archive has not, before a search."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from threading import Lock

from host.errors import Outrun, StoreError
from host.formats.sessions import CLIENTS
from host.importing.folders import Folders, Found
from host.importing.order import newest_archived, newest_record
from host.importing.owners import Owners, spellings
from host.importing.places import CODEX, Place, Places, RecordedFile
from host.importing.reading import kept_of
from host.importing.unread import Changed, Unread
from host.importing.values import CaughtUp, Enough, Imported
from host.importing.watching import Watch
from host.store.protocols import FileStore

SLICE = 0.008  # seconds of reading; keeping what was read takes about as long again
LOOKING = 0.6  # share of the time in which files are looked for and at
ASKING = 0.3  # share of the time in which files are asked whose they are
BUSY = "another search is reading the session files; what is new in them may be missing"
UNLISTED = "there was no time to look for session files in {:,} folders; the next search looks there"
UNSEEN = "there was no time to look at {:,} session files; the next search looks at them"


class CatchingUp:
    """Looks again and again."""

    def __init__(self, store: FileStore, places: Places) -> None:
        self._store = store
        self._places = places
        self._owners = Owners(store)
        self._folders = Folders()
        self._watches: defaultdict[tuple[str, ...], Watch] = defaultdict(Watch)  # by the directories that are asked for
        self._unread = Unread(store.imports)
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
        done = Imported()
        for each in changed:
            if time.monotonic() >= until:
                break
            with suppress(Outrun):  # others read it just now: the next look sees how far they came
                done += self._read(each, until)
        return CaughtUp(self._unread.lines(changed, until), done.messages, (*notices, *_faults(done)))

    def _changed(self, directories: Sequence[str], until: float) -> tuple[list[Changed], list[str]]:
        """What has something new, the file written last first, and what is said of files that there was no time for."""
        known, watch = self._store.imports.readings(), self._watches[tuple(directories)]
        now = time.monotonic()
        looked_until = now + max(LOOKING * (until - now), SLICE)
        self._folders.unlisted = 0
        files = self._files_in(directories, known, looked_until) if directories else self._files_of_all(looked_until)
        changed = watch.changed(files, known, looked_until)
        missed = ((UNLISTED, self._folders.unlisted), (UNSEEN, watch.unseen))
        unseen = [notice.format(number) for notice, number in missed if number]
        if not directories:
            return changed, unseen
        now = time.monotonic()
        begun, unasked = self._begun_in(directories, changed, now + max(ASKING * (until - now), SLICE))
        return begun, [*unseen, *unasked]

    def _files_of_all(self, until: float) -> dict[str, Found]:
        return self._found([place for name in CLIENTS for place in self._places.searched(name)], until)

    def _files_in(self, directories: Sequence[str], known: Mapping[str, object], until: float) -> dict[str, Found]:
        """The files of these directories, and rollouts that were never read."""
        foreign = self._owners.foreign[tuple(directories)]
        ours = self._owners.remembered(directories, known)
        rollouts = self._found(self._places.searched(CODEX), until)
        foreign |= {name for name in rollouts if name in known and name not in ours}
        recorded = {name: Found(str(file.path), name, file.client or "") for name, file in ours.items()}
        found = {**recorded, **self._found(self._places.searched_for(directories), until), **rollouts}
        return {name: file for name, file in found.items() if name not in foreign}

    def _found(self, places: Sequence[Place], until: float) -> dict[str, Found]:
        """The files of these places by name, each once however many ways lead to it."""
        return {file.name: file for place in reversed(places) for file in self._folders.files(place, until)}

    def _begun_in(self, directories: Sequence[str], changed: Sequence[Changed], until: float) -> tuple[list[Changed], list[str]]:
        """Without the new rollouts that began in other directories; these are not asked again."""
        spelled, foreign = spellings(directories), self._owners.foreign[tuple(directories)]
        kept: list[Changed] = []
        unasked = 0
        for each in changed:
            if each.file.client != CODEX or not each.is_new:
                kept.append(each)
            elif time.monotonic() >= until:
                unasked += 1
            elif (directory := self._owners.directory_of(each.file)) in spelled:
                kept.append(each)
            elif directory:
                foreign.add(each.file.name)
        return kept, [f"there was no time to see whose {unasked:,} session files are"] if unasked else []

    def _read(self, each: Changed, until: float) -> Imported:
        done, history = Imported(), each.is_new and self._is_past(each.file)
        if not each.is_new and self._store.imports.deleted(each.file.name):
            return done
        with closing(kept_of(self._store, each.file, _slices(until), history=history)) as portions:
            for kept in portions:
                done += kept
                if time.monotonic() >= until:
                    break
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


def _faults(done: Imported) -> list[str]:
    """What could not be read or kept, in a notice of each kind."""
    kinds = (("damaged lines were passed over", done.damaged), ("messages could not be kept", done.refused))
    notices = [f"{len(found):,} {what}, the first: {found[0]}" for what, found in kinds if found]
    return [*notices, *(f"a session file cannot be read: {trouble}" for trouble in done.unreadable)]
