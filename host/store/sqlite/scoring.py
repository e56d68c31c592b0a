"""Scores by the index of the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from heapq import nlargest
from statistics import fmean
from typing import Any

from host.store.searching.ranking import BEST, Scored, Terms, score
from host.store.searching.scoring import weights_of
from host.store.sqlite.connection import Connection
from host.store.sqlite.index import asking
from host.store.sqlite.scope import Scope

AT_ONCE = 5_000  # rows whose filters are looked at in one SELECT
SCOPED = """
SELECT m.id, m.conversation, m.position, length(m.body)
FROM json_each(:ids) j
CROSS JOIN messages m ON m.id = j.value
WHERE m.body IS NOT NULL
"""


def best_of_index(connection: Connection, terms: Terms, scope: Scope, upto: int, total: int) -> list[Scored]:
    """The best rows up to an id. Each SELECT stands for itself, so that whoever else uses the connection gets in between."""

    def ask(sql: str, values: Sequence[Any]) -> list[Any]:
        with connection.snapshot() as reader, asking(reader):
            return reader.execute(sql, values).fetchall()

    weights = weights_of(ask, terms, scope.low, min(upto, scope.high), total)
    ids = list(weights) if scope.conditions else nlargest(BEST, weights, key=weights.__getitem__)  # filters may take most of them away
    found = list(_scoped(connection, scope, ids))
    mean = fmean(length for *_, length in found) if found else 1.0
    scored = [Scored(row, conversation, position, score(weights[row], length, mean)) for row, conversation, position, length in found]
    return nlargest(BEST, scored, key=lambda one: one.score)


def _scoped(connection: Connection, scope: Scope, ids: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Id, conversation, position and size of those rows that meet the filters."""
    for start in range(0, len(ids), AT_ONCE):
        yield from connection.rows(SCOPED + scope.clause, {**scope.values, "ids": json.dumps(ids[start : start + AT_ONCE])})
