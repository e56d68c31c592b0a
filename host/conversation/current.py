"""The window with which a conversation goes on: what the model sees, how large that is, and when it is compacted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from host.conversation.asked import Asked
from host.conversation.compacting import Compaction
from host.conversation.considered import ATTEMPTS, TRIED_OFTEN, is_worth_measuring, why_not
from host.conversation.engine_door import EngineDoor
from host.conversation.triggers import PREFLIGHT, Trigger
from host.conversation.turn import Turn
from host.conversation.verdict import Size, Wish, helped, outcome_of
from host.conversation.view import View
from host.conversation.wording import words_of_overfull
from host.engine.idle import Idle, Reason
from host.engine.outcome import Outcome
from host.engine.services import ModelFacts, Services
from host.messages.ledger import Entry
from host.messages.types import Message, ToolSchema, Usage
from host.pipeline.settle import render
from host.pipeline.staying import staying
from host.provider.wire import with_text_results
from host.tokens import Gauge
from host.transforms.sanitize import sendable


class Current:
    """The view, grown message by message, and what was given out of it last. Nothing is archived here.

    ``attempts`` counts the occasions since the last answer on which a request was shortened before it could be sent. ``is_trial``: it
    was shortened for a limit that is only guessed, and what came of it is sent as it is: the answer, or a refusal, says more.
    """

    def __init__(
        self,
        door: EngineDoor,
        services: Services,
        compaction: Compaction,
        gauge: Gauge,
        *,
        automatic: bool,
        watch: Callable[[Outcome], None],
    ) -> None:
        self.services = services
        self.compaction = compaction
        self.gauge = gauge
        self.automatic = automatic
        self.messages: list[Message] = []
        self.turn = Turn()
        self.asked = Asked()
        self.attempts = 0
        self.is_trial = False
        self._door = door
        self._watch = watch
        self._view = View()  # its messages are in ``messages``, where they grow
        services.staying = self.staying

    @property
    def view(self) -> View:
        """The view without its messages."""
        return self._view

    @property
    def calls_wait(self) -> bool:
        """Whether calls of the newest reply have no result yet."""
        return bool(self.turn.waiting)

    @property
    def last_prompt(self) -> int:
        """What the engine took for the provider's last count; -1 right after a compaction, 0 where there is none."""
        return self._door.last_prompt()

    @property
    def threshold(self) -> int:
        """Tokens at which the engine says it compacts; the window where it says nothing that makes sense."""
        return self._door.threshold(self.services.facts.usable)

    @property
    def limit(self) -> int:
        """Tokens that the model takes."""
        return self.services.facts.usable - self.services.facts.output_reserve

    def show(self, view: View) -> None:
        """Make a view the window that the conversation goes on with."""
        self._view, self.messages = view, render(view.ledger)
        before, self.turn = self.turn, Turn()
        for message in self.messages:
            self.turn = self.turn.after(message)
        self.turn = replace(self.turn, asked=before.asked, replied=before.replied and bool(self.turn.waiting))
        self.gauge.compacted()

    def grow(self, entry: Entry) -> None:
        """One more message at the end."""
        self._view = replace(self._view, ledger=self._view.ledger.append(entry), rows=entry.row or self._view.rows)
        self.messages.append(entry.message)
        self.gauge.cost(entry.message)
        self.turn = self.turn.after(entry.message)

    def use_tools(self, tools: Sequence[ToolSchema]) -> None:
        """The tools of the next request."""
        if tuple(tools) != self.asked.tools:
            self.asked = replace(self.asked, tools=tuple(tools))
            self.services.facts = replace(self.services.facts, tools=self.services.count.tools(self.asked.tools))

    def use_model(self, facts: ModelFacts) -> None:
        """Another model answers from now on: what was counted by the old one says nothing about it."""
        self.services.facts = replace(facts, tools=self.services.facts.tools)
        self.asked, self.attempts = Asked(tools=self.asked.tools), 0
        self.gauge.forget()
        self._door.tell_model(self.services.facts, learnt=True)

    def take_usage(self, usage: Usage | None) -> None:
        """Hand on to the engine what the provider counted."""
        self._door.take_usage(usage)

    def adopt(self, window: int) -> bool:
        """Go on with a smaller window that the service stated; False where it is not smaller."""
        if window >= self.services.facts.window:
            return False
        self.services.facts = replace(self.services.facts, window=window)
        self._door.tell_model(self.services.facts, learnt=True)
        return True

    def keep_below(self, ceiling: int) -> None:
        """Go on with requests of so many tokens at most, 0 for as many as the window has; the window is what it was."""
        if ceiling != self.services.facts.ceiling:
            self.services.facts = replace(self.services.facts, ceiling=ceiling)
            self._door.tell_model(self.services.facts, learnt=True)

    def request(self) -> tuple[Message, ...]:
        """The messages as they would be sent now."""
        whole = not self.turn.torn and not self.turn.waiting
        messages = self.messages if whole else sendable(self.messages)
        return tuple(map(with_text_results, messages) if self.asked.text_only_tools else messages)

    def give_out(self) -> list[Message]:
        """The messages for a call now."""
        self._warn_if_overfull()
        self.asked = replace(self.asked, messages=self.request())
        self.turn = replace(self.turn, asked=True)
        return list(self.asked.messages or ())

    def estimate(self) -> int:
        """Tokens of the next request: system, messages and tools."""
        return self.gauge.measure(self.messages, self.asked.tools)

    def rough_or_estimate(self) -> int:
        """The same, without a look at what was counted before while the window has few messages and small ones."""
        rough = self.gauge.rough(self.messages, self.asked.tools)
        is_worth_it = is_worth_measuring(len(self.messages), rough, protected=self._door.protected(), threshold=self.threshold)
        return self.estimate() if is_worth_it else rough

    def counted(self, messages: list[Message]) -> int:
        """Tokens of a request with these messages, not calibrated."""
        return self.gauge.estimate(messages, self.asked.tools)

    def staying(self) -> int:
        """Tokens of the next request that no compaction takes away, calibrated as the whole is."""
        return round(self.gauge.scale * (self.services.facts.tools + sum(map(self.gauge.cost, staying(self._view.ledger)))))

    def consider(self, trigger: Trigger) -> None:
        """Compact as often as the trigger allows while the engine wants it and it helps; never while calls wait."""
        if trigger is PREFLIGHT and self._tries():
            return
        for done in range(trigger.passes):
            idle = why_not(self._door, trigger, self, automatic=self.automatic, limit=self.limit, first=not done)
            if idle is None and not done and trigger.counted:
                idle = self._attempt()
            if idle is not None and not done:
                self.rest(idle)
            if idle is not None or not helped(self.compacted(Wish(trigger, is_first=not done))):
                return

    def rest(self, idle: Idle) -> None:
        """A compaction was considered and does not happen."""
        self.compaction.idleness.begin()
        self.compaction.idleness.note(idle)

    def compacted(self, wish: Wish) -> Outcome:
        """One compaction, and what became of it."""
        started, before = time.perf_counter(), self._size()
        if wish.is_first:
            self.compaction.idleness.begin()
        view, verdict = self.compaction.of(self._view, self.messages, self.estimate(), wish)
        if verdict.settled is not None:
            self._view, self.messages = view, list(verdict.settled.messages)
            self.turn = replace(self.turn, torn=False)
            self.gauge.compacted()
        elif view is not self._view:
            self.show(view)
        outcome = outcome_of(wish, verdict, self._view, before, self._size(), time.perf_counter() - started)
        self._watch(outcome)
        return outcome

    def _tries(self) -> bool:
        facts = self.services.facts
        return self.is_trial and self.estimate() <= facts.window - facts.output_reserve

    def _attempt(self) -> Idle | None:
        """Count an occasion on which a request is shortened; a reason where there were enough since the last answer."""
        if self.attempts >= ATTEMPTS:
            return Idle(Reason.NOT_NOW, TRIED_OFTEN.format(self.attempts))
        self.attempts += 1
        return None

    def _size(self) -> Size:
        """As the receipt of a compaction counts: before and after it are told in one measure, whatever usage said meanwhile."""
        return Size(self.counted(self.messages), len(self.messages))

    def _warn_if_overfull(self) -> None:
        if (size := self.estimate()) > self.limit > 0 and not self._tries():
            self._door.warn_once(words_of_overfull(size, self.limit, self._door.engine.name, automatic=self.automatic))
