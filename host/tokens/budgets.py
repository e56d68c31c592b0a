"""How much of a window a conversation may take before it is compacted, and what the pieces may cost (seed 3.4, hermes.md 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

THRESHOLD_FLOOR = 64_000  # large windows are not compacted before this
TRIGGER_RATIO = 0.85  # of the room that is left, where the floor would reach the window's end
SMALL_WINDOW = 512_000  # the optional percent floor applies below
TARGET_RATIOS = (0.10, 0.80)
SOFT_CEILING_RATIO = 1.5  # a tail may overshoot its budget by this to keep a group whole
SUMMARY_WINDOW_RATIO = 0.05
SUMMARY_LIMIT = 12_000
SUMMARY_LEAST = 256  # a ceiling below this leaves no room for a single sentence of each section
SUMMARY_RATIO = 0.20
SUMMARY_FLOOR = 2_000


@dataclass(frozen=True)
class Budgets:
    """The figures of one window. Token fields are counts; ``percent`` and ``target_ratio`` are what was in force."""

    window: int
    threshold: int  # compact at or above
    tail: int
    soft_ceiling: int
    summary: int  # ceiling
    percent: float
    target_ratio: float


def budgets(
    window: int,
    *,
    threshold: float = 0.5,
    target_ratio: float = 0.2,
    max_tokens: int | None = None,
    small_window_floor: float | None = None,
    summary_limit: int = SUMMARY_LIMIT,
) -> Budgets:
    """All figures for a window: 200,000 give a threshold of 100,000, a tail of 20,000, a summary of 10,000."""
    percent = effective_percent(window, threshold, small_window_floor)
    trigger = threshold_tokens(window, percent, max_tokens)
    lowest, highest = TARGET_RATIOS
    ratio = max(lowest, min(target_ratio, highest))
    tail = int(trigger * ratio)
    return Budgets(
        window=window,
        threshold=trigger,
        tail=tail,
        soft_ceiling=int(tail * SOFT_CEILING_RATIO),
        summary=summary_ceiling(window, summary_limit),
        percent=percent,
        target_ratio=ratio,
    )


def threshold_tokens(window: int, percent: float, max_tokens: int | None = None) -> int:
    """Tokens at which to compact: a percentage of the window less the output reserve, at least 64,000.

    Where that floor reaches the end of what is left, 85 % of it; a reserve as large as the window is ignored.
    """
    room = window - (max_tokens or 0)
    if room <= 0:
        room = window
    floored = max(int(room * percent), THRESHOLD_FLOOR)
    if floored < room:
        return floored
    return max(1, min(int(room * TRIGGER_RATIO), room - 1))


def effective_percent(window: int, percent: float, small_window_floor: float | None = None) -> float:
    """The configured percentage, raised to the floor (where one is set) for windows under 512,000."""
    if small_window_floor is None or not 0 < window < SMALL_WINDOW:
        return percent
    return max(percent, small_window_floor)


def output_reserve(value: object) -> int | None:
    """Tokens that the provider keeps for its answer; None for anything that is no positive number."""
    if not isinstance(value, int | float | str):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    try:
        reserve = int(value)
    except ValueError:
        return None
    return reserve if reserve > 0 else None


def summary_ceiling(window: int, limit: int = SUMMARY_LIMIT) -> int:
    """The most that a summary may have: 5 % of the window up to the limit; very small windows give an eighth."""
    share = min(int(window * SUMMARY_WINDOW_RATIO), limit)
    return max(1, share, min(SUMMARY_LEAST, window // 8, limit))


def summary_budget(content_tokens: int, ceiling: int) -> int:
    """Tokens for the summary of that much content: 20 % of it, at least 2,000, never more than the ceiling."""
    return min(ceiling, max(SUMMARY_FLOOR, int(content_tokens * SUMMARY_RATIO)))
