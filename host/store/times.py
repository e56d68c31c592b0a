"""Times as the tables hold them: microseconds since 1970, UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
FIRST, LAST = (datetime.min.replace(tzinfo=UTC) - EPOCH), (datetime.max.replace(tzinfo=UTC) - EPOCH)  # what a datetime can hold


def microseconds() -> int:
    """Now."""
    return time.time_ns() // 1000


def to_microseconds(moment: datetime | None) -> int:
    """A time as the tables hold it, now for None; one without a zone is UTC, one that UTC cannot hold the nearest that it can."""
    if moment is None:
        return microseconds()
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(aware - EPOCH, FIRST), LAST) // timedelta(microseconds=1)


def from_microseconds(value: int) -> datetime:
    """A time of the tables."""
    return EPOCH + timedelta(microseconds=value)
