"""The Python door: conversations for one's own loop."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from host.app.session import Session, found_or_created, open_session
from host.app.stores import open_archive
from host.app.wiring import load_config
from host.errors import UsageError

if TYPE_CHECKING:
    from host.conversation.conversation import Conversation
    from host.store.sqlite.store import SqliteStore

LOG = logging.getLogger("ctxhost")
LOG.addHandler(logging.NullHandler())  # a library says nothing by itself


@dataclass(frozen=True)
class Place:
    """Configuration file and home folder."""

    config_file: Path | None
    home: Path


class Host:
    """Conversations that are kept in the home folder, each under the engine that config.yaml names.

    One per worker or task; a conversation may be shared by its threads. No global state, no output, no signal handlers:
    warnings go to ``warn``, else to the logger ``ctxhost``. ``with Host() as host:`` closes the archive at the end.
    """

    def __init__(
        self, *, home: str | Path | None = None, config: str | Path | None = None, warn: Callable[[str], None] = LOG.warning
    ) -> None:
        from host.home import default_home

        self._place = Place(None if config is None else Path(config), default_home() if home is None else Path(home))
        self._warn = warn
        self._store: SqliteStore | None = None
        self._sessions: dict[str, Session] = {}
        self._lock = threading.RLock()

    @property
    def store(self) -> SqliteStore:
        """The archive, opened at the first use."""
        if self._store is None:
            self._store = open_archive(self._place.home, durability=load_config(self._place).config.store.durability)
        return self._store

    def conversation(self, name: str, *, engine: str | None = None, window: int | None = None) -> Conversation:
        """The conversation of exactly this title or id; a new one of this title where there is none.

        ``window`` is the model's context window in tokens where config.yaml names no model. A second call gives the
        same object.
        """
        if not isinstance(name, str) or not (window is None or (type(window) is int and window > 0)):
            raise UsageError(f"conversation({name!r}, window={window!r}) cannot be opened", "give a title, and a window in tokens")
        with self._lock:
            kept = found_or_created(self.store, name, source="api")
            if kept.conversation not in self._sessions:
                self._sessions[kept.conversation] = open_session(
                    self._place, self.store, kept, engine=engine, window=window, warn=self._warn
                )
            return self._sessions[kept.conversation].conversation

    def close(self) -> None:
        """Close the archive. Conversations of this host cannot be used afterwards; a second call does nothing."""
        sessions, self._sessions = self._sessions, {}
        with ExitStack() as stack:  # the archive is closed whatever a conversation says to its end
            if self._store is not None:
                stack.callback(self._store.close)
                self._store = None
            for session in sessions.values():
                stack.callback(session.conversation.close)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
