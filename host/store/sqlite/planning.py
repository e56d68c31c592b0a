"""How the index is asked: what a match must hold becomes conditions that let a superset through, quickly."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from host.store.searching.indexed import DENSE, PLACEHOLDER, TRIGRAM_TERMS, TRIGRAMS, indexable, quoted, sparse
from host.store.searching.needs import AnyOf, Holds, Need
from host.store.searching.ranking import DENSE_RUN

STEP = 3  # every third trigram and the last sift as well as all of them, in half the time (search-and-speed 3.4)
MOST_TOKENS = 24  # of one text
MOST_PARTS = 96  # of one need; FTS5 takes 256
MOST_BEGINNINGS = 600  # trigrams that begin with one or two characters: with more of them these are everywhere, and a scan is quicker
LAST = "\U0010ffff"
PADDING = "\n"
DENSE_ONLY = PLACEHOLDER * STEP  # a trigram that says nothing


@dataclass(frozen=True)
class Sieve:
    """A table and what its rows must match; the dense table may narrow the trigrams."""

    table: str
    match: str
    narrowed_by: str | None = None

    def __str__(self) -> str:
        return f"{self.table} for {self.match}" + (f", narrowed by {DENSE} for {self.narrowed_by}" if self.narrowed_by else "")


TokensOf = Callable[[str], str | None]
"""What a table knows of a text, None where it knows nothing."""


def sieves_of(connection: sqlite3.Connection, need: Need | None) -> tuple[Sieve, ...]:
    """The quickest way to the candidates, which are in one of the sieves; none where only a scan is complete."""
    if need is None:
        return ()
    trigrams, dense = _expression(need, _trigrams), _expression(need, _dense)
    if trigrams is not None:
        return (Sieve(TRIGRAMS, trigrams, dense),)
    if dense is not None:
        return (Sieve(DENSE, dense),)
    if isinstance(need, AnyOf) and all(each := [sieves_of(connection, part) for part in need.parts[:MOST_PARTS]]):
        return _merged(sieve for sieves in each for sieve in sieves) if len(need.parts) <= MOST_PARTS else ()
    beginnings = _expression(need, lambda text: _trigrams(text) or _beginnings(connection, text))
    return () if beginnings is None else (Sieve(TRIGRAMS, beginnings),)


def is_short(need: Need | None) -> bool:
    """Whether nothing is known but one or two characters that are not dense."""
    return need is not None and _expression(need, lambda text: _trigrams(text) or _dense(text)) is None


def _merged(sieves: Iterable[Sieve]) -> tuple[Sieve, ...]:
    """One sieve for each table, that lets through what any of them does."""
    matches: dict[str, list[str]] = {}
    for sieve in sieves:
        matches.setdefault(sieve.table, []).append(sieve.match)
    return tuple(Sieve(table, _joined(" OR ", expressions)) for table, expressions in matches.items())


def _expression(need: Need, tokens_of: TokensOf) -> str | None:
    """The need in the tokens of one table, None where nothing is certain."""
    if isinstance(need, Holds):
        return tokens_of(need.text)
    known = [_expression(part, tokens_of) for part in need.parts[:MOST_PARTS]]
    certain = [expression for expression in known if expression is not None]
    if isinstance(need, AnyOf):
        return _joined(" OR ", certain) if len(certain) == len(need.parts) else None
    return _joined(" AND ", sorted(certain, key=len, reverse=True)[:MOST_TOKENS]) if certain else None


def _joined(operator: str, expressions: Iterable[str]) -> str:
    parts = list(dict.fromkeys(expressions))
    return parts[0] if len(parts) == 1 else operator.join(f"({part})" for part in parts)


def _trigrams(text: str) -> str | None:
    """Some of the text's trigrams, all of which a text that holds it has."""
    safe = sparse(indexable(text))
    trigrams = [trigram for trigram in _spread(safe, STEP, STEP) if trigram != DENSE_ONLY]
    return " AND ".join(map(quoted, trigrams)) or None


def _dense(text: str) -> str | None:
    """The pairs of the text's dense runs, or the only character."""
    tokens = [token for run in DENSE_RUN.findall(indexable(text)) for token in (_spread(run, 2, 2) or [run])]
    return " AND ".join(map(quoted, dict.fromkeys(tokens[:MOST_TOKENS]))) or None


def _spread(text: str, width: int, step: int) -> list[str]:
    """Pieces of a text, evenly over its length, the first and the last among them."""
    if len(text) < width:
        return []
    last = len(text) - width
    starts = [*range(0, last, step), last]
    chosen = starts if len(starts) <= MOST_TOKENS else [*starts[:: -(-len(starts) // MOST_TOKENS)], last]
    return list(dict.fromkeys(text[at : at + width] for at in chosen))


def _beginnings(connection: sqlite3.Connection, text: str) -> str | None:
    """Any of the trigrams that begin with one or two characters: one of them is wherever these are, even at the end of a text."""
    safe = sparse(indexable(text))
    if not safe or len(safe) >= STEP:
        return None
    found = connection.execute(
        f"SELECT term FROM {TRIGRAM_TERMS} WHERE term >= ? AND term <= ? LIMIT ?", (safe, safe + 2 * LAST, MOST_BEGINNINGS + 1)
    ).fetchall()
    if len(found) > MOST_BEGINNINGS:
        return None
    return " OR ".join(quoted(term) for (term,) in found) or quoted(safe.ljust(STEP, PADDING))
