"""An archive that is brought up to date with the clients' session files before each search."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from host.errors import StoreError

if TYPE_CHECKING:
    from host.importing.importer import Importer
    from host.store.protocols import FileStore

CATCH_UP_SECONDS = 0.2  # what a search may spend on it before it begins
READ_SECONDS = 0.15  # of that on reading session files, the rest on the index, which a search can do without
NOT_READ = "{} not indexed yet; `{}` reads them all"
NOTHING_YET = "nothing of {} is archived yet; `{}` reads the sessions that your agents have recorded"


class CurrentArchive:
    """An archive, and how it is kept up to date for these directories, all where none is named."""

    def __init__(
        self,
        store: FileStore,
        importer: Importer,
        directories: tuple[str, ...],
        import_command: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self._importer = importer
        self._directories = directories
        self._import_command = import_command
        self._clock = clock
        self._has_something = False

    def catch_up(self) -> tuple[str, ...]:
        """Read what is new in the session files, for a moment; what the agent should know about it."""
        until = self._clock() + CATCH_UP_SECONDS
        caught = self._importer.catch_up(self._directories, seconds=READ_SECONDS)
        self.store.search.catch_up(seconds=max(0.0, until - self._clock()))
        lines = f"{caught.lines_left:,} line{'' if caught.lines_left == 1 else 's'}"
        left = (NOT_READ.format(lines, self._import_command),) if caught.lines_left else ()
        return (*caught.notices, *left, *self._nothing_yet())

    def is_usable(self) -> bool:
        """Whether the file is still there and can be read."""
        try:
            self.store.sessions.listed(limit=1)
        except StoreError:
            return False
        return True

    def _nothing_yet(self) -> tuple[str, ...]:
        self._has_something = self._has_something or bool(self.store.sessions.listed(directories=self._directories, limit=1))
        where = self._directories[0] if self._directories else "any project"
        return () if self._has_something else (NOTHING_YET.format(where, self._import_command),)
