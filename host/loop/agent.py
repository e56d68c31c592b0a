"""The agent loop: a message comes in, the model answers, its calls are made, until it has nothing more to call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from host.conversation.conversation import Conversation
from host.engine.offers import Command
from host.errors import CtxhostError, UsageError
from host.loop.asking import Asking
from host.loop.bounds import bounded, room_for
from host.loop.cache import CacheTally
from host.loop.events import Answered, Called, Ended, Ending, Event, Returned, Warned, Working
from host.loop.interrupting import Stop
from host.loop.leases import PATIENCE, WAITING, turn_of
from host.loop.models import AgentModel, Models
from host.loop.open_calls import CUT_SHORT, DIED, EXHAUSTED, FAILED, NOT_RUN, open_calls, result_of, with_ids
from host.loop.toolbox import Toolbox
from host.messages.reading import call_id, calls_of
from host.messages.types import Message, Reply, ToolCall

MAX_CALLS = 60
NOT_TAKEN = "the message was not taken: send it again"
ENDED_UNHEARD = "the end of the turn could not be told: {}"


@dataclass(frozen=True)
class Turn:
    """What came of a turn. ``message`` is the newest of the model, None where it said nothing; ``calls`` are the model's replies."""

    message: Message | None
    reason: Ending
    detail: str = ""
    calls: int = 0


T = TypeVar("T", bound=Turn | None)


def is_blank(message: Message) -> bool:
    """Whether there is nothing in a message that could be answered."""
    content = message.get("content")
    return not (content.strip() if isinstance(content, str) else content)


class Agent:
    """Answers messages in a conversation, with tools.

    Everything is archived as it comes; the agent itself remembers nothing from turn to turn. ``tell`` hears what happens, and
    where it is given the answers are streamed (``stream``: false for a server that cannot). What it raises ends the turn.
    ``opening`` gives the system prompt of a conversation that begins now, blank for none; ``commands`` are what plugins offer to
    the user of a chat. Agents of one conversation, in other processes too, wait for each other's turns, ``patience`` seconds at most.
    ``stop`` is the wish that ``stop()`` makes, for whoever else waits in a turn.
    """

    def __init__(
        self,
        conversation: Conversation,
        models: Models,
        toolbox: Toolbox,
        tell: Callable[[Event], None] | None = None,
        *,
        stream: bool = True,
        max_calls: int = MAX_CALLS,
        opening: Callable[[], str] = str,
        commands: Sequence[Command] = (),
        patience: float = PATIENCE,
        stop: Stop | None = None,
    ) -> None:
        self.conversation = conversation
        self.commands = tuple(commands)
        self.toolbox = toolbox
        self._tell = tell or (lambda event: None)
        self._max_calls = max_calls
        self._opening = opening
        self._patience = patience
        self._stop = stop or Stop()
        self._asking = Asking(conversation, models, self._stop, self._tell, stream=stream and tell is not None)
        self._busy = threading.Lock()
        self._end = threading.RLock()  # a wish to stop comes before the end of a turn, or is none
        self._running = ""  # the id of the call that is being made
        self._is_untaken = False  # the message that this turn is to answer is not archived yet
        self._rows: int | None = None  # what is archived before it, None where nobody has looked
        conversation.services.progress = self._work

    def turn(self, message: str | Message) -> Turn:
        """Answer a message: a text is the user's.

        An interrupt (KeyboardInterrupt, or ``stop`` from another thread) ends it with the reason ``interrupted``. Raises
        ProviderError where no model answers; the message stays, and ``resume`` answers it. UsageError while a turn of this agent runs,
        Busy where another agent's turn in this conversation does not end.
        """
        told: Message = {"role": "user", "content": message} if isinstance(message, str) else message
        if not isinstance(told, dict) or told.get("role") != "user" or is_blank(told):
            raise UsageError(f"a turn cannot answer {str(message)[:80]!r}", "give what the user says: a text, or a message of theirs")
        return self._guarded(partial(self._answer, told), is_untaken=True)

    def resume(self) -> Turn | None:
        """Answer what was left without an answer, by a process that died or a turn that failed; None where nothing was."""
        return self._guarded(self._answer_what_is_left)

    def stop(self) -> None:
        """End the turn that runs now, from another thread: at the next piece of an answer or of a summary, or in a plugin's tool."""
        with self._end:
            if self._busy.locked():
                self._stop.wish()

    def wait(self, seconds: float) -> None:
        """Let time pass; ``stop()`` ends that with a KeyboardInterrupt. For whoever waits in a turn, such as a model's client."""
        self._stop.wait(seconds)

    def use(self, model: AgentModel) -> None:
        """Go on with another main model; the window is made to fit it before the next call. UsageError while a turn runs."""
        self._seize()
        try:
            self._asking.lead(model)
        finally:
            self._busy.release()

    def close(self) -> None:
        """Say the conversation good-bye; what is archived stays."""
        self.conversation.close()

    @property
    def model(self) -> AgentModel:
        """The model that is asked now."""
        return self._asking.models.current

    @property
    def cache(self) -> CacheTally:
        """What the provider's cache did since this agent began."""
        return self._asking.cache

    @property
    def is_unanswered(self) -> bool:
        """Whether the window ends with a request, or with results that the model has not seen."""
        messages = self.conversation.catch_up().messages
        return bool(messages) and (messages[-1].get("role") in ("user", "tool") or bool(open_calls(messages)))

    def _seize(self) -> None:
        if not self._busy.acquire(blocking=False):
            raise UsageError("a turn of this agent is running", "wait for its end, or stop() it")

    def _guarded(self, go: Callable[[], T], *, is_untaken: bool = False) -> T | Turn:
        """One turn at a time, among all agents of the conversation."""
        self._seize()
        self._is_untaken, self._rows = is_untaken, None
        try:
            with ExitStack() as held:
                turn = self._mended(go, held)
        finally:
            with self._end:
                self._stop.forget()
                self._busy.release()
        unheard = self._told_end(turn.reason, turn.detail) if turn is not None else ""
        with suppress(KeyboardInterrupt):  # whoever waited for the answer has it, and nothing is lost by leaving off
            self.conversation.tidy()
        return replace(turn, detail=unheard) if turn is not None and unheard else turn

    def _mended(self, go: Callable[[], T], held: ExitStack) -> T | Turn:
        """A turn; whatever ends it leaves a conversation that can go on, and another agent's turn alone."""
        is_ours = False
        try:
            held.enter_context(self._lease())
            is_ours = True
            return go()
        except KeyboardInterrupt:
            return self._interrupted() if is_ours else Turn(None, Ending.INTERRUPTED, NOT_TAKEN if self._is_untaken else "")
        except BaseException as error:
            if is_ours:
                self._close_calls(FAILED)
            if unheard := self._told_end(Ending.FAILED, str(error) if isinstance(error, CtxhostError) else repr(error)):
                error.add_note(unheard)
            raise

    def _lease(self) -> AbstractContextManager[None]:
        """The right to run a turn, where the conversation is kept with others' in a store that has leases."""
        shelf = self.conversation.shelf
        if shelf.leases is None or not shelf.conversation:
            return nullcontext()
        return turn_of(shelf.leases, shelf.conversation, self._stop, lambda: self._tell(Warned(WAITING)), patience=self._patience)

    def _told_end(self, reason: Ending, detail: str) -> str:
        """Tell that the turn is over; why that could not be told, blank where it could."""
        try:
            self._tell(Ended(reason, detail))
        except Exception as error:  # noqa: BLE001  the listener's door: what came of the turn counts, and says that nobody heard it
            return ENDED_UNHEARD.format(repr(error))
        return ""

    def _answer_what_is_left(self) -> Turn | None:
        return self._answer() if self.is_unanswered else None

    def _answer(self, message: Message | None = None) -> Turn:
        """The loop itself."""
        self._begin()
        if message is not None:
            self._take(message)
        while True:
            reply = self._keep(self._asking.reply(self.toolbox.schemas()))
            calls = calls_of(reply)
            if not calls:
                return Turn(reply, Ending.ANSWERED, calls=self._asking.replies)
            if self._asking.replies >= self._max_calls:
                return self._exhausted(reply)
            for call in calls:
                self._make(call, room_for(self.conversation.services.facts.usable, len(calls)))

    def _begin(self) -> None:
        """Ready for a turn: nothing open of the last one, the main model, a system prompt where the conversation is new."""
        self._running = ""
        self._asking.begin()
        if not self.conversation.catch_up().messages and (prompt := self._opening()).strip():
            self.conversation.add({"role": "system", "content": prompt})
        self._close_calls(DIED)

    def _take(self, message: Message) -> None:
        """Archive what is to be answered."""
        self._rows = self.conversation.view.rows
        self.conversation.add(message)
        self._is_untaken = False

    def _keep(self, reply: Reply) -> Message:
        message = with_ids(reply.message)
        self.conversation.add(message)
        self._asking.heard.clear()
        self._tell(Answered(message, reply.usage, reply.finish_reason))
        return message

    def _make(self, call: ToolCall, room: int) -> None:
        """Make one call and keep its result, as far as it has room."""
        self._stop.check()
        self._tell(Called(call))
        self._running = call_id(call)
        result = self.toolbox.call(call, self._stop)
        text = bounded(result.text, room, self.conversation.services.count.text)
        self.conversation.add(result_of(call, text))
        self._running = ""
        self._tell(Returned(call, text, result.failed, result.seconds))

    def _work(self, done: int, total: int, text: str) -> None:
        """An engine says how far it is; an interrupt passes through it."""
        self._stop.check()
        self._tell(Working(text, done, total))

    def _exhausted(self, reply: Message) -> Turn:
        self._close_calls(EXHAUSTED.format(self._max_calls))
        detail = f"the turn has made all of its {self._max_calls:,} model calls (agent.max_calls)"
        return Turn(reply, Ending.EXHAUSTED, detail, self._asking.replies)

    def _interrupted(self) -> Turn:
        """Keep what was said so far, without calls that were not complete, and answer those that were not made."""
        view = self.conversation.reread()
        if self._is_untaken and (self._rows is None or view.rows <= self._rows):
            return Turn(None, Ending.INTERRUPTED, NOT_TAKEN)
        messages = view.messages
        said = "".join(self._asking.heard)
        if said.strip() and messages and messages[-1].get("role") != "assistant":
            self.conversation.add({"role": "assistant", "content": said})
        self._asking.heard.clear()
        self._close_calls(NOT_RUN)
        newest = self.conversation.view.messages
        return Turn(
            newest[-1] if newest and newest[-1].get("role") == "assistant" else None, Ending.INTERRUPTED, calls=self._asking.replies
        )

    def _close_calls(self, why: str) -> None:
        """Give every open call a result that says why there is none, so that the list can be sent."""
        for call in open_calls(self.conversation.view.messages):
            self.conversation.add(result_of(call, CUT_SHORT if call_id(call) == self._running else why))
        self._running = ""
