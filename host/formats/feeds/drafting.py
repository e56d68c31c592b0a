"""Answers that grow: what a line adds to its chain, and what must be remembered of an answer that is still open."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import TypeVar

from host.formats.assembly import Assembly, AssistantTurn
from host.formats.feeds.events import Known
from host.formats.loose import keyed, listed, text_under
from host.messages.types import JSON, Message

Entry = TypeVar("Entry")
CHAINS = 64  # whose newest answer is remembered: more agents do not work at one time
SHAPE = 1  # of what a feed's ``state`` holds: raised when that changes


@dataclass(frozen=True)
class Added:
    """A message as a line left it; ``is_new`` where it was not said before."""

    key: str
    message: Message
    is_new: bool = True


@dataclass(frozen=True)
class OpenAnswer:
    """The newest answer of a chain, while pieces may still join it; ``key`` is the one of its first piece."""

    key: str
    turn: AssistantTurn

    def state(self) -> JSON:
        """Ids and flags from which the answer and its message together can be gone on with."""
        turn = self.turn
        flags = {"said": not turn.is_empty, "spoken": bool(turn.parts), "waiting": turn.waiting}
        return {"key": self.key, "answer": turn.key, **flags}


class Drafting:
    """The open answers of a file by chain."""

    def __init__(self, known: Known, state: JSON) -> None:
        """Begin; with the ``state`` of an earlier reading go on with the answers that were open then."""
        self._known = known
        self._open: dict[str, OpenAnswer] = {}
        self._earlier: dict[str, JSON] = {chain: keyed(kept) for chain, kept in state.items()}

    def state(self) -> JSON:
        """What must be remembered of the open answers."""
        kept = {**self._earlier, **{chain: answer.state() for chain, answer in self._open.items()}}
        return dict(newest(kept.items(), CHAINS))

    def opened(self, chain: str) -> OpenAnswer | None:
        """The open answer of a chain; None where there is none, or where an earlier reading's is not known any more."""
        if chain in self._earlier:
            kept = self._earlier.pop(chain)
            if (answer := self._reopened(chain, kept)) is not None:
                self._open[chain] = answer
        return self._open.get(chain)

    def close(self, chain: str) -> None:
        """What comes next in a chain begins another answer."""
        self._earlier.pop(chain, None)
        self._open.pop(chain, None)

    def added(self, chain: str, key: str, add: Callable[[Assembly], None]) -> list[Added]:
        """What ``add`` says in a chain: the open answer where it grew, then the messages that began (``key``, ``key#2``, ...)."""
        answer = self.opened(chain)
        assembly = Assembly(turn=answer.turn if answer else None)
        before = _extent(answer.turn) if answer else None
        was_empty = answer is None or answer.turn.is_empty
        add(assembly)
        grown = [Added(answer.key, answer.turn.message(), was_empty)] if answer and _extent(answer.turn) != before else []
        begun = list(zip(_keys(key), assembly.items, strict=False))
        if assembly.turn is None:
            self.close(chain)
        for name, item in begun:
            if item is assembly.turn and isinstance(item, AssistantTurn):
                self._open.pop(chain, None)  # the chain that spoke last is remembered longest
                self._open[chain] = OpenAnswer(name, item)
        return [*grown, *(Added(name, _message(item)) for name, item in begun if not _is_empty(item))]

    def _reopened(self, chain: str, kept: JSON) -> OpenAnswer | None:
        key, answer = text_under(kept, "key"), text_under(kept, "answer")
        if not kept.get("said"):
            return OpenAnswer(key, AssistantTurn(answer))
        message = self._known(chain, key)
        if message is None:
            return None
        spoken, waiting = bool(kept.get("spoken")), listed(kept.get("waiting"))
        return OpenAnswer(key, AssistantTurn.of(message, answer, spoken=spoken, waiting=waiting))


def newest(entries: Iterable[Entry], limit: int) -> list[Entry]:
    """The last entries, at most ``limit`` of them."""
    return list(deque(entries, limit))


def gone_on_with(state: JSON) -> JSON:
    """The state of an earlier reading; an empty one where it has another shape: that reading is gone on with without memory."""
    return state if state.get("shape") == SHAPE else {}


def time_of(row: JSON) -> datetime | None:
    """When a line was recorded; None where it does not say, or says no time."""
    try:
        recorded = datetime.fromisoformat(text_under(row, "timestamp"))
        return (recorded if recorded.tzinfo else recorded.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _keys(key: str) -> Iterator[str]:
    yield key
    yield from (f"{key}#{number}" for number in count(2))


def _extent(turn: AssistantTurn) -> tuple[int, int, int]:
    """An answer only ever grows: its size tells whether it did."""
    return len(turn.parts), len(turn.reasoning), len(turn.calls)


def _message(item: Message | AssistantTurn) -> Message:
    return item.message() if isinstance(item, AssistantTurn) else item


def _is_empty(item: Message | AssistantTurn) -> bool:
    return isinstance(item, AssistantTurn) and item.is_empty
