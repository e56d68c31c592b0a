"""Ages as they are typed."""

from __future__ import annotations

from datetime import timedelta

from host.errors import UsageError
from host.store.moments import AGE

NONE, OLDEST = timedelta(), timedelta(days=3_650_000)  # ten thousand years: the calendar begins later
KEPT = {"d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30), "y": timedelta(days=365)}


def age_of(text: str) -> timedelta:
    """An age in days, weeks, months of 30 days or years of 365: 90d, 12w, 6m, 1y."""
    age = AGE.fullmatch(text.strip().lower())
    try:
        if age and age[2] in KEPT and NONE < (given := int(age[1]) * KEPT[age[2]]) < OLDEST:
            return given
    except (OverflowError, ValueError):  # more digits than a number may have
        pass
    raise UsageError(f"{text!r} is no age", "write a number with d, w, m (30 days) or y (365 days), such as 90d")
