"""The Python door: conversations for one's own loop, agents with the host's, and a gateway for chat platforms."""

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
    from host.gateway.gateway import Gateway
    from host.loop.agent import Agent
    from host.loop.events import Event
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
        from host.home import default_home, named_config

        self._place = Place(named_config() if config is None else Path(config), default_home() if home is None else Path(home))
        self._warn = warn
        self._store: SqliteStore | None = None
        self._sessions: dict[str, Session] = {}
        self._agents: dict[str, Agent] = {}
        self._gateways: list[Gateway] = []
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
            if kept.conversation in self._agents:
                return self._agents[kept.conversation].conversation
            if kept.conversation not in self._sessions:
                self._sessions[kept.conversation] = open_session(
                    self._place, self.store, kept, engine=engine, window=window, warn=self._warn
                )
            return self._sessions[kept.conversation].conversation

    def agent(self, name: str, *, model: str | None = None, tell: Callable[[Event], None] | None = None) -> Agent:
        """The agent in the conversation of this title or id, with the models, tools and memory that config.yaml names.

        ``model`` is another one's name, or ``scripted:FILE``. ``tell`` hears what happens in its turns; without it the answers are
        not streamed, and warnings go where the host's go. A second call gives the same agent. Raises NoModel where nobody can be
        asked, and UsageError for what is no title, or where the conversation was opened without an agent.
        """
        from host.app.agents import check_model, open_agent

        if not isinstance(name, str):
            raise UsageError(f"agent({name!r}) cannot be opened", "give a title")
        with self._lock:
            check_model(self._place, model)  # before an archive is made
            kept = found_or_created(self.store, name, source="api")
            if kept.conversation in self._sessions:
                raise UsageError(
                    f"conversation {name!r} is open in this host without an agent", "ask for the agent first, or use another host"
                )
            if kept.conversation not in self._agents:
                hear, stream = tell or self._warned, tell is not None
                self._agents[kept.conversation] = open_agent(self._place, self.store, kept, model=model, tell=hear, stream=stream)
            return self._agents[kept.conversation]

    def gateway(self, *, model: str | None = None, engine: str | None = None) -> Gateway:
        """The door for messages from chat platforms; it is closed with the host. Raises NoModel where nobody can be asked."""
        from host.app.agents import check_model
        from host.app.gateways import open_gateway

        with self._lock:
            check_model(self._place, model)  # before an archive is made
            self._gateways.append(open_gateway(self._place, self.store, model=model, engine=engine, warn=self._warn))
            return self._gateways[-1]

    def close(self) -> None:
        """Close the archive. Conversations, agents and gateways of this host cannot be used afterwards; a second call does nothing."""
        sessions, self._sessions = self._sessions, {}
        agents, self._agents = self._agents, {}
        gateways, self._gateways = self._gateways, []
        with ExitStack() as stack:  # the archive is closed whatever a conversation says to its end
            if self._store is not None:
                stack.callback(self._store.close)
                self._store = None
            for session in sessions.values():
                stack.callback(session.conversation.close)
            for agent in agents.values():
                stack.callback(agent.close)
            for gateway in gateways:
                stack.callback(gateway.close)

    def _warned(self, event: Event) -> None:
        """Of an agent to which nobody listens: what its user should know."""
        from host.loop.events import Warned

        if isinstance(event, Warned):
            self._warn(event.text)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
