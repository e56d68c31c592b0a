"""Claude Code's queue: which prompts, typed while the model worked, were handed to it in the middle of a turn.

A prompt that leaves the queue by ``dequeue`` follows as a line of its own, by ``popAll`` it went back into the input box. By
``remove`` it was handed over: some clients repeat it as an attachment, before that or after it, others nowhere. Newer ones name
the prompt that leaves and the reason; the others take the oldest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from host.formats.branches import Line
from host.formats.content import readable
from host.formats.loose import count_under, listed, text_under
from host.formats.marks import mark_of
from host.messages.types import JSON

QUEUE = "queue-operation"
WAITING = 100  # nobody types more prompts ahead
HANDED_OVER = 50  # for which an attachment may still come
DELIVERIES = ("", "absorbed_mid_turn")
"""Reasons of a ``remove`` that hands the prompt to the model; clients that name none hand over nearly always."""


@dataclass(frozen=True)
class Queued:
    """A prompt in the queue: the line that put it there, a mark of its words, and whether an attachment said them already.

    ``content`` is as it was recorded, None where an earlier reading met the line.
    """

    number: int
    mark: str
    content: object = None
    is_said: bool = False

    @property
    def key(self) -> str:
        """Its name in the conversation."""
        return f"queued {self.number}"


class HandedOver(NamedTuple):
    """A prompt that was said for the queue's sake: the mark of its words, and the line where it left the queue."""

    mark: str
    number: int


class PromptQueue:
    """The queue of one session while its lines are read."""

    def __init__(self, state: JSON | None = None) -> None:
        """Begin, or go on from the ``state`` of an earlier reading."""
        kept = state or {}
        self._waiting = [Queued(number, mark, None, said) for number, mark, said in listed(kept.get("waiting"))]
        self._handed_over = [HandedOver(*entry) for entry in listed(kept.get("handed over"))]
        self._settled = count_under(kept, "settled")

    def state(self) -> JSON:
        """Line numbers and marks of what waits, and of what may be repeated."""
        return {
            "waiting": [[one.number, one.mark, one.is_said] for one in self._waiting],
            "handed over": [list(entry) for entry in self._handed_over],
            "settled": self._settled,
        }

    def operate(self, number: int, row: JSON) -> Queued | None:
        """Do what the line says; a prompt that was handed over by it and that no line said before."""
        return OPERATIONS.get(text_under(row, "operation"), _nothing)(self, number, row)

    def hand_over(self, one: Queued, number: int) -> None:
        """A prompt was said when it left the queue at a line: whoever repeats it says nothing new."""
        self._handed_over = [*deque(self._handed_over, HANDED_OVER - 1), HandedOver(one.mark, number)]

    def forget(self) -> None:
        """Nothing that was handed over is repeated from here on."""
        self._handed_over = []

    def repeats(self, number: int, row: JSON, line: Line) -> bool:
        """Whether a line of the main conversation repeats a prompt that was handed over; it does so once.

        An attachment may come late, a prompt repeats only what the model did not answer yet.
        """
        kind = text_under(row, "type")
        if kind == "attachment":
            mark = _mark(line.message)
            return not self._says(mark) and self._is_second(mark)
        is_prompt = kind == "user" and line.is_prompt and not row.get("isMeta")
        if is_prompt and self._is_second(_mark(line.message), self._settled):
            return True
        self._settled = number if is_prompt or kind == "assistant" else self._settled
        return False

    def enqueue(self, number: int, row: JSON) -> None:
        """A prompt was typed."""
        self._waiting = [*deque(self._waiting, WAITING - 1), Queued(number, _mark(row), row.get("content"))]

    def dequeue(self, number: int, row: JSON) -> None:
        """The oldest prompt is sent: a line with its words follows, which repeats nothing."""
        self._leave(row)
        self._settled = number

    def pop_all(self, number: int, row: JSON) -> None:
        """The user took all back to go on writing."""
        self._waiting = []

    def remove(self, number: int, row: JSON) -> Queued | None:
        """A prompt is handed to the model, or is dropped for another reason."""
        one = self._leave(row)
        is_new = one is not None and one.mark and not one.is_said
        return one if is_new and text_under(row, "reason") in DELIVERIES else None

    def _leave(self, row: JSON) -> Queued | None:
        """The prompt that a line names, else the oldest, leaves; among these first one that was said."""
        mark = _mark(row)
        candidates = [one for one in self._waiting if mark and one.mark == mark] or self._waiting
        chosen = next((one for one in candidates if one.is_said), next(iter(candidates), None))
        self._waiting = [one for one in self._waiting if one is not chosen]
        return chosen

    def _says(self, mark: str) -> bool:
        """Whether words are those of a prompt that still waits; they are said now."""
        found = next((one for one in self._waiting if mark and one.mark == mark and not one.is_said), None)
        self._waiting = [replace(one, is_said=True) if one is found else one for one in self._waiting]
        return found is not None

    def _is_second(self, mark: str, after: int = 0) -> bool:
        """Whether words were handed over behind a line; the newest of that kind is forgotten."""
        places = [place for place, entry in enumerate(self._handed_over) if mark and entry.mark == mark and entry.number > after]
        self._handed_over = [entry for place, entry in enumerate(self._handed_over) if place not in places[-1:]]
        return bool(places)


def mark_of_words(content: object) -> str:
    """A mark of the words in a recorded content, empty where it has none."""
    words = content if isinstance(content, str) else "\n".join(readable(content))
    return mark_of(words.strip())


def _mark(said: JSON | None) -> str:
    return mark_of_words((said or {}).get("content"))


def _nothing(queue: PromptQueue, number: int, row: JSON) -> None:
    """An operation that is not known leaves the queue as it is."""


OPERATIONS: dict[str, Callable[[PromptQueue, int, JSON], Queued | None]] = {
    "enqueue": PromptQueue.enqueue,
    "dequeue": PromptQueue.dequeue,
    "popAll": PromptQueue.pop_all,
    "remove": PromptQueue.remove,
}
"""Operation of a line -> what it does."""
