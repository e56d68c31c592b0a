"""The base that new engines are written on: the author writes ``compact(window)``, the rest is done."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Any, Generic, TypeVar

from host.engine.contract import ContextEngine
from host.engine.idle import Idle, Reason
from host.engine.report import Report
from host.engine.services import ArchiveReader, Ask, Services
from host.engine.thrash import Effect, tolerance_of
from host.engine.tools import schema_of, tools_of
from host.engine.window import Window
from host.errors import CtxhostError
from host.messages.types import Message, Usage
from host.tokens import Budgets, budgets
from host.transforms.boundary import choose_cut, head_size
from host.transforms.handoff import is_handoff, opened
from host.transforms.plan import Plan

S = TypeVar("S")

GUARD = 4  # messages beside the head; below this a summary would replace next to nothing (seed 4)
FAR_LESS = 4  # the host's figure is calibrated, ours is not: they differ by less than this


@dataclass(frozen=True)
class EngineState:
    """What an engine remembers between calls; replaced whole, never changed in place."""

    effect: Effect = field(default_factory=Effect)
    report: Report = field(default_factory=Report)

    @property
    def ineffective(self) -> int:
        """Compactions in a row without effect."""
        return self.effect.ineffective


class Engine(ContextEngine, Generic[S]):
    """Thresholds, usage, status, model change and report are done; ``compact`` is the author's.

    ``Engine[Settings]`` names the pydantic model of ``engines.NAME`` in config.yaml. One object serves one agent.
    """

    api = 1
    leaves_input_alone = False  # whether ``compact`` never writes into the messages it is given; else it gets copies
    Settings: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in getattr(cls, "__orig_bases__", ()):
            for argument in getattr(base, "__args__", ()):
                if hasattr(argument, "model_validate"):
                    cls.Settings = argument

    def __init__(self, services: Services) -> None:
        self.services = services
        self.settings: S = services.settings
        self.state = EngineState()
        self.update_model(services.facts.model, services.facts.window)

    @abstractmethod
    def compact(self, window: Window) -> list[Message]:
        """The new list: ``[*window.head, ..., *window.tail]`` with something shorter for the middle."""

    @property
    def ask(self) -> Ask:
        """A question to the summary model; an error that says what to configure where there is none."""
        if self.services.ask is None:
            raise CtxhostError(
                f"engine {self.name!r} needs a model and none is configured",
                "set model.name, or auxiliary.compression.model, in config.yaml",
            )
        return self.services.ask

    @property
    def archive(self) -> ArchiveReader:
        """Every message of the conversation, by row."""
        return self.services.archive

    @property
    def last_report(self) -> Report:
        """What the last compaction came to."""
        return self.state.report

    def update_model(
        self, model: str, context_length: int, base_url: str = "", api_key: str = "", provider: str = "", api_mode: str = ""
    ) -> None:
        """Derive threshold and budgets anew for this window; a pause for want of effect ends."""
        wanted = self.services.thresholds
        self.budgets: Budgets = budgets(
            context_length,
            threshold=wanted.threshold,
            target_ratio=wanted.target_ratio,
            max_tokens=self.services.facts.output_reserve or None,
            small_window_floor=wanted.small_window_floor,
        )
        self.context_length, self.threshold_tokens = context_length, self.budgets.threshold
        self.threshold_percent = self.budgets.percent
        self.protect_first_n, self.protect_last_n = wanted.protect_first_n, wanted.protect_last_n
        self.state = replace(self.state, effect=replace(self.state.effect, ineffective=0))

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Take a call's usage; an empty one only ends the wait after a compaction."""
        counted = Usage.from_provider(usage)
        prompt = counted.prompt if counted else max(0, self.last_prompt_tokens)
        self.last_prompt_tokens, self.last_completion_tokens = prompt, counted.completion if counted else 0
        self.last_total_tokens = self.last_prompt_tokens + self.last_completion_tokens
        effect = self.state.effect.after_count(counted.prompt if counted else None, self.threshold_tokens)
        self.state = replace(self.state, effect=effect)

    @property
    def limit(self) -> int:
        """Tokens that a request may have: the window less the output reserve."""
        return self.context_length - self.services.facts.output_reserve

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """At the threshold and above, unless there is a reason to wait (``why_idle``)."""
        return self.why_idle(self.last_prompt_tokens if prompt_tokens is None else prompt_tokens) is None

    def why_idle(self, tokens: int) -> Idle | None:
        """Why a request of that many tokens is not compacted by itself; None: it is. Past the window it always is."""
        effect = self.state.effect
        if tokens < self.threshold_tokens:
            return Idle(Reason.BELOW_THRESHOLD, f"{tokens:,} of {self.threshold_tokens:,} tokens")
        if tokens > self.limit:
            return None
        if effect.waits(tokens, tolerance_of(self.threshold_tokens, self.limit)):
            return Idle(Reason.WAITING_FOR_USAGE, f"the last compaction left about {effect.left:,} tokens, which nobody has counted yet")
        if effect.is_paused and not effect.has_outgrown(tokens) and not effect.has_come_loose(tokens, self.services.staying()):
            return Idle(Reason.INEFFECTIVE, f"{effect.ineffective} in a row, {tokens:,} tokens are left")
        return None

    def should_defer_preflight_to_real_usage(self, rough_tokens: int) -> bool:
        """Whether an estimate at the threshold waits for the provider's count (hermes.md 4.5); never past the window."""
        if not self.threshold_tokens <= rough_tokens <= self.limit:
            return False
        effect = self.state.effect
        if not effect.defers(rough_tokens, self.threshold_tokens, tolerance_of(self.threshold_tokens, self.limit)):
            return False
        if not effect.waiting:
            fitting = max(effect.fitting or effect.left, rough_tokens)
            self.state = replace(self.state, effect=replace(effect, fitting=fitting))
        return True

    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str = "",
    ) -> list[Message]:
        """Cut, let ``compact`` rewrite, note the outcome. The same list comes back where nothing is gained or a report says aborted."""
        self.state = replace(self.state, report=Report())
        plan = self.plan(focus_topic, memory_context)
        after = self._rewritten(messages, plan, "manual" if force else "automatic")
        if self.state.report.aborted:
            return messages
        if after is messages:
            return self._without_effect(messages, current_tokens, asked=force)
        left = self.services.count.messages(after)
        before = self._size(messages, left, current_tokens, plan.tools)
        had_to_shrink = before + plan.tools >= self.threshold_tokens or any(map(is_handoff, messages))
        if had_to_shrink and left >= before:
            return self._without_effect(messages, current_tokens, asked=force)
        scale = current_tokens / (before + plan.tools) if current_tokens and before + plan.tools else 1.0
        return self._recorded(after, saved=1 - left / before if before else 0.0, left=round((left + plan.tools) * scale))

    def plan(self, focus: str | None = None, memory: str = "") -> Plan:
        """Costs and budgets of a compaction now, what it dwells on, and what stays as it is."""
        return Plan(
            cost=self.services.count.message,
            tail=self.budgets.tail,
            summary=self.budgets.summary,
            threshold=self.budgets.threshold,
            window=self.limit,
            protect_first_n=0 if self.compression_count else self.protect_first_n,
            protect_last_n=self.protect_last_n,
            tools=self.services.facts.tools,
            focus=focus,
            memory=memory,
            pins=self.services.pins,
            mask=self.services.mask,
        )

    def window(self, messages: list[Message], plan: Plan, reason: str) -> Window:
        """The conversation, cut; summaries that were merged into a message stand apart again."""
        apart = tuple(opened(messages))
        return Window(apart, choose_cut(apart, plan), plan, reason)

    def too_little(self, messages: list[Message], plan: Plan) -> bool:
        """So few messages that only head and tail are there, and they fit."""
        if len(messages) > head_size(messages, plan.protect_first_n) + GUARD:
            return False
        return plan.threshold is None or plan.tools + plan.spent(messages) <= plan.threshold

    def has_content_to_compress(self, messages: list[Message]) -> bool:
        """Whether a compaction would find a middle."""
        plan = self.plan()
        return not self.too_little(messages, plan) and bool(self.window(messages, plan, "manual").middle)

    def on_session_reset(self) -> None:
        """Forget counters and state of the session."""
        super().on_session_reset()
        self.state = EngineState()

    def on_not_published(self, tokens: int | None) -> None:
        """The host goes on with the window as it was before the last compaction, and so do all counters.

        ``tokens`` are those of the window where that was an automatic compaction which came to nothing, None otherwise.
        """
        if tokens is not None:
            self.state = replace(self.state, effect=self.state.effect.after_nothing(tokens, self.services.staying()))

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """One schema per method that is marked with ``@tool``."""
        return [schema_of(method) for method in tools_of(self).values()]

    def handle_tool_call(self, name: str, args: Mapping[str, Any], **kwargs: Any) -> str:
        """Call the marked method of that name; the answer is JSON text."""
        method = tools_of(self).get(name)
        if method is None:
            return super().handle_tool_call(name, args, **kwargs)
        return json.dumps(method(**args), ensure_ascii=False, default=str)

    def _rewritten(self, messages: list[Message], plan: Plan, reason: str) -> list[Message]:
        """What ``compact`` makes of the list; the list itself where there is no middle, or nothing was changed."""
        if self.too_little(messages, plan):
            return messages
        window = self.window(messages, plan, reason)
        after = self.compact(window) if window.middle else messages
        return messages if same_messages(after, window.messages) else after

    def _size(self, messages: list[Message], left: int, told: int | None, tools: int) -> int:
        """Tokens of the list before a compaction; where far less is left, what the host told of the request is near enough."""
        if told is not None and left * FAR_LESS < told:
            return told - tools
        return self.services.count.messages(messages)

    def _recorded(self, after: list[Message], *, saved: float, left: int) -> list[Message]:
        """Note a compaction; its effect is judged when the next usage comes."""
        self.compression_count += 1
        self.last_prompt_tokens = -1  # the contract's word for "no real count yet"
        report = replace(self.state.report, made_progress=True)
        stays = self.services.staying()
        effect = self.state.effect.after_compaction(saved=saved, left=left, without_model=report.fallback_used, stays=stays)
        self.state = replace(self.state, effect=effect, report=report)
        return after

    def _without_effect(self, messages: list[Message], told: int | None, *, asked: bool) -> list[Message]:
        """The list as it was; what the user asked for says nothing about the automatic compactions."""
        report = replace(self.state.report, note="nothing to compact")
        effect = self.state.effect
        if not asked:
            size = told or self.services.count.messages(messages) + self.services.facts.tools
            effect = effect.after_nothing(size, self.services.staying())
        self.state = replace(self.state, effect=effect, report=report)
        return messages


def same_messages(after: object, before: Sequence[Message]) -> bool:
    """Whether a list holds the very objects of another, in order."""
    return isinstance(after, list) and len(after) == len(before) and all(map(is_, after, before))
