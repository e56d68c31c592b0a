"""Times as they are typed, by people and by models."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

from host.errors import UsageError

AGE = re.compile(r"(\d+)\s*([a-z]+)(?:\s+ago)?", re.ASCII)
MONTH = re.compile(r"\d{4}-\d\d", re.ASCII)
TWO_MEANINGS = re.compile(r"\d+\s*M", re.ASCII)  # minutes, or months
DAY = timedelta(days=1)
DAYS = {"today": timedelta(), "yesterday": DAY}
UNITS = {
    ("s", "sec", "secs", "second", "seconds"): timedelta(seconds=1),
    ("m", "min", "mins", "minute", "minutes"): timedelta(minutes=1),
    ("h", "hr", "hrs", "hour", "hours"): timedelta(hours=1),
    ("d", "day", "days"): DAY,
    ("w", "week", "weeks"): 7 * DAY,
    ("mo", "month", "months"): 30 * DAY,
    ("y", "year", "years"): 365 * DAY,
}
AGO = {name: length for names, length in UNITS.items() for name in names}
FORMS = "a date or time such as 2026-11-30 or 2026-11-30T16:00 (local time), yesterday, or an age: 15m, 2h, 3d, 1w, 2mo, 1y"


def moment_of(text: str, now: datetime) -> datetime:
    """A date or time (ISO 8601; without a zone it is local time), or how long before ``now``: 15m, 2h, 3d, 1w, 2mo, 1y.

    A day or month is meant from its beginning; months count 30 days and years 365. Raises UsageError for anything else.
    """
    told = text.strip()
    word = told.lower()
    try:
        if word in DAYS:
            return datetime.combine(now.astimezone().date() - DAYS[word], time()).astimezone()
        if (age := AGE.fullmatch(word)) and age[2] in AGO and not TWO_MEANINGS.fullmatch(told):
            return now - int(age[1]) * AGO[age[2]]
        return datetime.fromisoformat(f"{told}-01" if MONTH.fullmatch(told) else told).astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{text!r} is no time", f"write {FORMS}") from error
