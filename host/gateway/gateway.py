"""The porch for chat platforms: an inbound message goes to its conversation, and the answer comes back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol

from host.conversation.feedback import feedback
from host.conversation.manual import too_few
from host.conversation.wording import shown
from host.errors import ProviderError, UsageError
from host.gateway.deliveries import expected, found
from host.gateway.inbound import Inbound, Origin, Outbound
from host.gateway.registry import EXPIRED, NEW, Kept, Registry
from host.gateway.residents import OpenAgent, Resident, Residents, Tell
from host.gateway.turns import Busy, Turns
from host.loop.agent import Turn
from host.messages.reading import text_of
from host.store.protocols import Leases
from host.store.values import Session

BUSY = "an earlier message is still being answered; this one was not taken, send it again"
TAKEN = "this message was taken before"


class Store(Kept, Protocol):
    """The part of a store that a gateway needs."""

    @property
    def leases(self) -> Leases: ...


class Gateway:
    """Answers inbound messages, each in the conversation of its platform, chat, thread and user.

    ``open_agent`` opens the agent of a session. ``message_limit`` is the number of messages at which a conversation is compacted
    before its agent wakes, whatever its size in tokens (hermes.md 13). After ``expire_hours`` without a message the next one begins a
    new session. Several processes may answer for one store.
    """

    def __init__(
        self,
        store: Store,
        open_agent: OpenAgent,
        *,
        message_limit: int = 5000,
        expire_hours: float | None = None,
        turns: Turns | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._registry = Registry(store)
        self._residents = Residents(open_agent)
        self._turns = turns or Turns(store.leases)
        self._message_limit = message_limit
        self._expire_hours = expire_hours
        self._clock = clock

    def receive(self, inbound: Inbound, tell: Tell = lambda event: None) -> Outbound:
        """Answer one message; ``tell`` hears what happens meanwhile. What fails is told in the answer's warnings."""
        try:
            with self._turns.one(str(inbound.origin)):
                session = self._session(inbound.origin)
                if (command := COMMANDS.get(inbound.text.split()[0].casefold())) is not None:
                    return command(self, session, inbound)
                with self._residents.one(session, tell) as resident:
                    return self._answered(resident, session, inbound)
        except Busy:
            return Outbound("", "", "busy", (BUSY,))

    def session(self, origin: Origin) -> Session | None:
        """The session in which an origin talks now."""
        return self._registry.session(origin)

    def close(self) -> None:
        """Close the agents that are open."""
        self._residents.close()

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def new(self, session: Session, inbound: Inbound) -> Outbound:
        """``/new``: the session ends, and another begins."""
        begun = self._renewed(session, inbound.origin, NEW)
        return Outbound(begun.id, "A new conversation begins; the old one stays in the archive.", "command")

    def compress(self, session: Session, inbound: Inbound) -> Outbound:
        """``/compress [focus]``: compact now."""
        focus = inbound.text.partition(" ")[2].strip() or None
        with self._residents.one(session, lambda event: None) as resident:
            conversation = resident.agent.conversation
            few = too_few(len(conversation.catch_up().messages))
            try:
                lines = [f"Not enough conversation to compress: {few.detail}."] if few else feedback(conversation.compact(focus)).lines()
            except UsageError as refused:
                lines = [refused.what]
            return Outbound(conversation.session, "\n".join(lines), "command", tuple(resident.warnings))

    def _session(self, origin: Origin) -> Session:
        """The session of this message: the one that goes on, or a new one."""
        session = self._registry.session(origin)
        if session is None:
            return self._registry.begun(origin)
        if self._registry.is_expired(session, self._clock(), self._expire_hours):
            return self._renewed(session, origin, EXPIRED)
        return session

    def _renewed(self, session: Session, origin: Origin, reason: str) -> Session:
        self._residents.dismissed(session.conversation)
        self._registry.ended(session, reason)
        return self._registry.begun(origin)

    def _answered(self, resident: Resident, session: Session, inbound: Inbound) -> Outbound:
        """The turn of one message: hygiene first, then the agent; a message that is known already is not added again."""
        conversation = resident.agent.conversation
        known = found(session, conversation.archive, inbound.id, inbound.text)
        if known is not None and known.answer is not None:
            return Outbound(session.id, text_of(known.answer), "answered")
        try:
            conversation.hygiene(self._message_limit)
            turn = resident.agent.resume() if known is not None else self._turn(resident, inbound)
        except ProviderError as failed:
            return Outbound(conversation.session, "", "failed", (*resident.warnings, *filter(None, (failed.what, failed.advice))))
        if turn is None:
            return Outbound(conversation.session, "", "answered", (TAKEN,))
        text = text_of(turn.message) if turn.message is not None else ""
        detail = (shown(turn.detail),) if turn.detail and str(turn.reason) != "answered" else ()
        return Outbound(conversation.session, text, str(turn.reason), (*resident.warnings, *detail))

    def _turn(self, resident: Resident, inbound: Inbound) -> Turn:
        conversation = resident.agent.conversation
        if inbound.id:
            tip = self._store.sessions.tip(resident.session.conversation)
            expected(self._store.sessions, tip, inbound.id, conversation.archive.range()[1] + 1)
        return resident.agent.turn(inbound.text)


COMMANDS: dict[str, Callable[[Gateway, Session, Inbound], Outbound]] = {"/new": Gateway.new, "/compress": Gateway.compress}
"""What a user may type in the place of a message."""
