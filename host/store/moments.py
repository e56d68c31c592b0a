"""Times as they are typed, by people and by models."""

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
FORMS = "a date or time such as 2026-11-30 or 2026-11-30T16:00 (local time), or an age: 15m, 2h, 3d, 1w"


def moment_of(text: str, now: datetime) -> datetime:
    """A date or time (ISO 8601; without a zone it is local time), or how long before ``now``: 15m, 2h, 3d, 1w."""
    try:
        if (age := AGE.fullmatch(text.strip().lower())) and age[2] in AGO:
            return now - int(age[1]) * AGO[age[2]]
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{text!r} is no time", f"write {FORMS}") from error
