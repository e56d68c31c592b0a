"""The check and the mending of pins: each is of a message that is there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from host.store.care import Finding
from host.store.sqlite.care.look import Look

BASELESS = """
SELECT p.id, p.conversation, p.position
FROM pins p
WHERE NOT EXISTS (
  SELECT 1
  FROM messages m
  WHERE m.conversation = p.conversation AND m.position = p.position AND m.place IS NULL AND m.body IS NOT NULL
) AND NOT EXISTS (
  SELECT 1
  FROM messages v
  WHERE v.conversation = p.conversation AND v.place = p.position AND v.body IS NOT NULL
)
ORDER BY p.id
"""


def check_pins(look: Look) -> Iterator[Finding]:
    """Pins are of messages that have their content."""
    look.counts["pins"] = look.connection.execute("SELECT count(*) FROM pins").fetchone()[0]
    for _, conversation, position in look.connection.execute(BASELESS).fetchall():
        yield Finding(f"{look.name_of(conversation)}:{position}", "it is pinned, and there is no message")


def mend_pins(target: sqlite3.Connection) -> Iterator[str]:
    """Take away the pins of messages that are lost. Yields how many."""
    gone = [(number,) for number, _, _ in target.execute(BASELESS).fetchall()]
    target.executemany("DELETE FROM pins WHERE id = ?", gone)
    if gone:
        yield f"table pins: {len(gone):,} rows are gone, for their messages are"
