"""Times and ages as they are typed."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from host.errors import UsageError

AGE = re.compile(r"(\d+)\s*([a-z]+)(?:\s+ago)?", re.ASCII)
AGO = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
NONE, OLDEST = timedelta(), timedelta(days=3_650_000)  # ten thousand years: the calendar begins later
KEPT = {"d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30), "y": timedelta(days=365)}


def moment_of(text: str, now: datetime) -> datetime:
    """A date or time (ISO 8601; without a zone it is local time), or how long before ``now``: 15m, 2h, 3d, 1w."""
    try:
        if (age := AGE.fullmatch(text.strip().lower())) and age[2] in AGO:
            return now - int(age[1]) * AGO[age[2]]
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"{text!r} is no time", "write a date or time such as 2026-11-30 or 2026-11-30T16:00 (local time), or an age: 15m, 2h, 3d, 1w"
        ) from error


def age_of(text: str) -> timedelta:
    """An age in days, weeks, months of 30 days or years of 365: 90d, 12w, 6m, 1y."""
    age = AGE.fullmatch(text.strip().lower())
    try:
        if age and age[2] in KEPT and NONE < (given := int(age[1]) * KEPT[age[2]]) < OLDEST:
            return given
    except (OverflowError, ValueError):  # more digits than a number may have
        pass
    raise UsageError(f"{text!r} is no age", "write a number with d, w, m (30 days) or y (365 days), such as 90d")
