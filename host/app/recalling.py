"""The tools of the MCP server: the archive of a home folder, opened when it is first needed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from host.app.current import CurrentArchive
from host.app.stores import archive_of, open_archive
from host.app.wiring import Options
from host.errors import StoreError
from host.importing.importer import Importer
from host.recall.boundary import Boundary
from host.tokens import Counter

if TYPE_CHECKING:
    from host.config import Config
    from host.messages.types import ToolSchema
    from host.recall.answers import Answer
    from host.store.protocols import FileStore

READY_SECONDS = 1.0  # on the index before the first search, while nobody waits
READYING = "ctxhost makes ready"  # the thread that does it
DURABILITY = "normal"  # what is written here stands in the clients' files as well: after a power cut it is read again
COUNTED_AS = "gpt-4"  # nobody knows the client's vocabulary; this one loads in half the time of a newer one and rarely counts less


class Recalling:
    """The recall tools over the archive of a home folder (protocol ``host.mcp.server.Tools``). Threads may share it."""

    def __init__(self, home: Path, boundary: Boundary, *, import_command: str, user_home: Path, environ: Mapping[str, str]) -> None:
        self._home = home
        self._boundary = boundary
        self._import_command = import_command
        self._clients = (user_home, environ)
        self._count = Counter(COUNTED_AS).text
        self._lock = threading.Lock()
        self._calls = 0
        self._opened: CurrentArchive | None = None
        self._readying: threading.Thread | None = None

    def tools(self) -> list[ToolSchema]:
        """The schemas; the same whatever is archived, and also where the archive cannot be opened.

        Who asks for them is about to use them: what the first call needs is made ready meanwhile.
        """
        from host.recall.recall import schemas

        with self._lock:
            if self._readying is None:
                self._readying = threading.Thread(target=self._make_ready, name=READYING, daemon=True)
                self._readying.start()
        return schemas()

    def call(self, name: str, arguments: object) -> Answer:
        """Use a tool. Raises StoreError where the archive cannot be opened; the next call tries again."""
        from host.recall.recall import Recall

        if self._readying is not None:
            self._readying.join()
        with self._at_work():
            opened = self._open()
            answer = Recall(opened.store, self._boundary, count=self._count, catch_up=opened.catch_up).call(name, arguments)
            if answer.is_error and not opened.is_usable():
                self._drop(opened)
            return answer

    def close(self) -> None:
        """Close the archive; where a call that nobody waits for is still at work, it ends with the process."""
        with self._lock:
            if self._opened is not None and not self._calls:
                self._opened.store.close()
                self._opened = None

    def _drop(self, opened: CurrentArchive) -> None:
        """Open another one for the next call; who still uses this one keeps it open."""
        with self._lock:
            if self._opened is opened:
                self._opened = None
            if self._calls == 1:
                opened.store.close()

    def _make_ready(self) -> None:
        """Load the vocabulary, open the archive where there is one, and index what waits; a fault is the first call's to meet."""
        with self._at_work(), suppress(StoreError):
            self._count(COUNTED_AS)
            if archive_of(self._home).exists():
                self._open().store.search.catch_up(seconds=READY_SECONDS)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Until it is over the archive stays open."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1

    def _open(self) -> CurrentArchive:
        with self._lock:
            if self._opened is None:
                store = open_archive(self._home, durability=DURABILITY)
                self._opened = CurrentArchive(store, importer_for(store, *self._clients), self._boundary.directories, self._import_command)
            return self._opened


def recalling(options: Options, directory: Path | None, *, scope: str | None, import_command: str) -> Recalling:
    """The tools for a project folder, the current one where none is given.

    ``scope`` is ``directory`` or ``all``; None: as configured at home. Nothing in the folder is opened, and the environment
    says nothing about the scope: a project can set variables for the programs that are started in it.
    """
    everything = (scope or config_at_home(options).recall.scope) == "all"
    boundary = Boundary(everything=True) if everything else Boundary(directories=names_of_folder(directory, os.environ))
    return Recalling(options.home, boundary, import_command=import_command, user_home=Path.home(), environ=os.environ)


def config_at_home(options: Options) -> Config:
    """The configuration of the home folder, or of --config, alone: neither the current folder nor the environment adds to it."""
    from host.config import load

    return load(config_file=options.config_file, home=options.home, cwd=options.home, environ={}).config


def names_of_folder(directory: Path | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    """How clients may have recorded a folder: as it was given, or as the shell calls the current one, and without symbolic links."""
    given = Path.cwd() if directory is None else directory.absolute()
    called = Path(environ.get("PWD", "."))
    is_here = directory is None and called.is_absolute() and called.is_dir() and called.samefile(given)
    return tuple(dict.fromkeys(map(str, (*([called] if is_here else []), given, given.resolve()))))


def importer_for(store: FileStore, user_home: Path, environ: Mapping[str, str]) -> Importer:
    """The importer of the clients' session files."""
    return Importer(store, user_home=user_home, environ=environ)
