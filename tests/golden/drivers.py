"""Which driver runs which case: the pattern of the name, as a shell would match it."""

from __future__ import annotations

from fnmatch import fnmatchcase

from tests.golden import (
    boundaries,
    caching,
    compressing,
    contract,
    failing,
    manual,
    model_facts,
    pruning,
    publishing,
    refusals,
    stores,
    summaries,
    tokens,
    triggering,
)
from tests.golden.reading import Driver

ROOMS = (
    tokens,
    pruning,
    boundaries,
    compressing,
    contract,
    stores,
    publishing,
    manual,
    summaries,
    model_facts,
    failing,
    caching,
    triggering,
    refusals,
)
DRIVERS: tuple[tuple[str, Driver], ...] = tuple(row for room in ROOMS for row in room.DRIVERS.items())


def drivers_of(name: str) -> list[Driver]:
    """The drivers whose pattern matches; exactly one in a table that is in order."""
    return [driver for pattern, driver in DRIVERS if fnmatchcase(name, pattern)]
