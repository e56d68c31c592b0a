"""The conversation: what comes in is archived at once, what goes out fits the window."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from host.conversation.call_engine import compress_with, tell_model
from host.conversation.triggers import MANUAL, POST_RESPONSE, PREFLIGHT, Trigger
from host.engine.contract import ContextEngine
from host.engine.outcome import Outcome
from host.engine.services import Services
from host.errors import EngineFailed, UsageError
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import call_arguments, call_id, call_name, calls_of, tool_call_id
from host.messages.types import Message, ToolCall, ToolSchema, Usage
from host.pipeline.settle import Receipt, Refused, Settled, ranges, rows_of, settle
from host.store.protocols import Archive
from host.tokens import Gauge
from host.transforms.sanitize import repair_pairs


@dataclass(frozen=True)
class View:
    """What the model sees: entries, the messages as sent, and the receipt of the compaction that made it."""

    ledger: Ledger = field(default_factory=Ledger)
    messages: tuple[Message, ...] = ()
    version: int = 0
    receipt: Receipt | None = None
    rows: int = 0  # of the archive

    @property
    def lost(self) -> tuple[range, ...]:
        """Rows of the archive that nothing in the window stands for, over all compactions."""
        stood_for = {row for entry in self.ledger for row in rows_of(entry)}
        return ranges([row for row in range(1, self.rows + 1) if row not in stood_for])


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
        self._warn = warn
        self._watch = watch
        self._automatic = automatic
        self._strict = on_error == "error"
        self._ledger = Ledger()
        self._messages: list[Message] = []
        self._tools: tuple[ToolSchema, ...] = ()
        self._waiting: set[str] = set()  # ids of calls without a result
        self._torn = False  # calls and results do not pair: an import, or a caller that forgot one
        self._asked = False  # a window was given out and no reply came yet
        self._replied = False  # the reply to it has calls, whose results are coming in
        self._warned: set[str] = set()
        self._version = 0
        self._receipt: Receipt | None = None
        tell_model(engine, services.facts)

    @property
    def view(self) -> View:
        """The window as it is now, without looking whether it should be compacted."""
        return View(self._ledger, tuple(self._messages), self._version, self._receipt, self.archive.range()[1])

    def add(self, message: Message) -> int:
        """Accept a message: it is archived, then it is in the window. Returns its row.

        Calls and results that do not fit together are kept as they came; ``window`` gives them out paired.
        """
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise UsageError(f"message {len(self._messages)} is no message: {str(message)[:80]!r}", "give a dict with a role")
        row = self.archive.append(message)
        self._ledger = self._ledger.append(Entry(message, row))
        self._messages.append(message)
        self.gauge.cost(message)
        if message.get("role") == "tool":
            answered = tool_call_id(message)
            self._torn |= answered not in self._waiting
            self._waiting.discard(answered)
            if self._replied and not self._waiting:
                self._replied = False
                self._consider(POST_RESPONSE)
        else:
            calls = [call_id(call) for call in calls_of(message)]
            self._torn |= bool(self._waiting) or len(set(calls)) < len(calls)
            self._waiting = set(calls)
            self._replied, self._asked = self._asked and bool(self._waiting), False
        return row

    def window(self, tools: Sequence[ToolSchema] = ()) -> list[Message]:
        """The messages for a model call now; compacted first where the threshold is reached."""
        if tuple(tools) != self._tools:
            self._tools = tuple(tools)
            self.services.facts = replace(self.services.facts, tools=self.services.count.tools(self._tools))
        self._consider(PREFLIGHT)
        self._asked = True
        return repair_pairs(list(self._messages)) if self._torn or self._waiting else list(self._messages)

    def measured(self, usage: Usage | None) -> None:
        """Take the provider's count for the window that was sent last; None where it gave none."""
        self.gauge.record(usage, self._messages, self._tools)
        self.engine.update_from_response(usage.as_openai() if usage else {})

    def compact(self, focus: str | None = None) -> Outcome:
        """Compact now, whatever the threshold says."""
        return self._compacted(MANUAL, focus)

    def estimate(self) -> int:
        """Tokens of the next request: system, messages and tools."""
        return self.gauge.measure(self._messages, self._tools)

    def tools(self) -> list[ToolSchema]:
        """The engine's tools as they are offered to the model."""
        return [{"type": "function", "function": schema} for schema in self.engine.get_tool_schemas() if schema.get("name")]

    def call(self, tool_call: ToolCall) -> str:
        """Answer a call of one of the engine's tools, as JSON text."""
        name, text = call_name(tool_call), call_arguments(tool_call)
        try:
            arguments: Mapping[str, Any] = json.loads(text or "{}")
        except ValueError as error:
            return json.dumps({"error": f"arguments of {name} are not JSON: {error}"})
        return self.engine.handle_tool_call(name, arguments, messages=list(self._messages))

    def _consider(self, trigger: Trigger) -> None:
        """Compact as often as the trigger allows while the engine wants it and it helps."""
        for _ in range(trigger.passes if self._automatic else 0):
            if self._waiting or not self.engine.should_compress(trigger.tokens(self)):
                return
            if not self._compacted(trigger, None).progressed:
                return

    def _compacted(self, trigger: Trigger, focus: str | None) -> Outcome:
        """One compaction: the engine rewrites, settle judges, the view is published or stays."""
        if self._waiting:
            raise UsageError("the window cannot be compacted while tool calls wait for their results", "add the results first")
        started, before, size = time.perf_counter(), self.estimate(), len(self._messages)
        given = list(self._messages)
        returned, failure = compress_with(self.engine, given, before, focus, force=trigger.force)
        settled = self._refused(failure) if failure else self._settled(returned, returned is given)
        if isinstance(settled, Settled):
            self._publish(settled)
        outcome = Outcome(
            trigger=trigger.name,
            before=before,
            after=self.estimate(),
            messages_before=size,
            messages_after=len(self._messages),
            row=self.archive.range()[1],
            kept=sum(entry.kind is Kind.ORIGINAL for entry in self._ledger),
            seconds=time.perf_counter() - started,
            refused=settled.rule if isinstance(settled, Refused) else None,
        )
        self._watch(outcome)
        return outcome

    def _settled(self, returned: object, unchanged: bool) -> Settled | Refused:
        if unchanged:
            return Refused("there was nothing to compact")
        settled = settle(self._ledger, returned, count=self.services.count.messages)
        return self._refused(settled.rule) if isinstance(settled, Refused) else settled

    def _refused(self, rule: str) -> Refused:
        if self._strict:
            raise EngineFailed(self.engine.name, rule)
        if rule not in self._warned:
            self._warned.add(rule)
            self._warn(f"engine {self.engine.name!r} was not followed: {rule}; the window stays as it was")
        return Refused(rule)

    def _publish(self, settled: Settled) -> None:
        self._ledger, self._messages = settled.ledger, settled.messages
        self._version, self._receipt = self._version + 1, settled.receipt
        self._torn = False
        self.gauge.compacted()
