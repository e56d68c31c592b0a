"""In which order files are read, so that a search finds the newest first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from host.importing.places import RecordedFile
from host.store.protocols import Store

TAIL = 64 << 10  # bytes of a file in which its newest record is looked for
RECORDED = re.compile(rb'"timestamp"\s*:\s*"(\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:?\d\d)?)"')


@dataclass(frozen=True)
class Waiting:
    """A file with something new. ``history``: nothing of it is archived, and all of it is older than what is."""

    file: RecordedFile
    size: int
    newest: datetime
    history: bool


def in_order(waiting: Iterable[Waiting]) -> list[Waiting]:
    """What came after everything archived, oldest first, for it gets ids behind all others; then the past, newest first."""
    by_time = sorted(waiting, key=lambda each: (each.newest, each.file.name))
    return [each for each in by_time if not each.history] + [each for each in reversed(by_time) if each.history]


def newest_record(file: RecordedFile, status: os.stat_result) -> datetime:
    """When the last record of a file was made: as its end says, else when the file was written."""
    try:
        with file.path.open("rb") as opened:
            opened.seek(max(status.st_size - TAIL, 0))
            found = RECORDED.findall(opened.read(TAIL))
        moment = datetime.fromisoformat(found[-1].decode("ascii"))
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (OSError, ValueError, IndexError):  # the reading itself says what is wrong
        return datetime.fromtimestamp(status.st_mtime, UTC)


def newest_archived(store: Store) -> datetime | None:
    """When the newest archived message was said; None while the archive is empty."""
    for session in store.sessions.listed(limit=1):
        if session.rows:
            last = session.rows[-1].stop - 1
            return next((row.time for row in store.archive(session.conversation).rows(last, last)), None)
    return None
