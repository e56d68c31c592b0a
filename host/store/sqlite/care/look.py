"""What every check is given."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from host.engine.services import Progress
from host.store.kept import message_of
from host.store.protocols import quiet
from host.store.sqlite.care.holes import Holes

FAR = 100_000  # positions or versions beyond what is known: a number from there on is damage
STEP = 1_000  # rows between two words of progress


def entries_in(text: str, most: int) -> list[list[int]]:
    """The entries of a view, not unfolded; ValueError, TypeError for what is none or would show more than that many rows."""
    entries = [[int(first), int(last)] for first, last in json.loads(text)]
    if any(first < 0 or (first and not 0 <= last - first <= most) for first, last in entries):
        raise ValueError("it shows more than there can be")
    return entries


def is_message_text(body: object) -> bool:
    """Whether bytes can be read as a message."""
    try:
        return isinstance(body, bytes) and isinstance(message_of(body), dict)
    except (ValueError, RecursionError):
        return False


@dataclass
class Look:
    """One snapshot of a store that is being checked. ``counts`` is what was read so far."""

    connection: sqlite3.Connection
    key: bytes
    holes: Holes
    progress: Progress = quiet
    counts: Counter[str] = field(default_factory=Counter)

    @cached_property
    def total(self) -> int:
        """How many rows there are."""
        total: int = self.connection.execute("SELECT count(*) FROM messages").fetchone()[0]
        return total

    @cached_property
    def lengths(self) -> dict[int, int]:
        """The last position of each conversation by its number, 0 for an empty one."""
        lasts = "SELECT c.id, coalesce((SELECT max(m.position) FROM messages m WHERE m.conversation = c.id), 0) FROM conversations c"
        return dict(self.connection.execute(lasts).fetchall())

    def conversations(self) -> Iterator[tuple[int, str]]:
        """Number and name, in the order in which they began."""
        yield from self.connection.execute("SELECT id, name FROM conversations ORDER BY id").fetchall()

    def name_of(self, conversation: int) -> str:
        """A conversation's name, for findings."""
        return self._names.get(conversation, f"conversation number {conversation}")

    def read_one(self) -> None:
        """Count a row, and say so from time to time."""
        self.counts["messages"] += 1
        if self.counts["messages"] % STEP == 0:
            self.progress(self.counts["messages"], self.total, "messages")

    @cached_property
    def _names(self) -> dict[int, str]:
        return dict(self.conversations())
