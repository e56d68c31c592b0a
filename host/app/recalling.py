"""Recall for one project: the archive opened when it is first needed, and brought up to date before each search."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from host.app.stores import archive_of, open_archive
from host.app.wiring import Options
from host.errors import CtxhostError, StoreError
from host.importing.importer import Importer
from host.mcp.hooks import AFTER_COMPACTION, HookInput
from host.recall.boundary import Boundary
from host.tokens import Counter

if TYPE_CHECKING:
    from host.config import Config
    from host.messages.types import ToolSchema
    from host.recall.answers import Answer
    from host.store.protocols import FileStore

CATCH_UP_SECONDS = 0.2  # what a search may spend on it before it begins
READ_SECONDS = 0.15  # of that on reading session files, the rest on the index, which a search can do without
READY_SECONDS = 1.0  # on the index before the first search, while nobody waits
READYING = "ctxhost makes ready"  # the thread that does it
DURABILITY = "normal"  # what is written here stands in the clients' files as well: after a power cut it is read again
COUNTED_AS = "gpt-4"  # nobody knows the client's vocabulary; this one loads in half the time of a newer one and rarely counts less
NOT_READ = "{} not indexed yet; `{}` reads them all"
NOTHING_YET = "nothing of {} is archived yet; `{}` reads the sessions that your agents have recorded"


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
        self._opened: _Opened | None = None
        self._readying: threading.Thread | None = None

    def tools(self) -> list[ToolSchema]:
        """The schemas; the same whatever is archived, and also where the archive cannot be opened.

        Who asks for them is about to use them: what the first call needs is made ready meanwhile.
        """
        from host.recall.recall import Recall
        from host.store.memory import MemoryStore

        schemas = Recall(MemoryStore(), self._boundary, count=self._count).tools()
        with self._lock:
            if self._readying is None:
                self._readying = threading.Thread(target=self._make_ready, name=READYING, daemon=True)
                self._readying.start()
        return schemas

    def call(self, name: str, arguments: object) -> Answer:
        """Use a tool. Raises StoreError where the archive cannot be opened; the next call tries again."""
        from host.recall.recall import Recall

        if self._readying is not None:
            self._readying.join()
        with self._at_work():
            opened = self._open()
            answer = Recall(opened.store, self._boundary, count=self._count, catch_up=opened.catch_up).call(name, arguments)
            if answer.is_error and not opened.is_usable():
                self._opened = None  # another call that still uses it keeps it open
            return answer

    def close(self) -> None:
        """Close the archive; where a call that nobody waits for is still at work, it ends with the process."""
        with self._lock:
            if self._opened is not None and not self._calls:
                self._opened.store.close()
                self._opened = None

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

    def _open(self) -> _Opened:
        with self._lock:
            if self._opened is None:
                store = open_archive(self._home, durability=DURABILITY)
                self._opened = _Opened(store, importer_for(store, *self._clients), self._boundary.directories, self._import_command)
            return self._opened


class _Opened:
    """An archive, and how it is kept up to date for these directories, all where none is named."""

    def __init__(self, store: FileStore, importer: Importer, directories: tuple[str, ...], import_command: str) -> None:
        self.store = store
        self._importer = importer
        self._directories = directories
        self._import_command = import_command
        self._has_something = False

    def catch_up(self) -> tuple[str, ...]:
        """Read what is new in the session files, for a moment; what the agent should know about it."""
        until = time.monotonic() + CATCH_UP_SECONDS
        caught = self._importer.catch_up(self._directories, seconds=READ_SECONDS)
        self.store.search.catch_up(seconds=max(0.0, until - time.monotonic()))
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


def recalling(options: Options, directory: Path | None, *, scope: str | None, import_command: str) -> Recalling:
    """The tools for a project folder, the current one where none is given.

    ``scope`` is ``directory`` or ``all``; None: as configured at home. Nothing in the folder is opened, and the environment
    says nothing about the scope: a project can set variables for the programs that are started in it.
    """
    everything = (scope or config_at_home(options).recall.scope) == "all"
    boundary = Boundary(everything=True) if everything else Boundary(directories=spellings(directory, os.environ))
    return Recalling(options.home, boundary, import_command=import_command, user_home=Path.home(), environ=os.environ)


def config_at_home(options: Options) -> Config:
    """The configuration of the home folder, or of --config, alone: neither the current folder nor the environment adds to it."""
    from host.config import load

    return load(config_file=options.config_file, home=options.home, cwd=options.home, environ={}).config


def spellings(directory: Path | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    """How clients may have recorded a folder: as it was given, or as the shell calls the current one, and without symbolic links."""
    given = Path.cwd() if directory is None else directory.absolute()
    called = Path(environ.get("PWD", "."))
    is_here = directory is None and called.is_absolute() and called.is_dir() and called.samefile(given)
    return tuple(dict.fromkeys(map(str, (*([called] if is_here else []), given, given.resolve()))))


def left_behind_in(home: Path, session: str | None, told: HookInput, *, budget: int, warn: Callable[[str], None]) -> str | None:
    """The rules and exact values that a session has lost with a compaction, in at most ``budget`` tokens; None where there are none.

    ``session`` is an id, a prefix of one or a title; None for the one that a client tells its hook, whose file is imported
    first. After a compaction that may not be in the file yet everything recorded counts as lost. Raises NoSuchSession.
    """
    from host.recall.leaving import left_behind

    if told.source not in ("", AFTER_COMPACTION):
        return None  # it begins, or goes on as it was: nothing has left the window just now
    with closing(open_archive(home, durability=DURABILITY)) as store:
        own = None
        if told.transcript is not None and told.transcript.is_file():
            try:
                own = imported(store, told.transcript)
            except CtxhostError as error:  # what was archived before is worth saying
                warn(str(error))
        name = store.sessions.find(session).id if session is not None else own or told.session
        return left_behind(store, name, everything=told.source == AFTER_COMPACTION, budget=budget, count=Counter(COUNTED_AS).text)


def imported(store: FileStore, transcript: Path) -> str | None:
    """Import one session file; the session that it went into, None where it holds none."""
    conversation = importer_for(store, Path.home(), os.environ).read(transcript)
    return None if conversation is None else store.sessions.tip(conversation).id


def importer_for(store: FileStore, user_home: Path, environ: Mapping[str, str]) -> Importer:
    """The importer of the clients' session files."""
    return Importer(store, user_home=user_home, environ=environ)
