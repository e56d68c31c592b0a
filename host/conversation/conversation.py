"""The conversation: what comes in is archived at once, what goes out fits the window."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from host.conversation.engine_door import Broken, EngineDoor
from host.conversation.triggers import MANUAL, POST_RESPONSE, PREFLIGHT, Trigger
from host.conversation.turn import Turn
from host.conversation.view import View, published
from host.engine.contract import ContextEngine
from host.engine.outcome import Outcome
from host.engine.services import Services
from host.errors import UsageError
from host.messages.ledger import Entry, Kind
from host.messages.reading import call_arguments, call_name
from host.messages.types import Message, ToolCall, ToolSchema, Usage
from host.pipeline.settle import IDLE, Refused, Settled, settle
from host.store.protocols import Archive
from host.tokens import Gauge
from host.transforms.sanitize import sendable


class Conversation:
    """One agent's conversation under one engine. Callers hold no rule of their own (design, Conversation)."""

    def __init__(
        self,
        engine: ContextEngine,
        services: Services,
        archive: Archive,
        *,
        gauge: Gauge | None = None,
        warn: Callable[[str], None],
        watch: Callable[[Outcome], None] = lambda outcome: None,
        automatic: bool = True,
        on_error: str = "fallback",
    ) -> None:
        self.engine = engine
        self.services = services
        self.archive = archive
        self.gauge = gauge or Gauge(services.count)
        self._view = View()  # its messages are in _messages, where they grow
        self._door = EngineDoor(engine, warn, strict=on_error == "error")
        self._watch = watch
        self._automatic = automatic
        self._messages: list[Message] = []
        self._turn = Turn()
        self._sent: list[Message] | None = None
        self._tools: tuple[ToolSchema, ...] = ()
        self._door.tell_model(services.facts)

    @property
    def view(self) -> View:
        """The window as it is now, without looking whether it should be compacted."""
        return replace(self._view, messages=tuple(self._messages))

    def add(self, message: Message) -> int:
        """Accept a message: it is archived, then it is in the window. Returns its row.

        Calls and results that do not fit together are kept as they came; ``window`` gives them out paired.
        """
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise UsageError(f"message {len(self._messages)} is no message: {str(message)[:80]!r}", "give a dict with a role")
        try:
            row = self.archive.append(message)
        except (TypeError, ValueError) as error:
            raise UsageError(f"message {len(self._messages)} cannot be kept: {error}", "give what JSON can hold") from error
        self._view = replace(self._view, ledger=self._view.ledger.append(Entry(message, row)), rows=row)
        self._messages.append(message)
        self.gauge.cost(message)
        self._turn = self._turn.after(message)
        if self._turn.results_in:
            self._consider(POST_RESPONSE)
        return row

    def window(self, tools: Sequence[ToolSchema] = ()) -> list[Message]:
        """The messages for a model call now; compacted first where the threshold is reached."""
        if tuple(tools) != self._tools:
            self._tools = tuple(tools)
            self.services.facts = replace(self.services.facts, tools=self.services.count.tools(self._tools))
        self._consider(PREFLIGHT)
        self._warn_if_overfull()
        whole = not self._turn.torn and not self._turn.waiting
        self._sent = list(self._messages) if whole else sendable(self._messages)
        self._turn = replace(self._turn, asked=True)
        return list(self._sent)

    def measured(self, usage: Usage | None) -> None:
        """Take the provider's count for the window that was given out last; None where it gave none."""
        self.gauge.record(usage, self._messages if self._sent is None else self._sent, self._tools)
        self._door.take_usage(usage)

    def compact(self, focus: str | None = None) -> Outcome:
        """Compact now, whatever the threshold says."""
        if self._turn.waiting:
            raise UsageError("the window cannot be compacted while tool calls wait for their results", "add the results first")
        return self._compacted(MANUAL, focus)

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
        """One compaction: the engine rewrites, settle judges, the view is published or stays."""
        started, before, size = time.perf_counter(), self.estimate(), len(self._messages)
        settled = self._settled(before, trigger, focus)
        if isinstance(settled, Settled):
            self._view, self._messages = published(self._view, settled), list(settled.messages)
            self._turn = replace(self._turn, torn=False)
            self.gauge.compacted()
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

    def _settled(self, tokens: int, trigger: Trigger, focus: str | None) -> Settled | Refused:
        """What the host makes of the engine's answer; a refusal is told unless there was just nothing to do."""
        given = list(self._messages)
        try:
            returned = self._door.compress(given, tokens, focus, force=trigger.force)
        except Broken as error:
            settled: Settled | Refused = Refused(str(error))
        else:
            settled = IDLE if returned is given else settle(self._view.ledger, returned, count=self.services.count.messages)
        if isinstance(settled, Refused) and settled is not IDLE:
            self._door.refuse(settled.rule)
        return settled
