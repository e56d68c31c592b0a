"""How many lines of session files there was no time for."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from host.importing.lines import COUNTED, LEAST_COUNTED, goes_on, lines_from
from host.importing.places import RecordedFile
from host.store.protocols import Imports

Stamp = tuple[int, int]  # of a file: bytes, and time in nanoseconds
GRACE = 0.02  # seconds of counting after the time is over; from then on it is estimated


@dataclass(frozen=True)
class Changed:
    """A file that is not as it was remembered, and whether it was never read."""

    file: RecordedFile
    stamp: Stamp
    is_new: bool


class Unread:
    """Counts lines, each file's once for as long as it stays as it is."""

    def __init__(self, imports: Imports) -> None:
        self._imports = imports
        self._totals: dict[str, tuple[Stamp, int]] = {}

    def lines(self, changed: Sequence[Changed], until: float) -> int:
        """The lines of these files that are not read yet; of a file that is gone or cannot be read there are none.

        What there is no time to count any more is estimated by the bytes of what was counted.
        """
        known = self._imports.readings() if changed else {}
        budget, left, seen = COUNTED, 0, 0
        for index, each in enumerate(changed):
            stamp = stamp_of(each.file.path)
            if stamp is None or known.get(each.file.name) == stamp or self._imports.deleted(each.file.name):
                continue
            in_time = time.monotonic() < until + GRACE
            if seen and not in_time:
                return left + round(left / seen * sum(_unread_bytes(other, known) for other in changed[index:]))
            with suppress(OSError):
                lines, counted = self._left(each.file, stamp, max(budget, LEAST_COUNTED) if in_time else LEAST_COUNTED)
                left, budget, seen = left + lines, budget - counted, seen + _unread_bytes(each, known)
        return left

    def _left(self, file: RecordedFile, stamp: Stamp, most: int) -> tuple[int, int]:
        """The lines left of one file, and in how many bytes they were counted just now."""
        reading = self._imports.reading(file.name)
        with file.path.open("rb") as opened:
            offset, line = (reading.offset, reading.line) if reading is not None and goes_on(opened, reading) else (0, 0)
            at_stamp, total = self._totals.get(file.name, (None, 0))
            if at_stamp == stamp:
                return max(total - line, 0), 0
            lines, counted = lines_from(opened, offset, most)
        if offset + counted >= stamp[0]:
            self._totals[file.name] = (stamp, line + lines)
        return lines, counted


def _unread_bytes(each: Changed, known: Mapping[str, Stamp]) -> int:
    """By how much a file is longer than it was when it was read."""
    return max(each.stamp[0] - known.get(each.file.name, (0, 0))[0], 0)


def stamp_of(path: str | Path) -> Stamp | None:
    """Size and time of a file; None where it is gone, or empty."""
    try:
        status = os.stat(path)  # noqa: PTH116  thousands of times: half of what the method of a path takes
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if status.st_size else None
