"""Where one conversation is kept: its part of a store, the right to compact it, and its engine's document."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import Any

from host.engine.services import State
from host.errors import StoreError
from host.store.leasing import acquired, holder_of_this_process, refreshed
from host.store.memory import MemoryState
from host.store.protocols import Archive, Leases, Pins, Search, Sessions, Store, Views
from host.store.values import COMPRESSION, Lease

LEASE_SECONDS = 60.0  # after a crash nobody compacts for so long; hermes.md 9 has 300, and no fence that makes less safe
POLL_SECONDS, TELL_SECONDS = 0.1, 0.5  # between two looks at whether another let go, and between two words about it
INDEX_ROWS = 64  # new rows that are worth a transaction of the index between two turns
LATE_ROWS = 512  # new rows after which a turn stops to index them: only a loop that never says where its turns end comes to it
INDEX_SECONDS = 0.05
OWN = "ctxhost.host"
"""Under this name the host keeps a document of its own beside the engines'."""


Waiting = Callable[[float], None]
"""Hears every half second for how many seconds another process has been waited for; what it raises ends the waiting."""


class NotNow(Exception):
    """The conversation cannot be compacted at this moment; the text says why."""


class HeldState:
    """The engine's document, kept back until the view is published that belongs to it (protocol State)."""

    def __init__(self, state_of: Callable[[str], State], engine: str = "") -> None:
        self._state_of = state_of
        self.engine = engine
        self.pending: dict[str, Any] | None = None

    def belong_to(self, engine: str) -> None:
        """From now on it is this engine's: the one that is used may be another than the one that was asked for."""
        self.engine, self.pending = engine, None

    def load(self) -> dict[str, Any]:
        """The newest document, published or not."""
        return dict(self.pending) if self.pending is not None else self._state_of(self.engine).load()

    def save(self, document: dict[str, Any]) -> None:
        """Replace the document, as soon as the view is published or the engine leaves the window as it is."""
        self.pending = dict(document)

    def flush(self) -> None:
        """Write it without a view."""
        if self.pending is not None:
            self._state_of(self.engine).save(self.pending)
            self.pending = None


@dataclass
class Shelf:
    """``views`` is None where nothing is kept beyond the process, ``leases`` and ``pins`` where the store has none."""

    archive: Archive
    conversation: str = ""
    views: Views | None = None
    leases: Leases | None = None
    pins: Pins | None = None
    sessions: Sessions | None = None
    search: Search | None = None
    state: HeldState = field(default_factory=lambda: HeldState(_no_state()))
    notes: State | None = None  # the host's own document, where one is kept
    rotate: bool = False
    lease_seconds: float = LEASE_SECONDS
    _nonce: str = field(default_factory=lambda: token_hex(4))
    _unindexed: int = 0

    @classmethod
    def of(cls, store: Store, conversation: str, engine: str, *, in_place: bool) -> Shelf:
        """A conversation's part of a store."""
        pins = getattr(store, "pins", None)  # neither has every store of a third party pins
        return cls(
            archive=store.archive(conversation),
            conversation=conversation,
            views=store.views(conversation),
            leases=getattr(store, "leases", None),  # a third party's store may have none: that fails open (hermes.md 9)
            pins=pins(conversation) if pins is not None else None,
            sessions=store.sessions,
            search=store.search,
            state=HeldState(partial(store.state, conversation), engine),
            notes=store.state(conversation, OWN),
            rotate=not in_place,
        )

    @property
    def session(self) -> str:
        """The session in which the conversation goes on; empty where nothing is kept."""
        return self.sessions.tip(self.conversation).id if self.sessions is not None else ""

    @property
    def holder(self) -> str:
        """The name under which this process holds the lease; a forked child has another."""
        return holder_of_this_process(self._nonce)

    @contextmanager
    def right_to_compact(self, warn: Callable[[str], None], waiting: Waiting | None = None) -> Iterator[Lease | None]:
        """Hold the lease while a compaction runs; NotNow where another has it or nobody can tell (fails closed).

        With ``waiting`` another one is waited for, as long as a lease lasts. A store without any leases is no reason to stop: that is
        said, and the compaction goes on.
        """
        self._refuse_ended()
        if self.views is None or not self.conversation:
            yield None
        elif self.leases is None:
            warn("the store has no leases: nothing keeps two processes from compacting this conversation at once")
            yield None
        else:
            lease = self._acquired(self.leases, waiting)
            with refreshed(self.leases, lease, self.lease_seconds):
                yield lease

    def keep_state(self) -> None:
        """Write what the engine learnt outside a compaction; where that cannot be now, the next one writes it."""
        with suppress(StoreError):
            self.state.flush()

    def tidy(self, added: int, due: int = INDEX_ROWS) -> None:
        """Index new rows, once there are so many that are ``due``."""
        self._unindexed += added
        if self.search is not None and self._unindexed >= due:
            self._unindexed = self.search.catch_up(seconds=INDEX_SECONDS)

    def _refuse_ended(self) -> None:
        """A session that ended by compression went on in another: it is not compacted a second time (hermes.md 8.2)."""
        if self.sessions is not None and self.sessions.tip(self.conversation).end_reason == COMPRESSION:
            raise NotNow(f"session {self.session} ended by compression and no other goes on")

    def _acquired(self, leases: Leases, waiting: Waiting | None) -> Lease:
        try:
            patience = self.lease_seconds if waiting is not None else 0.0
            pause = _telling(waiting) if waiting is not None else time.sleep
            lease = acquired(leases, self.conversation, self.holder, self.lease_seconds, patience=patience, pause=pause)
        except Exception as error:
            raise NotNow(f"the lease could not be taken: {error}") from error
        if lease is None:
            raise NotNow("it is being compacted by another process, and tried again later")
        return lease


def _no_state() -> Callable[[str], State]:
    state = MemoryState()
    return lambda engine: state


def _telling(waiting: Waiting) -> Callable[[float], None]:
    """Lets a moment pass, and tells now and then how long it has been."""
    told = -TELL_SECONDS

    def pause(waited: float) -> None:
        nonlocal told
        if waited - told >= TELL_SECONDS:
            waiting(waited)
            told = waited
        time.sleep(POLL_SECONDS)

    return pause
