"""The porch for chat platforms: an inbound message goes to its conversation, and the answer comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol

from host.conversation.feedback import compact_by_hand
from host.conversation.manual import parse_compress_arguments
from host.conversation.wording import shown
from host.errors import CtxhostError, ProviderError, UsageError
from host.gateway.deliveries import ELSEWHERE, carried, ended, expected, found, named
from host.gateway.deliveries import SETTING as DELIVERED
from host.gateway.inbound import Inbound, Origin, Outbound
from host.gateway.notices import BEGUN, BUSY, FAILED, NEARLY, NEARLY_FULL, NO_ANSWER, TAKEN
from host.gateway.registry import EXPIRED, NEW, Kept, Registry
from host.gateway.residents import OpenAgent, Resident, Residents, Tell
from host.gateway.turns import Turns
from host.loop.agent import Turn
from host.loop.events import Ending
from host.loop.leases import Busy
from host.messages.reading import text_of
from host.store.protocols import Leases
from host.store.values import Session


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
            with self._turns.one(inbound.origin.key):
                session = self._session(inbound.origin)
                if (command := COMMANDS.get(inbound.text.split()[0].casefold())) is not None:
                    return self._commanded(command, session, inbound)
                with self._residents.one(session, tell) as resident:
                    return self._answered(resident, session, inbound)
        except Busy:
            return Outbound("", "", "busy", (BUSY,))
        except CtxhostError as failed:
            known = self._known(inbound.origin)
            return Outbound(known.id if known else "", "", "failed", (FAILED.format(shown(failed.what)),))

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
        is_empty = self._store.archive(session.conversation).range() == (0, 0)
        begun = session if is_empty else self._renewed(session, inbound.origin, NEW)
        return Outbound(begun.id, BEGUN, "command")

    def compress(self, session: Session, inbound: Inbound) -> Outbound:
        """``/compress [focus | --preview | here N]``: compact now."""
        asked = parse_compress_arguments("".join(inbound.text.split(None, 1)[1:]))
        with self._residents.one(session, lambda event: None) as resident:
            conversation = resident.agent.conversation
            try:
                lines = list(compact_by_hand(conversation, asked))
            except UsageError as refused:
                lines = [refused.what]
            return Outbound(conversation.session, "\n".join(lines), "command")

    def _commanded(self, command: Run, session: Session, inbound: Inbound) -> Outbound:
        """Do what a command says, once for each delivery."""
        if not inbound.id:
            return command(self, session, inbound)
        name, sessions = named(inbound.id, inbound.text), self._store.sessions
        if found(session, self._store.archive(session.conversation), name, inbound.text) is not None:
            return Outbound(session.id, "", "command", (TAKEN,))
        done = command(self, session, inbound)
        expected(sessions, sessions.get(done.session), name, ELSEWHERE)
        return done

    def _known(self, origin: Origin) -> Session | None:
        """The session of an origin, as far as the store can say after a failure."""
        try:
            return self._registry.session(origin)
        except CtxhostError:
            return None

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
        return self._registry.begun(origin, **{DELIVERED: carried(session)})

    def _answered(self, resident: Resident, session: Session, inbound: Inbound) -> Outbound:
        """The turn of one message: hygiene first, then the agent; a message that is known already is not added again."""
        conversation, name = resident.agent.conversation, named(inbound.id, inbound.text)
        known = found(session, conversation.archive, name, inbound.text) if inbound.id else None
        if known is not None and known.answer is not None:
            return Outbound(session.id, text_of(known.answer), known.ending)
        if known is not None and not known.is_open:
            return Outbound(session.id, "", "answered", (TAKEN,))
        try:
            conversation.hygiene(self._message_limit)
            turn = resident.agent.resume() if known is not None else self._turn(resident, inbound, name)
        except ProviderError as failed:
            return Outbound(conversation.session, "", "failed", (*resident.warnings, NO_ANSWER.format(shown(failed.what))))
        if turn is None:
            return Outbound(conversation.session, "", "answered", (TAKEN,))
        if conversation.estimate() >= conversation.services.facts.window * NEARLY:
            resident.warn(NEARLY_FULL)
        text = text_of(turn.message) if turn.message is not None else ""
        detail = (shown(turn.detail),) if turn.detail and turn.reason != Ending.ANSWERED else ()
        return Outbound(conversation.session, text, str(turn.reason), (*resident.warnings, *detail))

    def _turn(self, resident: Resident, inbound: Inbound, name: str) -> Turn:
        conversation = resident.agent.conversation
        if inbound.id:
            tip = self._store.sessions.tip(resident.session.conversation)
            expected(self._store.sessions, tip, name, conversation.archive.range()[1] + 1)
        turn = resident.agent.turn(inbound.text)
        if inbound.id and turn.reason != Ending.ANSWERED:
            ended(self._store.sessions, self._store.sessions.tip(resident.session.conversation), name, turn.reason)
        return turn


Run = Callable[[Gateway, Session, Inbound], Outbound]

COMMANDS: Mapping[str, Run] = {"/new": Gateway.new, "/compress": Gateway.compress, "/compact": Gateway.compress}
"""What a user may type in the place of a message."""
