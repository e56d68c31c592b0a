"""Which session an origin talks in."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol

from host.errors import NoSuchSession, TitleTaken
from host.gateway.inbound import Origin
from host.store.protocols import Archive, Sessions
from host.store.titles import LONGEST
from host.store.values import COMPRESSION, Session

SETTING = "origin"
SOURCE = "gateway"
EXPIRED, NEW = "expired", "new"  # why a session of a gateway ended


class Kept(Protocol):
    """The part of a store in which sessions are found."""

    @property
    def sessions(self) -> Sessions: ...

    def archive(self, conversation: str) -> Archive: ...


class Registry:
    """Origins and their conversations, kept in the settings of the sessions: a child has its parent's."""

    def __init__(self, store: Kept) -> None:
        self._store = store
        self._known: dict[Origin, str] = {}

    def session(self, origin: Origin) -> Session | None:
        """The session in which this origin talks now; None where there is none, or it has ended."""
        known = self._known.get(origin)
        tip = self._open(known) if known is not None else None
        if tip is None and (other := self._looked_up(origin)) is not None:  # it ended in another process, and goes on elsewhere
            tip = self._open(other)
        if tip is None:
            self._known.pop(origin, None)
        else:
            self._known[origin] = tip.conversation
        return tip

    def begun(self, origin: Origin, **settings: object) -> Session:
        """A new session for this origin; its title is where it takes place, unless another session has that title."""
        settings = {**settings, SETTING: dict(vars(origin))}
        try:
            session = self._store.sessions.create(title=str(origin)[:LONGEST], source=SOURCE, settings=settings)
        except TitleTaken:
            session = self._store.sessions.create(source=SOURCE, settings=settings)
        self._known[origin] = session.conversation
        return session

    def ended(self, session: Session, reason: str) -> None:
        """The session is over: the origin's next message begins another, which may have its title."""
        with suppress(NoSuchSession):
            self._store.sessions.end(session.id, reason)

    def is_expired(self, session: Session, now: datetime, hours: float | None) -> bool:
        """Whether nobody has said anything in this session for so long that the next message begins another."""
        if hours is None:
            return False
        last, archive = session.started, self._store.archive(session.conversation)
        newest = archive.range()[1]
        for row in archive.rows(newest, newest) if newest else ():
            last = row.time
        return last is not None and now - last > timedelta(hours=hours)

    def _open(self, conversation: str) -> Session | None:
        """The session in which a conversation goes on; None where it has ended, or was deleted."""
        try:
            tip = self._store.sessions.tip(conversation)
        except NoSuchSession:
            return None
        return tip if tip.end_reason in (None, COMPRESSION) else None

    def _looked_up(self, origin: Origin) -> str | None:
        """The conversation of the newest session with this origin."""
        wanted = vars(origin)
        listed = self._store.sessions.listed()
        return next((one.conversation for one in listed if one.settings.get(SETTING) == wanted and one.end_reason is None), None)
