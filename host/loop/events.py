"""What happens in a turn, as it is told to whoever shows it: one frozen value an event."""

from __future__ import annotations

from dataclasses import asdict, dataclass, is_dataclass
from enum import StrEnum
from typing import Any

from host.engine.outcome import Outcome
from host.messages.types import Message, ToolCall, Usage


class Ending(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    EXHAUSTED = "exhausted"


@dataclass(frozen=True)
class Said:
    """A piece of the answer, as it streams in."""

    text: str


@dataclass(frozen=True)
class Thought:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True)
class Called:
    """A tool is called."""

    call: ToolCall


@dataclass(frozen=True)
class Returned:
    """A tool has answered; ``failed`` where the result says that it could not."""

    call: ToolCall
    result: str
    failed: bool
    seconds: float


@dataclass(frozen=True)
class Working:
    """Something that takes a while goes on: a compaction, mostly. ``total`` is 0 where nobody knows it."""

    text: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Compacted:
    """A compaction ended, with what came of it."""

    outcome: Outcome


@dataclass(frozen=True)
class Retrying:
    """The model is asked again after ``wait`` seconds; what was said of its answer so far does not count."""

    why: str
    wait: float = 0.0


@dataclass(frozen=True)
class Switched:
    """Another model goes on, because of ``why``; what was said of the answer so far does not count."""

    model: str
    why: str


@dataclass(frozen=True)
class Noticed:
    """Something about the set-up, told once at the start; nothing alarming."""

    text: str


@dataclass(frozen=True)
class Warned:
    """Something that the user should know."""

    text: str


@dataclass(frozen=True)
class Answered:
    """The model's message is complete and kept; ``usage`` as the provider counted it, ``finish_reason`` as it said it."""

    message: Message
    usage: Usage | None
    finish_reason: str | None = None

    @property
    def is_cut(self) -> bool:
        """Whether it broke off in the middle, because an answer may not be longer."""
        return self.finish_reason == "length"


@dataclass(frozen=True)
class Ended:
    """The turn is over."""

    reason: Ending
    detail: str = ""


Event = Said | Thought | Called | Returned | Working | Compacted | Retrying | Switched | Noticed | Warned | Answered | Ended


def as_json(event: Event) -> dict[str, Any]:
    """The event as a JSON object; ``type`` is its name in lower case."""
    return {"type": type(event).__name__.lower(), **{key: _plain(value) for key, value in vars(event).items()}}


def _plain(value: object) -> object:
    if isinstance(value, Outcome):
        return {**value.as_json(), "refused": value.refused}
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
