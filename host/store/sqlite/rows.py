"""The rows of the archive as the tables hold them, and as the store hands them out."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from host.messages.types import Message
from host.store.kept import object_in
from host.store.sqlite.bodies import Unreadable, message_in
from host.store.times import from_microseconds
from host.store.values import Row

SESSION_OF = """(
  SELECT g.session
  FROM segments g
  WHERE g.conversation = m.conversation AND g.first <= m.position
  ORDER BY g.id DESC
  LIMIT 1
)"""
"""The session of a row of ``messages m``: the one that was open when its position was given."""

ROWS = f"""
SELECT m.id, c.name, s.name, m.position, m.place, m.time, m.role, m.body, m.cuts, m.tool,
  EXISTS (
    SELECT 1
    FROM messages n
    WHERE n.conversation = m.conversation AND n.place = coalesce(m.place, m.position) AND +n.position > m.position
  ),
  m.facts, s.title, s.about
FROM messages m
JOIN conversations c ON c.id = m.conversation
JOIN sessions s ON s.id = {SESSION_OF}
"""


def row_of(connection: sqlite3.Connection, found: Sequence[Any]) -> Row:
    """A row of the SELECT in ROWS; what it says of its session ``title_in`` reads."""
    number, conversation, session, position, place, time, role, body, cuts, tool, superseded, facts, _, _ = found
    message, is_damaged = _read(connection, body, cuts)
    return Row(
        id=number,
        conversation=conversation,
        session=session,
        position=position,
        place=place or position,
        time=from_microseconds(time),
        role=role,
        message=message,
        tool=tool or "",
        superseded=bool(superseded),
        damaged=is_damaged,
        facts=facts,
    )


def title_in(found: Sequence[Any]) -> str | None:
    """The title of a row's session: its own, else the one that it was recorded under. SQLite's JSON would make no text of odd bytes."""
    *_, title, about = found
    recorded = (object_in(about) or {}).get("title")
    return title or (recorded if isinstance(recorded, str) else None)


def _read(connection: sqlite3.Connection, body: object, cuts: str | None) -> tuple[Message | None, bool]:
    """The message, None where there is none; and whether that is for damage."""
    if body is None:
        return None, False
    try:
        return message_in(connection, body, cuts), False
    except Unreadable:
        return None, True
