"""The conversation: what comes in is archived at once, what goes out fits the window."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from host.conversation.alone import alone
from host.conversation.compacting import Compaction
from host.conversation.engine_door import EngineDoor
from host.conversation.inbox import Inbox
from host.conversation.recognise import Received, Telling, Told
from host.conversation.refusal import REFUSALS, GiveUp, Retry
from host.conversation.restoring import without_rows
from host.conversation.shelf import Shelf
from host.conversation.triggers import MANUAL, POST_RESPONSE, PREFLIGHT, REFUSAL, Trigger
from host.conversation.turn import Turn
from host.conversation.view import View
from host.engine.contract import ContextEngine
from host.engine.outcome import Outcome
from host.engine.services import Services
from host.errors import Forgotten, NoSuchSession, NotStorable, Outrun, StoreUnavailable, UsageError
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import call_arguments, call_name
from host.messages.types import Dumped, Message, ToolCall, ToolSchema, Usage
from host.pipeline.settle import Refused, Settled, render
from host.provider.refusals import too_long
from host.store.protocols import Archive
from host.store.values import REWIND, Publication
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
        self._compaction = Compaction(self._door, services, self.shelf, self._inbox, keep_exact=keep_exact)
        self._view = View()  # its messages are in _messages, where they grow
        self._messages: list[Message] = []
        self._turn = Turn()
        self._sent: list[Message] | None = None
        self._tools: tuple[ToolSchema, ...] = ()
        self._refusals = 0
        self._closed = False
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
        refuse_odd(message, f"message {len(self._messages)}")
        if time is not None and not isinstance(time, datetime):
            raise UsageError(f"time is {type(time).__name__}", "give a datetime, or nothing for now")
        return self._add(message, time) if delivery_of is None else self._delivered(delivery_of)

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
                    self._rewind(recognised.rewound)
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
        self._inbox.tidy()

    @alone
    def refused(self, error: BaseException) -> Retry | GiveUp:
        """Take a model's refusal of the window that was given out last: shorten it, or say that this would not help."""
        refusal = too_long(error)
        if refusal is None:
            return GiveUp(f"the refusal is not about the length of the window: {error}")
        self._refusals += 1
        if refusal.sent and self._sent is not None:
            self.gauge.record(Usage(refusal.sent), self._sent, self._tools)
        if refusal.limit and refusal.limit < self.services.facts.window:
            self.services.facts = replace(self.services.facts, window=refusal.limit)
            self._door.tell_model(self.services.facts, learnt=True)
        if self._refusals > REFUSALS:
            return GiveUp(f"the window was refused {self._refusals} times in a row")
        outcome = self._compacted(REFUSAL, None)
        if outcome.progressed:
            return Retry(f"the window was compacted from {outcome.before:,} to {outcome.after:,} tokens")
        return GiveUp(f"the window holds {outcome.before:,} tokens and could not be made shorter: {outcome.refused or 'no progress'}")

    @alone
    def compact(self, focus: str | None = None) -> Outcome:
        """Compact now, whatever the threshold says."""
        self._refuse_closed()
        self._catch_up()
        if self._turn.waiting:
            raise UsageError("the window cannot be compacted while tool calls wait for their results", "add the results first")
        return self._compacted(MANUAL, focus)

    @alone
    def estimate(self) -> int:
        """Tokens of the next request: system, messages and tools."""
        return self.gauge.measure(self._messages, self._tools)

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
        name, text = call_name(tool_call), call_arguments(tool_call)
        try:
            arguments = json.loads(text or "{}")
        except ValueError as error:
            return json.dumps({"error": f"arguments of {name} are not JSON: {error}"})
        if not isinstance(arguments, dict):
            return json.dumps({"error": f"arguments of {name} are no JSON object"})
        return self._door.call(name, arguments, self._messages)

    @alone
    def close(self) -> None:
        """Say the engine good-bye and write what waits; nothing happens a second time."""
        if self._closed:
            return
        self._closed = True
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

    def _delivered(self, position: int) -> int:
        first, last = self.archive.range()
        if not first <= position <= last:
            raise UsageError(f"delivery_of={position} is no message of this conversation", f"positions are {first} to {last}")
        return position

    def _take(self, told: Told) -> int | None:
        """Keep what a told message brings; what cannot be kept is in quarantine, and the rest goes on."""
        try:
            if told.telling is Telling.NEW:
                return self._add(told.message, None, after=self._view.rows)
            if told.telling is Telling.VERSION and told.entry is not None:
                return self._revise(told.message, told.entry)
        except (NotStorable, StoreUnavailable) as error:
            self._door.warn_once(str(error))
            return None
        except Forgotten as forgotten:
            self._door.warn_once(str(forgotten))
            return forgotten.position
        return told.entry.row if told.entry is not None else None

    def _revise(self, message: Message, old: Entry) -> int | None:
        """Keep a new version of a message, and show it where the old one was shown."""
        if old.row is not None:
            self._show(self._inbox.revise(self._view, message, old.row, after=self._view.rows))
            return self._view.rows
        self._inbox.backlog.replace(old.message, message)
        entries = [Entry(message) if entry.message is old.message else entry for entry in self._view.ledger]
        self._show(replace(self._view, ledger=Ledger(entries)))
        return None

    def _rewind(self, rows: tuple[int, ...]) -> None:
        """Take messages out of the window that the caller took back; they stay in the archive."""
        view = replace(self._view, ledger=without_rows(self._view.ledger, rows))
        if self.shelf.views is not None:
            receipt = {"rewound": list(rows)}
            publication = Publication(view.ledger, view.rows, self.shelf.state.engine, REWIND, receipt)
            view = replace(view, version=self.shelf.views.publish(publication, expected=view.version).version)
        self._show(view)

    def _consider(self, trigger: Trigger) -> None:
        """Compact as often as the trigger allows while the engine wants it and it helps; never while calls wait."""
        for _ in range(trigger.passes if self._automatic and not self._turn.waiting else 0):
            if not self._door.wants_compaction(trigger.tokens(self)) or not self._compacted(trigger, None).progressed:
                return

    def _warn_if_overfull(self) -> None:
        size, limit = self.estimate(), self.services.facts.window - self.services.facts.output_reserve
        if size > limit > 0:
            self._door.warn_once(
                f"the window holds about {size:,} tokens, the model takes {limit:,}: engine {self.engine.name!r} left it so"
            )

    def _compacted(self, trigger: Trigger, focus: str | None) -> Outcome:
        """One compaction, and what became of it."""
        started, before, size = time.perf_counter(), self.estimate(), len(self._messages)
        view, settled = self._compaction.of(self._view, self._messages, before, trigger, focus)
        if isinstance(settled, Settled):
            self._view, self._messages = view, list(settled.messages)
            self._turn = replace(self._turn, torn=False)
            self.gauge.compacted()
        elif view is not self._view:
            self._show(view)
        outcome = Outcome(
            trigger=trigger.name,
            before=before,
            after=self.estimate(),
            messages_before=size,
            messages_after=len(self._messages),
            row=self._view.rows,
            kept=sum(entry.kind is Kind.ORIGINAL for entry in self._view.ledger),
            seconds=time.perf_counter() - started,
            refused=settled.rule if isinstance(settled, Refused) else None,
        )
        self._watch(outcome)
        return outcome


def refuse_odd(message: object, where: str) -> None:
    """UsageError for what is no message."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise UsageError(f"{where} is no message: {str(message)[:80]!r}", "give a dict with a role")


def usage_of(usage: Usage | Mapping[str, Any] | Dumped | None) -> Usage | None:
    """What a provider counted; UsageError for what is no usage."""
    try:
        return Usage.from_provider(usage)
    except (AttributeError, TypeError) as error:
        raise UsageError(f"{type(usage).__name__} is no usage", "give what the client calls usage, or None") from error
