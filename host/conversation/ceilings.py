"""How long a request may be for a service that refuses without naming its window (docs/decisions/0029)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from host.conversation.current import Current
from host.engine.services import State
from host.errors import StoreError

LEAST_WINDOW = 1_024  # tokens; a smaller limit is of something else
LEAST_CEILING = 2_000  # tokens; a service that takes less is of no use to an agent
SHARES = (0.8, 0.6, 0.4)  # of a request that was refused, for the first, second and any further refusal in a row
COUNTED_SLACK, ESTIMATED_SLACK = 1.25, 2.0  # times what was refused; a limit that is stated above that is of something else
NOTE = "taken"


@dataclass(frozen=True)
class Taken:
    """Of one model, in tokens: the largest request that was answered, the smallest that was refused without a limit, and the ceiling.

    0 where nothing is known. Between two answers the ceiling only sinks.
    """

    accepted: int = 0
    refused: int = 0
    ceiling: int = 0

    def after_answer(self, tokens: int) -> Taken:
        """A request was answered; one above the ceiling raises it, and one as long as was refused shows that there is none."""
        if tokens <= self.accepted:
            return self
        if not self.ceiling or tokens <= self.ceiling:
            return replace(self, accepted=tokens)
        return Taken(tokens) if tokens >= self.refused else replace(self, accepted=tokens, ceiling=tokens)

    def after_refusal(self, tokens: int, times: int, most: int | None = None) -> Taken:
        """A request was refused as too long, for the ``times``-th time before an answer; ``most`` where the service hints at a limit."""
        accepted = self.accepted if self.accepted < tokens else 0  # it takes less than it did
        between = most or max(accepted, int(SHARES[min(times, len(SHARES) - 1)] * tokens))
        ceiling = max(LEAST_CEILING, min(between, self.ceiling or between))
        return Taken(accepted, min(tokens, self.refused or tokens), ceiling) if ceiling < tokens else self


class Limits:
    """What was taken, by model; kept in the host's document of the conversation whenever a ceiling changes."""

    def __init__(self, current: Current, notes: State | None) -> None:
        self._current = current
        self._notes = notes
        self._known: dict[str, Taken] = _read(notes)
        self._unproven: Taken | None = None  # what was known before a refusal that may have been about something else
        self.apply()

    @property
    def taken(self) -> Taken:
        """Of the current model."""
        return self._known.get(self._model, Taken())

    def apply(self) -> None:
        """Have the window kept below what is known of the model that answers now."""
        self._unproven = None
        if ceiling := self.taken.ceiling:
            self._current.keep_below(ceiling)

    def answered(self, tokens: int) -> None:
        """A request of so many tokens was answered."""
        self._unproven = None
        self._know(self.taken.after_answer(tokens))

    def refused(self, tokens: int, times: int, most: int | None = None, *, is_guess: bool) -> None:
        """One was refused as too long; ``is_guess``: only its size says so."""
        self._unproven = (self._unproven or self.taken) if is_guess else None
        self._know(self.taken.after_refusal(tokens, times, most))

    def refused_for_another_reason(self) -> None:
        """It is not about the length: what was guessed to be is forgotten."""
        if self._unproven is not None:
            self._know(self._unproven)
            self._unproven = None

    def stated(self) -> None:
        """The service has named its window: no ceiling is needed."""
        self._unproven = None
        self._know(Taken(self.taken.accepted))

    def believes(self, limit: int, tokens: int, *, counted: bool) -> bool:
        """Whether this can be the window of a service that refused a request of so many tokens, its answer included."""
        known = self.taken.accepted
        if limit < LEAST_WINDOW or limit < known < tokens:
            return False
        return limit <= tokens * (COUNTED_SLACK if counted else ESTIMATED_SLACK)

    @property
    def _model(self) -> str:
        return self._current.services.facts.model

    def _know(self, taken: Taken) -> None:
        before = self.taken
        self._known[self._model] = taken
        if taken.ceiling != before.ceiling:
            self._current.keep_below(taken.ceiling)
            self._write()

    def _write(self) -> None:
        """Where that fails the next process learns it anew."""
        if self._notes is None:
            return
        with suppress(StoreError):
            kept = {model: asdict(taken) for model, taken in self._known.items() if taken.ceiling}
            self._notes.save({**self._notes.load(), NOTE: kept})


def _read(notes: State | None) -> dict[str, Taken]:
    """What an earlier process kept; nothing of what a newer version wrote otherwise."""
    document: dict[str, Any] = {}
    with suppress(StoreError):
        document = notes.load() if notes is not None else {}
    kept = document.get(NOTE)
    return {str(model): taken for model, entry in kept.items() if (taken := _taken(entry))} if isinstance(kept, dict) else {}


def _taken(entry: object) -> Taken | None:
    if not isinstance(entry, dict):
        return None
    figures = [figure for name in Taken.__dataclass_fields__ if isinstance(figure := entry.get(name), int) and figure >= 0]
    return Taken(*figures) if len(figures) == len(Taken.__dataclass_fields__) else None
