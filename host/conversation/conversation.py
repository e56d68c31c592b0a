"""The conversation: what comes in is archived at once, what goes out fits the window."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from host.conversation.accepting import known_position, refuse_odd, usage_of
from host.conversation.alone import alone
from host.conversation.compacting import Compaction, Memory, OnSwitch
from host.conversation.current import Current
from host.conversation.engine_door import EngineDoor
from host.conversation.hygiene import Hygiene
from host.conversation.inbox import Inbox
from host.conversation.manual import check_keep
from host.conversation.pinning import PinShown
from host.conversation.preview import Preview
from host.conversation.receipts import ReceiptPage, receipt_at
from host.conversation.recognise import Received, Telling, Told
from host.conversation.refusals import Refusals
from host.conversation.refused import impossible
from host.conversation.retrying import GiveUp, Retry
from host.conversation.shelf import LATE_ROWS, Shelf
from host.conversation.triggers import MANUAL, POST_RESPONSE, PREFLIGHT
from host.conversation.verdict import Wish
from host.conversation.view import View
from host.engine.contract import ContextEngine
from host.engine.idle import Idle
from host.engine.outcome import Outcome
from host.engine.services import ModelFacts, Services
from host.errors import Forgotten, NoSuchSession, NotStorable, Outrun, StoreUnavailable, UsageError
from host.messages.types import Dumped, Message, Reply, ToolCall, ToolSchema, Usage
from host.store.protocols import Archive
from host.store.values import Pin
from host.tokens import Gauge


class Conversation:
    """One agent's conversation under one engine. Callers hold no rule of their own (design, Conversation)."""

    def __init__(
        self,
        engine: ContextEngine,
        services: Services,
        archive: Archive | Shelf,
        *,
        gauge: Gauge | None = None,
        warn: Callable[[str], None],
        watch: Callable[[Outcome], None] = lambda outcome: None,
        automatic: bool = True,
        on_error: str = "fallback",
        keep_exact: int = 0,
        memory: Memory | None = None,
        learn: Callable[[int], None] = lambda limit: None,
        on_switch: OnSwitch | None = None,
    ) -> None:
        self.engine = engine
        self.services = services
        self.shelf = archive if isinstance(archive, Shelf) else Shelf(archive)
        self.gauge = gauge or Gauge(services.count)
        self._lock = threading.RLock()
        self._closed = False
        self._door = door = EngineDoor(engine, warn, strict=on_error == "error")
        self._inbox = Inbox(self.shelf, door.warn_once)
        compaction = Compaction(door, services, self.shelf, self._inbox, keep_exact=keep_exact, memory=memory, on_switch=on_switch)
        self._current = Current(door, services, compaction, self.gauge, automatic=automatic, watch=watch)
        self._refusals = Refusals(self._current, self.shelf, warn=door.warn_once, learn=learn)
        self._hygiene = Hygiene(self._current, door, self.shelf)
        door.tell_model(services.facts)
        self._current.show(self._inbox.restored())
        if self.shelf.sessions is not None:
            door.tell_start(self.session)

    @property
    def archive(self) -> Archive:
        """Every message, for good."""
        return self.shelf.archive

    @property
    def session(self) -> str:
        """The id of the session in which the conversation goes on; empty where nothing is kept."""
        return self.shelf.session

    @property
    def idle(self) -> Idle | None:
        """Why the window was not compacted when that was last considered; None where it was."""
        return self._current.compaction.idleness.current

    @property
    def view(self) -> View:
        """The window as it is now, without looking whether it should be compacted."""
        with self._lock:
            return replace(self._current.view, messages=tuple(self._current.messages))

    @alone
    def catch_up(self) -> View:
        """The window with what other processes did to this conversation meanwhile."""
        self._refuse_closed()
        self._catch_up()
        return self.view

    @alone
    def reread(self) -> View:
        """The window anew from what is archived: whatever an interrupt cut short is whole again."""
        self._refuse_closed()
        self._current.show(self._inbox.restored())
        return self.view

    @alone
    def add(self, message: Message, *, delivery_of: int | None = None, time: datetime | None = None) -> int:
        """Accept a message: it is archived, then it is in the window. Returns its position in the archive.

        ``delivery_of`` is the position of a message of which this is a copy, delivered once more: it is not kept again.
        Calls and results that do not fit together are kept as they came; ``window`` gives them out paired. While the
        archive cannot be written the message is in the window all the same (position 0) and kept as soon as it can be.
        """
        refuse_odd(message, f"message {len(self._current.messages)}", time)
        return self._add(message, time) if delivery_of is None else known_position(delivery_of, self.archive.range())

    @alone
    def receive(self, messages: Sequence[Message]) -> Received:
        """Take the whole list as a caller holds it: what is known is recognised, the rest is added.

        An edit of an old message is kept as a new version of it; where the list goes on before requests that are
        archived, those leave the window. Handing the same list over again adds nothing, after a restart and after a
        compaction too.
        """
        for index, message in enumerate(messages):
            refuse_odd(message, f"entry {index} of the list")
        kept = Counter[Telling]()
        rewound = 0
        while True:
            self._catch_up()
            recognised = self._inbox.recognised(messages)
            rows: list[int | None] = [None] * len(messages)
            try:
                if recognised.rewound:
                    self._current.show(self._inbox.rewound(self._current.view, recognised.rewound))
                    rewound += len(recognised.rewound)
                for told in recognised.told:
                    before = self._current.view.rows
                    rows[told.index] = self._take(told)
                    kept[told.telling] += self._current.view.rows > before or (told.telling is Telling.NEW and rows[told.index] == 0)
            except Outrun:  # another process was quicker: look again at what there is now
                continue
            return Received(tuple(rows), kept[Telling.NEW], kept[Telling.VERSION], rewound)

    @alone
    def window(self, tools: Sequence[ToolSchema] | None = ()) -> list[Message]:
        """The messages for a model call now, not to be written into; compacted first where the threshold is reached."""
        self._refuse_closed()
        self._catch_up()
        current = self._current
        current.use_tools(tools or ())
        if (view := current.compaction.pinning.brought_back(current.view)) is not current.view:
            current.show(view)
        current.consider(PREFLIGHT)
        return current.give_out()

    @alone
    def hygiene(self, limit_messages: int) -> Outcome | None:
        """Make the window fit before an agent wakes: in place, once, at 85 % of the model's window or at that many messages.

        None where nothing was to be done, or nothing would come of it.
        """
        self._refuse_closed()
        self._catch_up()
        return self._hygiene.run(limit_messages)

    @alone
    def answered(self, reply: Reply) -> Retry | GiveUp | None:
        """Take the usage of a whole answer. None: it counts; else its request was too long without an error, and it is no answer."""
        self._refuse_closed()
        answer = self._refusals.of_reply(reply)
        if answer is None:
            self._settle_turn()
        return answer

    @alone
    def measured(self, usage: Usage | Mapping[str, Any] | Dumped | None) -> None:
        """Take the provider's count for the window that was given out last, as it came; None where it gave none."""
        self._refuse_closed()
        self._refusals.answered(usage_of(usage))
        self._settle_turn()

    @alone
    def refused(self, error: BaseException, *, max_tokens: int | None = None) -> Retry | GiveUp:
        """Take a refusal of the window that was given out last: mend what can be mended, or say why it would be of no use.

        ``max_tokens`` is the cap on the answer that was sent with it. After a ``Retry`` take the window again.
        """
        self._refuse_closed()
        return self._refusals.of(error, max_tokens)

    @alone
    def use_model(self, facts: ModelFacts) -> None:
        """Go on with another model: a fallback, or one that the user chose. Its tools are counted as before."""
        self._refuse_closed()
        self._current.use_model(facts)
        self._refusals.forget()

    @alone
    def impossible(self) -> str | None:
        """Why no model with this window takes the next request, whatever is compacted; None where it may. Ask after ``window``."""
        return impossible(self._current)

    @alone
    def compact(self, focus: str | None = None, *, keep: int | None = None) -> Outcome:
        """Compact now, whatever the threshold says. The last ``keep`` exchanges stay as they are; None: the engine decides."""
        return self._current.compacted(self._asked(focus, keep))

    @alone
    def preview(self, focus: str | None = None, *, keep: int | None = None) -> Preview:
        """What ``compact`` would do; it may ask the summary model, and changes nothing."""
        wish, current = self._asked(focus, keep), self._current
        return current.compaction.preview(current.view, current.messages, current.estimate(), wish, current.counted)

    @alone
    def pin(self, position: int, *, by: str = "user") -> Pin:
        """Keep a message, with its whole tool group, in every window until it is unpinned; it comes in now where there is room.

        UsageError where there is no such message, it needs no pin, or the pins would hold more than a quarter of the window.
        """
        self._refuse_closed()
        self._catch_up()
        pin, view = self._current.compaction.pinning.add(self._current.view, position, by=by)
        if view is not self._current.view:
            self._current.show(view)
        return pin

    @alone
    def unpin(self, position: int) -> bool:
        """Let the next compactions do with a message as with any other; False where it was not pinned."""
        return self._current.compaction.pinning.remove(position)

    @alone
    def pins(self) -> list[PinShown]:
        """All pins, oldest first."""
        return self._current.compaction.pinning.shown(self._current.view.ledger)

    @alone
    def receipt(self, version: int | None = None) -> ReceiptPage:
        """The exact values and rules that the compaction of a version took out of the window; None: of the newest one.

        UsageError where no compaction made it, or nothing is kept of the windows.
        """
        return receipt_at(self.archive, self.shelf.views.history() if self.shelf.views is not None else (), version)

    @alone
    def estimate(self) -> int:
        """Tokens of the next request: system, messages and tools."""
        return self._current.estimate()

    @property
    def calls_wait(self) -> bool:
        """Whether calls of the newest reply have no result yet."""
        return self._current.calls_wait

    @property
    def threshold(self) -> int:
        """Tokens at which the engine says it compacts; the window where it says nothing that makes sense."""
        return self._current.threshold

    @property
    def last_prompt(self) -> int:
        """What the engine took for the provider's last count; -1 right after a compaction, 0 where there is none."""
        return self._current.last_prompt

    def tools(self) -> list[ToolSchema]:
        """The engine's tools as they are offered to the model."""
        return self._door.tools()

    @alone
    def call(self, tool_call: ToolCall) -> str:
        """Answer a call of one of the engine's tools, as JSON text."""
        return self._door.answer(tool_call, self._current.messages)

    @alone
    def tidy(self) -> None:
        """Index what was said, if it is worth a moment: for between two turns. Searches find everything without it too."""
        self._inbox.tidy()

    @alone
    def close(self) -> None:
        """Say the engine good-bye and write what waits; nothing happens a second time."""
        if self._closed:
            return
        self._closed = True
        if self.idle is not None:  # what was never considered, in a preview or for a pin, leaves nothing to write
            self._current.compaction.idleness.write()
        self._inbox.backlog.written(now=True)
        if self._inbox.backlog:
            self._door.warn_once(f"{len(self._inbox.backlog)} messages could not be archived and end with this process")
        if self.shelf.sessions is not None:
            with suppress(NoSuchSession, StoreUnavailable):  # deleted meanwhile, or out of reach: there is nothing to end
                self._door.tell_end(self.session, self._current.messages)

    def _settle_turn(self) -> None:
        self.shelf.keep_state()
        self._inbox.tidy(LATE_ROWS)

    def _catch_up(self, until: int | None = None) -> None:
        """Take in what others did to this conversation: rows before ``until``, views, erasures."""
        if (news := self._inbox.news(self._current.view, until)) is not None:
            self._current.show(news)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise UsageError("this conversation is closed", "ask its Host, or a new one, for it again")

    def _add(self, message: Message, said: datetime | None, *, after: int | None = None) -> int:
        self._refuse_closed()
        if message["role"] != "tool":
            self._refusals.begin()
        try:
            if self._inbox.backlog:
                self._catch_up()
            entry = self._inbox.keep(message, said, after=after)
        except Forgotten as forgotten:
            self._door.warn_once(str(forgotten))
            return forgotten.position
        if entry.row is not None and entry.row != self._current.view.rows + 1:
            self._catch_up(until=entry.row)
        self._current.grow(entry)
        if self._current.turn.results_in:
            self._current.consider(POST_RESPONSE)
        return entry.row or 0

    def _take(self, told: Told) -> int | None:
        """Keep what a told message brings; what cannot be kept is in quarantine, and the rest goes on."""
        try:
            if told.telling is Telling.NEW:
                return self._add(told.message, None, after=self._current.view.rows)
            if told.telling is Telling.VERSION and told.entry is not None:
                self._current.show(self._inbox.told_anew(self._current.view, told.message, told.entry, after=self._current.view.rows))
                return self._current.view.rows if told.entry.row is not None else None
        except (NotStorable, StoreUnavailable) as error:
            self._door.warn_once(str(error))
            return None
        except Forgotten as forgotten:
            self._door.warn_once(str(forgotten))
            return forgotten.position
        return told.entry.row if told.entry is not None else None

    def _asked(self, focus: str | None, keep: int | None) -> Wish:
        """What the user wants, if that is possible now."""
        self._refuse_closed()
        self._catch_up()
        if self.calls_wait:
            raise UsageError("the window cannot be compacted while tool calls wait for their results", "add the results first")
        return Wish(MANUAL, focus, check_keep(keep))
