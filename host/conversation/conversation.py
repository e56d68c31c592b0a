"""The conversation: what comes in is archived at once, what goes out fits the window."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from host.conversation.accepting import known_position, refuse_odd, usage_of
from host.conversation.alone import alone
from host.conversation.compacting import Compaction, Memory
from host.conversation.considered import why_not
from host.conversation.engine_door import EngineDoor
from host.conversation.inbox import Inbox
from host.conversation.manual import check_keep
from host.conversation.picturing import with_smaller_images
from host.conversation.pinning import PinShown
from host.conversation.preview import Preview
from host.conversation.receipts import ReceiptPage, receipt_at
from host.conversation.recognise import Received, Telling, Told
from host.conversation.refusal import REFUSALS, GiveUp, Retry
from host.conversation.shelf import Shelf
from host.conversation.triggers import MANUAL, POST_RESPONSE, PREFLIGHT, REFUSAL, Trigger
from host.conversation.turn import Turn
from host.conversation.verdict import Size, Wish, outcome_of
from host.conversation.view import View
from host.conversation.wording import words_of_overfull
from host.engine.contract import ContextEngine
from host.engine.idle import Idle
from host.engine.outcome import Outcome
from host.engine.services import Services
from host.errors import Forgotten, NoSuchSession, NotStorable, Outrun, StoreUnavailable, UsageError
from host.messages.types import Dumped, Message, ToolCall, ToolSchema, Usage
from host.pipeline.settle import render
from host.pipeline.staying import staying
from host.provider.refusals import too_long
from host.store.protocols import Archive
from host.store.values import Pin
from host.tokens import Gauge
from host.transforms.sanitize import sendable


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
    ) -> None:
        self.engine = engine
        self.services = services
        self.shelf = archive if isinstance(archive, Shelf) else Shelf(archive)
        self.gauge = gauge or Gauge(services.count)
        self._lock = threading.RLock()
        self._door = EngineDoor(engine, warn, strict=on_error == "error")
        self._watch = watch
        self._automatic = automatic
        self._inbox = Inbox(self.shelf, self._door.warn_once)
        self._compaction = Compaction(self._door, services, self.shelf, self._inbox, keep_exact=keep_exact, memory=memory)
        self._view = View()  # its messages are in _messages, where they grow
        self._messages: list[Message] = []
        self._turn = Turn()
        self._sent: list[Message] | None = None
        self._tools: tuple[ToolSchema, ...] = ()
        self._refusals = 0
        self._closed = False
        services.staying = self._staying
        self._door.tell_model(services.facts)
        self._show(self._inbox.restored())
        if self.shelf.sessions is not None:
            self._door.tell_start(self.session)

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
        return self._compaction.idleness.current

    @property
    def view(self) -> View:
        """The window as it is now, without looking whether it should be compacted."""
        with self._lock:
            return replace(self._view, messages=tuple(self._messages))

    @alone
    def add(self, message: Message, *, delivery_of: int | None = None, time: datetime | None = None) -> int:
        """Accept a message: it is archived, then it is in the window. Returns its position in the archive.

        ``delivery_of`` is the position of a message of which this is a copy, delivered once more: it is not kept again.
        Calls and results that do not fit together are kept as they came; ``window`` gives them out paired. While the
        archive cannot be written the message is in the window all the same (position 0) and kept as soon as it can be.
        """
        refuse_odd(message, f"message {len(self._messages)}", time)
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
                    self._show(self._inbox.rewound(self._view, recognised.rewound))
                    rewound += len(recognised.rewound)
                for told in recognised.told:
                    before = self._view.rows
                    rows[told.index] = self._take(told)
                    kept[told.telling] += self._view.rows > before or (told.telling is Telling.NEW and rows[told.index] == 0)
            except Outrun:  # another process was quicker: look again at what there is now
                continue
            return Received(tuple(rows), kept[Telling.NEW], kept[Telling.VERSION], rewound)

    @alone
    def window(self, tools: Sequence[ToolSchema] | None = ()) -> list[Message]:
        """The messages for a model call now, not to be written into; compacted first where the threshold is reached."""
        self._refuse_closed()
        tools = tools or ()
        self._catch_up()
        if tuple(tools) != self._tools:
            self._tools = tuple(tools)
            self.services.facts = replace(self.services.facts, tools=self.services.count.tools(self._tools))
        if (view := self._compaction.pinning.brought_back(self._view)) is not self._view:
            self._show(view)
        self._consider(PREFLIGHT)
        self._warn_if_overfull()
        whole = not self._turn.torn and not self._turn.waiting
        self._sent = list(self._messages) if whole else sendable(self._messages)
        self._turn = replace(self._turn, asked=True)
        return list(self._sent)

    @alone
    def measured(self, usage: Usage | Mapping[str, Any] | Dumped | None) -> None:
        """Take the provider's count for the window that was given out last, as it came; None where it gave none."""
        usage = usage_of(usage)
        self._refusals = 0
        self.gauge.record(usage, self._messages if self._sent is None else self._sent, self._tools)
        self._door.take_usage(usage)
        self.shelf.keep_state()
        self._inbox.tidy()

    @alone
    def refused(self, error: BaseException) -> Retry | GiveUp:
        """Take a model's refusal of the window that was given out last: shorten it, or say that this would not help."""
        refusal = too_long(error)
        if refusal is None:
            view, answer = with_smaller_images(self._view, error, self.shelf)
            if answer:
                self._show(view)
            return answer
        self._refusals += 1
        if refusal.sent and self._sent is not None:
            self.gauge.record(Usage(refusal.sent), self._sent, self._tools)
        if refusal.limit and refusal.limit < self.services.facts.window:
            self.services.facts = replace(self.services.facts, window=refusal.limit)
            self._door.tell_model(self.services.facts, learnt=True)
        if self._refusals > REFUSALS:
            return GiveUp(f"the window was refused {self._refusals} times in a row")
        outcome = self._compacted(Wish(REFUSAL))
        if outcome.progressed:
            return Retry(f"the window was compacted from {outcome.before:,} to {outcome.after:,} tokens")
        return GiveUp(f"the window holds {outcome.before:,} tokens and could not be made shorter: {outcome.refused or 'no progress'}")

    @alone
    def compact(self, focus: str | None = None, *, keep: int | None = None) -> Outcome:
        """Compact now, whatever the threshold says. The last ``keep`` exchanges stay as they are; None: the engine decides."""
        return self._compacted(self._asked(focus, keep))

    @alone
    def preview(self, focus: str | None = None, *, keep: int | None = None) -> Preview:
        """What ``compact`` would do; it may ask the summary model, and changes nothing."""
        wish = self._asked(focus, keep)
        return self._compaction.preview(self._view, self._messages, self.estimate(), wish, self._counted)

    @alone
    def pin(self, position: int, *, by: str = "user") -> Pin:
        """Keep a message, with its whole tool group, in every window until it is unpinned; it comes in now where there is room.

        UsageError where there is no such message, it needs no pin, or the pins would hold more than a quarter of the window.
        """
        self._refuse_closed()
        self._catch_up()
        pin, view = self._compaction.pinning.add(self._view, position, by=by)
        if view is not self._view:
            self._show(view)
        return pin

    @alone
    def unpin(self, position: int) -> bool:
        """Let the next compactions do with a message as with any other; False where it was not pinned."""
        return self._compaction.pinning.remove(position)

    @alone
    def pins(self) -> list[PinShown]:
        """All pins, oldest first."""
        return self._compaction.pinning.shown(self._view.ledger)

    @alone
    def receipt(self, version: int | None = None) -> ReceiptPage:
        """The exact values and rules that the compaction of a version took out of the window; None: of the newest one.

        UsageError where no compaction made it, or nothing is kept of the windows.
        """
        return receipt_at(self.archive, self.shelf.views.history() if self.shelf.views is not None else (), version)

    @alone
    def estimate(self) -> int:
        """Tokens of the next request: system, messages and tools."""
        return self.gauge.measure(self._messages, self._tools)

    @property
    def calls_wait(self) -> bool:
        """Whether calls of the newest reply have no result yet."""
        return bool(self._turn.waiting)

    @property
    def threshold(self) -> int:
        """Tokens at which the engine says it compacts; the window where it says nothing that makes sense."""
        return self._door.threshold(self.services.facts.window)

    @property
    def last_prompt(self) -> int:
        """What the engine took for the provider's last count; -1 right after a compaction, 0 where there is none."""
        return self._door.last_prompt()

    def tools(self) -> list[ToolSchema]:
        """The engine's tools as they are offered to the model."""
        return self._door.tools()

    @alone
    def call(self, tool_call: ToolCall) -> str:
        """Answer a call of one of the engine's tools, as JSON text."""
        return self._door.answer(tool_call, self._messages)

    @alone
    def close(self) -> None:
        """Say the engine good-bye and write what waits; nothing happens a second time."""
        if self._closed:
            return
        self._closed = True
        if self.idle is not None:  # what was never considered, in a preview or for a pin, leaves nothing to write
            self._compaction.idleness.write()
        self._inbox.backlog.written(now=True)
        if self._inbox.backlog:
            self._door.warn_once(f"{len(self._inbox.backlog)} messages could not be archived and end with this process")
        if self.shelf.sessions is not None:
            with suppress(NoSuchSession, StoreUnavailable):  # deleted meanwhile, or out of reach: there is nothing to end
                self._door.tell_end(self.session, self._messages)

    def _show(self, view: View) -> None:
        """Make a view the window that this conversation goes on with."""
        self._view, self._messages = view, render(view.ledger)
        self._turn = Turn(asked=self._turn.asked)
        for message in self._messages:
            self._turn = self._turn.after(message)
        self.gauge.compacted()

    def _catch_up(self, until: int | None = None) -> None:
        """Take in what others did to this conversation: rows before ``until``, views, erasures."""
        if (news := self._inbox.news(self._view, until)) is not None:
            self._show(news)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise UsageError("this conversation is closed", "ask its Host, or a new one, for it again")

    def _add(self, message: Message, said: datetime | None, *, after: int | None = None) -> int:
        self._refuse_closed()
        self._refusals = 0
        try:
            if self._inbox.backlog:
                self._catch_up()
            entry = self._inbox.keep(message, said, after=after)
        except Forgotten as forgotten:
            self._door.warn_once(str(forgotten))
            return forgotten.position
        if entry.row is not None and entry.row != self._view.rows + 1:
            self._catch_up(until=entry.row)
        self._view = replace(self._view, ledger=self._view.ledger.append(entry), rows=entry.row or self._view.rows)
        self._messages.append(message)
        self.gauge.cost(message)
        self._turn = self._turn.after(message)
        if self._turn.results_in:
            self._consider(POST_RESPONSE)
        return entry.row or 0

    def _take(self, told: Told) -> int | None:
        """Keep what a told message brings; what cannot be kept is in quarantine, and the rest goes on."""
        try:
            if told.telling is Telling.NEW:
                return self._add(told.message, None, after=self._view.rows)
            if told.telling is Telling.VERSION and told.entry is not None:
                self._show(self._inbox.told_anew(self._view, told.message, told.entry, after=self._view.rows))
                return self._view.rows if told.entry.row is not None else None
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

    def _consider(self, trigger: Trigger) -> None:
        """Compact as often as the trigger allows while the engine wants it and it helps; never while calls wait."""
        for done in range(trigger.passes):
            idle = why_not(self._door, trigger, self, automatic=self._automatic, limit=self._limit, first=not done)
            if idle is not None and not done:
                self._compaction.idleness.begin()
                self._compaction.idleness.note(idle)
            if idle is not None or not self._compacted(Wish(trigger, is_first=not done)).progressed:
                return

    def _warn_if_overfull(self) -> None:
        if (size := self.estimate()) > self._limit > 0:
            self._door.warn_once(words_of_overfull(size, self._limit, self.engine.name, automatic=self._automatic))

    @property
    def _limit(self) -> int:
        """Tokens that the model takes."""
        return self.services.facts.window - self.services.facts.output_reserve

    def _compacted(self, wish: Wish) -> Outcome:
        """One compaction, and what became of it."""
        started, before = time.perf_counter(), self._size()
        if wish.is_first:
            self._compaction.idleness.begin()
        view, verdict = self._compaction.of(self._view, self._messages, self.estimate(), wish)
        if verdict.settled is not None:
            self._view, self._messages = view, list(verdict.settled.messages)
            self._turn = replace(self._turn, torn=False)
            self.gauge.compacted()
        elif view is not self._view:
            self._show(view)
        outcome = outcome_of(wish, verdict, self._view, before, self._size(), time.perf_counter() - started)
        self._watch(outcome)
        return outcome

    def _size(self) -> Size:
        """As the receipt of a compaction counts: before and after it are told in one measure, whatever usage said meanwhile."""
        return Size(self._counted(self._messages), len(self._messages))

    def _staying(self) -> int:
        """Tokens of the next request that no compaction takes away, calibrated as the whole is."""
        return round(self.gauge.scale * (self.services.facts.tools + sum(map(self.gauge.cost, staying(self._view.ledger)))))

    def _counted(self, messages: list[Message]) -> int:
        return self.gauge.estimate(messages, self._tools)
