"""The thresholds as they come out for one model, each with the rule that decided it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from host.config.kinds import clamped_ratio
from host.config.loader import Loaded
from host.config.reading import printable
from host.config.shares import starting_share

FLOOR = 64_000
SUMMARY_SHARE = 0.05


class Budgets(Protocol):
    """What ``host.tokens.budgets`` works out; this room lies below that one and is handed its answer."""

    @property
    def window(self) -> int: ...
    @property
    def threshold(self) -> int: ...
    @property
    def tail(self) -> int: ...
    @property
    def soft_ceiling(self) -> int: ...
    @property
    def summary(self) -> int: ...
    @property
    def percent(self) -> float: ...
    @property
    def target_ratio(self) -> float: ...


class BudgetsFor(Protocol):
    """How they are worked out."""

    def __call__(
        self, window: int, *, threshold: float, target_ratio: float, max_tokens: int | None, small_window_floor: float | None
    ) -> Budgets: ...


class KnownWindow(Protocol):
    """What is known of the model's window, and where from."""

    @property
    def window(self) -> int: ...
    @property
    def window_is_guessed(self) -> bool: ...
    @property
    def source(self) -> str: ...


@dataclass(frozen=True)
class Figure:
    """One resolved number, in tokens. A guess is marked, and so is what comes of it."""

    name: str
    tokens: int
    because: str
    is_guessed: bool = False


def figures(loaded: Loaded, budgets: BudgetsFor, known: KnownWindow) -> list[Figure]:
    """Window, output reserve, threshold, tail and summary ceiling of the configured model, with the rules that decided."""
    config = loaded.config
    share = starting_share(config)
    worked_out = budgets(
        known.window,
        threshold=share.share,
        target_ratio=config.compression.target_ratio,
        max_tokens=config.model.max_tokens,
        small_window_floor=config.compression.small_window_floor,
    )
    why_share = "compression.small_window_floor" if worked_out.percent != share.share else share.because
    guessed = known.window_is_guessed
    return [
        Figure("window", known.window, _why_window(loaded, known), guessed),
        Figure("reserve", config.model.max_tokens or 0, _why_reserve(loaded)),
        Figure("threshold", worked_out.threshold, _why_threshold(worked_out, why_share, config.model.max_tokens), guessed),
        Figure("tail", worked_out.tail, _why_tail(loaded, worked_out), guessed),
        Figure("soft_ceiling", worked_out.soft_ceiling, "1.5 times the tail, to keep a group of messages whole", guessed),
        Figure("summary", worked_out.summary, _why_summary(worked_out), guessed),
    ]


def _why_window(loaded: Loaded, known: KnownWindow) -> str:
    model = loaded.config.model
    if model.context_length is not None:
        return f"model.context_length, {loaded.origins['model.context_length']}"
    if not known.window_is_guessed:
        return f"known {printable(known.source)}"
    unknown = f"the window of {printable(model.name)} is not known" if model.name else "no model is named"
    return f"{unknown}: {known.source}"


def _why_reserve(loaded: Loaded) -> str:
    if loaded.config.model.max_tokens is None:
        return "model.max_tokens is not set: nothing is kept free for the answer"
    return f"model.max_tokens, {loaded.origins['model.max_tokens']}"


def _why_threshold(worked_out: Budgets, why_share: str, max_tokens: int | None) -> str:
    reserve = max_tokens or 0
    room = worked_out.window - reserve if reserve < worked_out.window else worked_out.window
    share = int(room * worked_out.percent)
    less = ""
    if reserve:
        less = (
            f", output reserve of {reserve:,} taken off"
            if room < worked_out.window
            else f", output reserve of {reserve:,} ignored: no room left"
        )
    start = f"{worked_out.percent:g} of {room:,}{less}"
    if worked_out.threshold == share:
        return f"{start} ({why_share})"
    if worked_out.threshold == FLOOR:
        return f"raised to the floor of {FLOOR:,}: {start} is {share:,} ({why_share})"
    return f"85 % rule: the floor of {FLOOR:,} or the share reaches the end of {room:,}{less}"


def _why_tail(loaded: Loaded, worked_out: Budgets) -> str:
    written = loaded.layer.tree.get("compression", {}).get("target_ratio")
    clamped = written is not None and clamped_ratio(float(written)) != float(written)
    start = f"{worked_out.target_ratio:g} of the threshold (compression.target_ratio"
    return f"{start}, clamped from {float(written):g})" if clamped else f"{start})"


def _why_summary(worked_out: Budgets) -> str:
    share = int(worked_out.window * SUMMARY_SHARE)
    if worked_out.summary == share:
        return "5 % of the window"
    return f"limit of {worked_out.summary:,}: 5 % of the window is {share:,}" if worked_out.summary < share else "least for a small window"
