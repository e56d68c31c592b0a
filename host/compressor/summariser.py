"""Asking models for a summary: one after the other, in pieces where the middle does not fit one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from host.compressor.answer import read_answer
from host.compressor.failures import Failure, failure_of, shown_error, stated_limit
from host.compressor.grounding import ground_snapshot
from host.compressor.policy import POLICY
from host.compressor.prompt import summary_prompt
from host.compressor.serialise import serialise
from host.engine.services import Services, SummaryModel
from host.messages.types import Message
from host.pipeline.compact import Middle, clipped
from host.tokens import summary_budget

MARGIN = 0.95  # of a window: what our count may be off from the model's own
MOST_HALVINGS = 5  # of what is sent at once; a model that takes less than a 32nd of the middle is of no use


@dataclass(frozen=True)
class Task:
    """What is to be summarised. ``memory`` is what memory plugins told."""

    middle: Middle
    focus: str | None = None
    memory: str = ""


@dataclass(frozen=True)
class Draft:
    """A summary on its way: the notes so far, and how many turns are in them."""

    body: str
    done: int = 0


@dataclass(frozen=True)
class Failed:
    """A model that could not be used."""

    model: SummaryModel
    kind: Failure
    error: str  # one line, without secrets


Windows = tuple[tuple[SummaryModel, int], ...]
"""Tokens that models said they take, where that is not what was known of them."""


@dataclass(frozen=True)
class Written:
    """A summary, by whom, and the models that failed before."""

    body: str
    model: SummaryModel
    failed: tuple[Failed, ...] = ()
    windows: Windows = ()


class SummaryFailed(Exception):
    """No model wrote it. ``draft`` is what was there when the last one failed."""

    def __init__(self, failed: Sequence[Failed], draft: Draft, windows: Windows) -> None:
        super().__init__(failed[-1].error)
        self.failed = tuple(failed)
        self.draft = draft
        self.windows = windows


class Summariser:
    """Asks models for what ``services`` are to have summarised. It remembers nothing: what a model says of its window is in the answer."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def write(self, task: Task, models: Sequence[SummaryModel], windows: Windows = ()) -> Written:
        """The summary by the first model that can write it; each takes over where the one before it failed. Raises SummaryFailed.

        ``windows`` were learnt before.
        """
        draft = Draft(task.middle.previous)
        failed: list[Failed] = []
        for model in models:
            writing = Writing(self.services, task, window_of(model, windows))
            try:
                draft = writing.finished(draft, model)
                body = self.grounded(draft.body, task.middle)
                return Written(body, model, tuple(failed), learnt(windows, model, writing.window))
            except ModelFailed as failure:
                draft = failure.draft
                failed.append(Failed(model, failure.kind, failure.error))
                windows = learnt(windows, model, writing.window)
                if not POLICY[failure.kind].retry_on_main:
                    break
        raise SummaryFailed(failed, draft, windows)

    def grounded(self, body: str, middle: Middle) -> str:
        """The body with the newest request as its task snapshot; without, where that would take more than half of a small room."""
        cost = self.services.count.message
        grounded = ground_snapshot(body, middle.originals, self.services.mask)
        added = cost({"role": "user", "content": grounded}) - cost({"role": "user", "content": body})
        if added > middle.room // 2:
            return body
        return ground_snapshot(clipped(body, middle.room - max(0, added), cost), middle.originals, self.services.mask)


def window_of(model: SummaryModel, windows: Windows) -> int:
    """Tokens that a model takes, as far as known; 0 where nothing is."""
    return next((window for known, window in windows if known == model), model.window)


def learnt(windows: Windows, model: SummaryModel, window: int) -> Windows:
    """The windows with that of a model, where it is another one than was known."""
    if window == window_of(model, windows):
        return windows
    return (*(pair for pair in windows if pair[0] != model), (model, window))


class ModelFailed(Exception):
    """One model failed with a piece."""

    def __init__(self, kind: Failure, error: str, draft: Draft) -> None:
        super().__init__(error)
        self.kind = kind
        self.error = error
        self.draft = draft


class Writing:
    """One task under one model. ``window`` is in tokens, 0 where nothing is known of it; a refusal may make it smaller."""

    def __init__(self, services: Services, task: Task, window: int) -> None:
        self.services = services
        self.task = task
        self.window = window
        self.turns = task.middle.turns
        self.budget = summary_budget(services.count.messages(self.turns), task.middle.room)
        self.most: int | None = None  # tokens of turns in one piece, once a piece was refused

    def finished(self, draft: Draft, model: SummaryModel) -> Draft:
        """The draft with all turns in it. Raises ModelFailed."""
        pieces, halvings = 0, 0
        while draft.done < len(self.turns):
            until = self.reach(draft)
            self.services.progress(draft.done, len(self.turns), f"summarising messages {draft.done + 1} to {until} of {len(self.turns)}")
            prompt = self.prompt(self.turns[draft.done : until], draft, self.part(draft.done, until, pieces))
            try:
                body = self.answer(model, prompt, draft, until)
            except Exception as error:  # a model's door: POLICY decides what becomes of whatever it raised
                kind = failure_of(error)
                if not POLICY[kind].smaller_pieces or until - draft.done == 1 or halvings == MOST_HALVINGS:
                    raise ModelFailed(kind, shown_error(error, self.services.mask), draft) from error
                halvings += 1
                self.learn(stated_limit(error), self.spent(draft.done, until), draft)
            else:
                draft, pieces = Draft(clipped(body, self.task.middle.room, self.services.count.message), until), pieces + 1
        self.services.progress(len(self.turns), len(self.turns), "the summary is written")
        return draft

    def answer(self, model: SummaryModel, prompt: str, draft: Draft, until: int) -> str:
        """The notes in the model's answer, without secrets. Raises what the model does, and UnusableAnswer."""
        reply = model.ask(prompt)
        body = read_answer(reply, turns=self.turns[draft.done : until], previous=draft.body, prompt=prompt, asked=self.budget)
        return self.services.mask(body).strip()

    def part(self, start: int, until: int, pieces: int) -> tuple[int, int] | None:
        """Which piece this is, and of how many if the others hold as many turns; None for the only one."""
        left = -(-(len(self.turns) - until) // (until - start))
        return (pieces + 1, pieces + 1 + left) if pieces or left else None

    def prompt(self, turns: Sequence[Message], draft: Draft, part: tuple[int, int] | None = None) -> str:
        """What is asked; memory is told once, with the first piece."""
        return summary_prompt(
            turns,
            previous=draft.body,
            budget=self.budget,
            today=self.services.clock().date(),
            focus=self.task.focus,
            memory="" if draft.done else self.task.memory,
            mask=self.services.mask,
            part=part,
        )

    def reach(self, draft: Draft) -> int:
        """Up to which turn the next piece goes: all that fit, at least one."""
        room = self.room(draft)
        if room is None:
            return len(self.turns)
        until, spent = draft.done, 0
        while until < len(self.turns) and (until == draft.done or spent + self.costs[until] <= room):
            spent += self.costs[until]
            until += 1
        return until

    def room(self, draft: Draft) -> int | None:
        """Tokens of turns that a prompt has room for; None for any number."""
        if not self.window:
            return self.most
        frame = self.services.count.text(self.prompt([], draft))
        fitting = int(self.window * MARGIN) - self.budget - frame
        return fitting if self.most is None else min(fitting, self.most)

    def learn(self, limit: int | None, refused: int, draft: Draft) -> None:
        """A piece of so many tokens was too long: send less, as little as the limit that was named leaves, else half."""
        if limit is not None and (not self.window or limit < self.window):
            self.window = limit
        room = self.room(draft)
        if room is None or room >= refused:
            self.most = refused // 2

    def spent(self, start: int, until: int) -> int:
        """Tokens of some of the turns."""
        return sum(self.costs[start:until])

    @cached_property
    def costs(self) -> list[int]:
        """Tokens of each turn as it stands in a prompt."""
        return [self.services.count.text(serialise([turn], self.services.mask)) for turn in self.turns]
