"""Where a query looks: its filters as conditions on the table ``messages m``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from host.store.kept import printable
from host.store.query import Query
from host.store.sqlite.connection import Connection
from host.store.sqlite.rows import SESSION_OF
from host.store.times import to_microseconds
from host.store.values import FIRST_ID

FEW = 50_000  # rows of some conversations of which it is worth looking up between which ids they lie
MOST_SPANS = 32  # of ids that are looked through one by one: nearer ones are looked through as one

IN_DIRECTORIES = """
SELECT d.conversation
FROM sessions d
WHERE json_valid(d.about) AND json_extract(d.about, '$.working_directory') IN (SELECT value FROM json_each(:directories))
"""
"""Conversations with a session that was recorded in one of these working directories."""

OF_DIRECTORIES = f"{{0}} IN ({IN_DIRECTORIES})"
OF_CONVERSATION = "{0} = :conversation"


@dataclass(frozen=True)
class Span:
    """Ids from ``low`` to ``high``, both included."""

    low: int = 0
    high: int = (1 << 62) - 1


@dataclass(frozen=True)
class Scope:
    """Conditions with their values, and the spans of ids in which all rows lie that meet them, newest first."""

    conditions: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)
    conversation: int | None = None  # 0: there is none of this name
    spans: tuple[Span, ...] = (Span(),)

    @property
    def low(self) -> int:
        """The lowest id that may meet them."""
        return min((span.low for span in self.spans), default=0)

    @property
    def high(self) -> int:
        """The highest."""
        return max((span.high for span in self.spans), default=0)

    def next_span(self, below: int, length: int) -> Span | None:
        """The next ids below one, no more than so many; None where there are none."""
        span = next((span for span in self.spans if span.low < below), None)
        if span is None:
            return None
        high = min(span.high, below - 1)
        return Span(max(span.low, high - length + 1), high)

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
    number: int | None = None
    if query.conversation is not None:
        number = connection.value("SELECT id FROM conversations WHERE name = ?", (_value(query.conversation),)) or 0
        conditions.insert(0, OF_CONVERSATION.format("+m.conversation"))
        values["conversation"] = number
    scope = Scope(tuple(conditions), values, number)
    return replace(scope, spans=_spans(connection, scope)) if scope.of_conversations else scope


def _value(value: object) -> object:
    """A filter as the columns hold it."""
    if isinstance(value, tuple):
        return json.dumps(value)
    return printable(value) if isinstance(value, str) else to_microseconds(value)  # type: ignore[arg-type]


def _spans(connection: Connection, scope: Scope) -> tuple[Span, ...]:
    """Between which ids the rows of a scope's conversations lie; of many rows nobody asks, they would be read whole for that."""
    within = f"c.id IN (SELECT c.id FROM conversations c WHERE {scope.of_conversations.format('c.id')})"
    last = "(SELECT max(position) FROM messages m WHERE m.conversation = c.id)"
    if (connection.value(f"SELECT sum({last}) FROM conversations c WHERE {within}", scope.values) or 0) > FEW:
        return Scope.spans
    asked = f"""
        SELECT min(m.id), max(m.id)
        FROM conversations c
        CROSS JOIN messages m ON m.conversation = c.id
        WHERE {within}
        GROUP BY c.id, m.id > {FIRST_ID}
        ORDER BY 1 DESC
        """
    return joined([Span(low, high) for low, high in connection.rows(asked, scope.values)])


def joined(spans: Sequence[Span], most: int = MOST_SPANS) -> tuple[Span, ...]:
    """The spans, newest first, with those joined that overlap, and then the nearest until they are few enough."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: span.high, reverse=True):
        if found and span.high >= found[-1].low - 1:
            found[-1] = Span(min(span.low, found[-1].low), found[-1].high)
        else:
            found.append(span)
    gaps = sorted(upper.low - lower.high for upper, lower in pairwise(found))
    if len(found) <= most:
        return tuple(found)
    near, few = gaps[len(found) - most - 1], [found[0]]
    for span in found[1:]:
        if few[-1].low - span.high <= near:
            few[-1] = Span(span.low, few[-1].high)
        else:
            few.append(span)
    return tuple(few)
