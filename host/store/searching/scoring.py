"""Scores of messages by the words of a question, with the effort bounded: nobody needs the exact order of a million."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from statistics import fmean
from typing import Any

from host.store.searching.indexed import DENSE, TABLES, WORDS, entries, indexable, quoted
from host.store.searching.ranking import BEST, Terms, rarity, score

RARE = 10_000  # messages with a term, up to which all of them are looked at
NEWEST = 4_000  # messages with a commoner term that are looked at
EFFORT = 60_000  # messages of all terms together, the rarest first; of those after, the newest
Ask = Callable[[str, Sequence[Any]], list[Any]]
"""Runs one SELECT on the index tables; returns its rows."""


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
        newest = max(lengths, default=0)
        weights = weights_of(lambda sql, values: connection.execute(sql, values).fetchall(), terms, 0, newest, len(lengths))
    finally:
        connection.close()
    mean = fmean(lengths[row] for row in weights) if weights else 1.0
    scored = [(row, score(weight, lengths[row], mean)) for row, weight in weights.items()]
    return nlargest(BEST, scored, key=lambda pair: pair[1])


def weights_of(ask: Ask, terms: Terms, low: int, high: int, total: int) -> dict[int, float]:
    """The rows that hold one of the terms, and what the terms in each weigh together."""
    asked = [(WORDS, word) for word in terms.words] + [(DENSE, pair) for pair in terms.pairs]
    counted = sorted((_count(ask, table, term), table, term) for table, term in asked)
    weights: defaultdict[int, float] = defaultdict(float)
    effort = 0
    for count, table, term in counted:
        most = count if count < RARE and effort + count <= EFFORT else NEWEST
        rows = _rows(ask, table, term, low, high, most)
        effort += len(rows)
        weight = rarity(count if count < RARE else _estimate(rows, count, total), total)
        for row in rows:
            weights[row] += weight
    return dict(weights)


def _count(ask: Ask, table: str, term: str) -> int:
    """How many messages hold a term, counted no further than needed."""
    asked = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    ((count,),) = ask(asked, (quoted(indexable(term)), RARE))
    return int(count)


def _rows(ask: Ask, table: str, term: str, low: int, high: int, most: int) -> list[int]:
    """The newest rows that hold a term."""
    asked = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"
    return [row for (row,) in ask(asked, (quoted(indexable(term)), low, high, most))]


def _estimate(rows: list[int], least: int, total: int) -> int:
    """How many of all messages hold a term, by how dense its newest ones lie."""
    reach = rows[0] - rows[-1] + 1 if rows else 1
    return max(least, min(total, total * len(rows) // reach))
