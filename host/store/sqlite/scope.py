"""Where a query looks: its filters as conditions on the table ``messages m``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from host.store.kept import printable
from host.store.query import Query
from host.store.sqlite.connection import Connection
from host.store.sqlite.rows import SESSION_OF
from host.store.times import to_microseconds

FEW = 20_000  # rows of a conversation of which the first and last id are worth looking up

IN_DIRECTORIES = """
SELECT d.conversation
FROM sessions d
WHERE json_valid(d.about) AND json_extract(d.about, '$.working_directory') IN (SELECT value FROM json_each(:directories))
"""
"""Conversations with a session that was recorded in one of these working directories."""

OF_DIRECTORIES = f"{{0}} IN ({IN_DIRECTORIES})"
OF_CONVERSATION = "{0} = :conversation"


@dataclass(frozen=True)
class Scope:
    """Conditions with their values, and the ids between which all rows lie that meet them."""

    conditions: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)
    conversation: int | None = None  # 0: there is none of this name
    low: int = 0
    high: int = (1 << 62) - 1

    @property
    def clause(self) -> str:
        """To be put behind other conditions. The plus keeps SQLite from walking an index instead of the ids."""
        return "".join(f" AND {condition}" for condition in self.conditions)

    @property
    def of_conversations(self) -> str:
        """Which conversations it lies in, as a condition on the column in the place of ``{0}``; empty for all."""
        held = {OF_CONVERSATION: self.conversation is not None, OF_DIRECTORIES: "directories" in self.values}
        return " AND ".join(condition for condition, is_asked in held.items() if is_asked)


def scope_of(connection: Connection, query: Query) -> Scope:
    """The filters of a query."""
    asked: dict[str, tuple[str, Any]] = {
        "sessions": (f"{SESSION_OF} IN (SELECT s.id FROM sessions s JOIN json_each(:sessions) j ON s.name = j.value)", query.sessions),
        "directories": (OF_DIRECTORIES.format("+m.conversation"), query.directories),
        "role": ("lower(m.role) = lower(:role)", query.role),
        "tool": ("instr(char(10) || lower(m.tool) || char(10), char(10) || lower(:tool) || char(10)) > 0", query.tool),
        "since": ("m.time >= :since", query.since),
        "before": ("m.time < :before", query.before),
    }
    given = {name: (condition, value) for name, (condition, value) in asked.items() if value not in (None, (), "")}
    conditions = [condition for condition, _ in given.values()]
    values = {name: _value(value) for name, (_, value) in given.items()}
    if query.conversation is None:
        return Scope(tuple(conditions), values)
    number = connection.value("SELECT id FROM conversations WHERE name = ?", (_value(query.conversation),)) or 0
    low, high = _ids(connection, number)
    return Scope((OF_CONVERSATION.format("+m.conversation"), *conditions), {**values, "conversation": number}, number, low, high)


def _value(value: object) -> object:
    """A filter as the columns hold it."""
    if isinstance(value, tuple):
        return json.dumps(value)
    return printable(value) if isinstance(value, str) else to_microseconds(value)  # type: ignore[arg-type]


def _ids(connection: Connection, conversation: int) -> tuple[int, int]:
    """Between which ids a conversation's rows lie; of a long one nobody asks, it would be read whole for that."""
    count = connection.value("SELECT max(position) FROM messages WHERE conversation = ?", (conversation,)) or 0
    if count > FEW:
        return Scope.low, Scope.high
    (found,) = connection.rows("SELECT min(id), max(id) FROM messages WHERE conversation = ?", (conversation,))
    return (found[0], found[1]) if found[0] is not None else (0, 0)
