"""Where a search goes on: an opaque text that only the same query understands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b

from host.errors import UsageError
from host.store.query import Mode, Query

SHAPE = re.compile(r"([a-z]+)-([0-9a-f]{12})-([0-9a-f]+(?:\.[0-9a-f]+)*)")


@dataclass(frozen=True)
class Mark:
    """The mode that found the page before, and where it ended.

    Newest first, ``below`` is the last row that was read. Ranked, it is the newest row that there was at first, and
    ``seen`` are the rows shown so far: ranks move while messages come in.
    """

    mode: Mode
    below: int
    seen: tuple[int, ...] = ()


def cursor_of(query: Query, mark: Mark) -> str:
    """The mark as text."""
    numbers = ".".join(f"{number:x}" for number in (mark.below, *mark.seen))
    return f"{mark.mode}-{_digest(query)}-{numbers}"


def mark_of(query: Query) -> Mark | None:
    """The mark in a query's cursor, None where it has none; UsageError where it is not this query's."""
    if query.cursor is None:
        return None
    found = SHAPE.fullmatch(query.cursor)
    if found is None or found[2] != _digest(query) or found[1] not in {*Mode}:
        raise UsageError("the cursor belongs to another search", "search again without a cursor; only limit and context may change")
    below, *seen = (int(number, 16) for number in found[3].split("."))
    return Mark(Mode(found[1]), below, tuple(seen))


def _digest(query: Query) -> str:
    """What has to stay the same from page to page."""
    where = (query.conversation, query.sessions, *([query.directories] if query.directories else []))
    asked = (query.text, query.mode, *where, query.role, query.tool, query.since, query.before)
    return blake2b(repr(asked).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
