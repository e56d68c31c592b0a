"""Scores of messages by the words of a question, with the effort bounded: nobody needs the exact order of a million."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from heapq import nlargest
from statistics import fmean

from host.store.searching.ranking import BEST, Scored, Terms, rarity, score
from host.store.sqlite.entries import DENSE, TABLES, WORDS, entries, indexable, quoted
from host.store.sqlite.scope import Scope

RARE = 10_000  # messages with a term, up to which all of them are looked at
NEWEST = 4_000  # messages with a commoner term that are looked at
EFFORT = 60_000  # messages of all terms together, the rarest first; of those after, the newest
SCOPED = """
SELECT m.id, m.conversation, m.position, length(m.body)
FROM json_each(:ids) j
CROSS JOIN messages m ON m.id = j.value
WHERE m.body IS NOT NULL
"""


def best_of_index(connection: sqlite3.Connection, terms: Terms, scope: Scope, upto: int, total: int) -> list[Scored]:
    """The best rows up to an id."""
    weights = _weights(connection, terms, scope.low, min(upto, scope.high), total)
    ids = list(weights) if scope.conditions else nlargest(BEST, weights, key=weights.__getitem__)  # filters may take most of them away
    found = connection.execute(SCOPED + scope.clause, {**scope.values, "ids": json.dumps(ids)}).fetchall()
    mean = fmean(length for *_, length in found) if found else 1.0
    scored = [Scored(row, conversation, position, score(weights[row], length, mean)) for row, conversation, position, length in found]
    return nlargest(BEST, scored, key=lambda one: one.score)


def best_of_texts(texts: Iterable[tuple[int, str]], terms: Terms) -> list[tuple[int, float]]:
    """Id and score of the best texts, by tables made for it: for stores without an index."""
    connection = sqlite3.connect(":memory:")
    try:
        for table in (WORDS, DENSE):
            connection.execute(f"CREATE VIRTUAL TABLE {table} USING {TABLES[table]}")
        lengths: dict[int, int] = {}
        for row, text in sorted(texts):
            lengths[row] = len(text.encode("utf-8", "replace")) + 1
            for table, entry in entries(text):
                if table in (WORDS, DENSE):
                    connection.execute(f"INSERT INTO {table}(rowid, text) VALUES (?, ?)", (row, entry))
        weights = _weights(connection, terms, 0, max(lengths, default=0), len(lengths))
    finally:
        connection.close()
    mean = fmean(lengths[row] for row in weights) if weights else 1.0
    scored = [(row, score(weight, lengths[row], mean)) for row, weight in weights.items()]
    return nlargest(BEST, scored, key=lambda pair: pair[1])


def _weights(connection: sqlite3.Connection, terms: Terms, low: int, high: int, total: int) -> dict[int, float]:
    """The rows that hold one of the terms, and what the terms in each weigh together."""
    asked = [(WORDS, word) for word in terms.words] + [(DENSE, pair) for pair in terms.pairs]
    counted = sorted((_count(connection, table, term), table, term) for table, term in asked)
    weights: defaultdict[int, float] = defaultdict(float)
    effort = 0
    for count, table, term in counted:
        most = count if count < RARE and effort + count <= EFFORT else NEWEST
        rows = _rows(connection, table, term, low, high, most)
        effort += len(rows)
        weight = rarity(count if count < RARE else _estimate(rows, count, total), total)
        for row in rows:
            weights[row] += weight
    return dict(weights)


def _count(connection: sqlite3.Connection, table: str, term: str) -> int:
    """How many messages hold a term, counted no further than needed."""
    asked = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    count: int = connection.execute(asked, (quoted(indexable(term)), RARE)).fetchone()[0]
    return count


def _rows(connection: sqlite3.Connection, table: str, term: str, low: int, high: int, most: int) -> list[int]:
    """The newest rows that hold a term."""
    asked = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"
    return [row for (row,) in connection.execute(asked, (quoted(indexable(term)), low, high, most))]


def _estimate(rows: list[int], least: int, total: int) -> int:
    """How many of all messages hold a term, by how dense its newest ones lie."""
    reach = rows[0] - rows[-1] + 1 if rows else 1
    return max(least, min(total, total * len(rows) // reach))
