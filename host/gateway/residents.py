"""Agents that stay open between two messages of their conversation."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from host.conversation.conversation import Conversation
from host.gateway.notices import CUT, notice_of
from host.loop.agent import Turn
from host.loop.events import Answered, Compacted, Event
from host.store.values import Session

Tell = Callable[[Event], None]
MOST = 32  # open agents: each has its window in memory


class Answering(Protocol):
    """What a gateway needs of an agent (host.loop.agent.Agent)."""

    @property
    def conversation(self) -> Conversation: ...

    def turn(self, message: str) -> Turn: ...

    def resume(self) -> Turn | None: ...

    def close(self) -> None: ...


OpenAgent = Callable[[Session, Tell], Answering]
"""Opens the agent of a session; its events go to the callable."""


@dataclass
class Resident:
    """An open agent, and who hears it now. ``warnings`` are what the user is to see of the turn that runs."""

    session: Session
    agent: Answering = field(init=False)
    tell: Tell = lambda event: None
    warnings: list[str] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def hear(self, event: Event) -> None:
        """Collect what the user should see besides the answer, and pass every event on."""
        if isinstance(event, Compacted) and event.outcome.progressed and not event.outcome.report.fallback_used:
            self._told.clear()  # what was wrong is over; should it come again, it is news
        if isinstance(event, Answered):
            self._told.discard(CUT)  # each answer is told of anew
        if notice := notice_of(event):
            self.warn(notice)
        self.tell(event)

    def warn(self, text: str) -> None:
        """Let the user see this, once as long as it lasts."""
        if text not in self._told:
            self._told.add(text)
            self.warnings.append(text)


class Residents:
    """The open agents of a process, the longest unused of which is closed when there are too many."""

    def __init__(self, open_agent: OpenAgent, most: int = MOST) -> None:
        self._open_agent = open_agent
        self._most = most
        self._idle: OrderedDict[str, Resident] = OrderedDict()
        self._guard = threading.Lock()

    @contextmanager
    def one(self, session: Session, tell: Tell) -> Iterator[Resident]:
        """The agent of this session, for one caller at a time."""
        with self._guard:
            resident = self._idle.pop(session.conversation, None)
        if resident is None:
            resident = Resident(session)
            resident.tell = tell
            resident.agent = self._open_agent(session, resident.hear)
        resident.tell = tell
        try:
            yield resident
        finally:
            resident.tell, resident.warnings = lambda event: None, []
            self._put_back(resident)

    def dismissed(self, conversation: str) -> None:
        """Close the agent of a conversation that is over."""
        with self._guard:
            resident = self._idle.pop(conversation, None)
        if resident is not None:
            resident.agent.close()

    def close(self) -> None:
        """Close all that are idle."""
        with self._guard:
            idle, self._idle = self._idle, OrderedDict()
        for resident in idle.values():
            resident.agent.close()

    def _put_back(self, resident: Resident) -> None:
        with self._guard:
            self._idle[resident.session.conversation] = resident
            oldest = self._idle.popitem(last=False)[1] if len(self._idle) > self._most else None
        if oldest is not None:
            oldest.agent.close()
