"""What the search index holds of a message: three contentless FTS5 tables, each with its own spelling of the text.

Trigrams find any text of three characters and more, single characters and pairs find CJK and symbols, words rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from operator import add

from host.store.searching.folding import fold
from host.store.searching.ranking import DENSE_RUN, word_text

END = "\n\n"  # after each text: so one or two characters at its end begin a trigram too
UNINDEXABLE = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")
PLACEHOLDER = "\ufffd"

TRIGRAMS, DENSE, WORDS, TRIGRAM_TERMS = "search_trigrams", "search_dense", "search_words", "search_trigram_terms"
TABLES = {
    TRIGRAMS: "fts5(text, content='', tokenize='trigram case_sensitive 1', detail=none, columnsize=0)",
    DENSE: "fts5(text, content='', tokenize='ascii', detail=none, columnsize=0)",
    WORDS: "fts5(text, content='', tokenize=\"porter ascii tokenchars '_'\", detail=none)",
    TRIGRAM_TERMS: f"fts5vocab({TRIGRAMS}, row)",
}
INDEXES = (TRIGRAMS, DENSE, WORDS)


def entries(text: str) -> Iterator[tuple[str, str]]:
    """What each index table holds of a searchable text; where there is nothing to hold there is no entry."""
    folded = indexable(fold(text))
    yield TRIGRAMS, sparse(folded) + END
    yield WORDS, word_text(folded)
    if not folded.isascii() and (tokens := dense_tokens(folded)):
        yield DENSE, " ".join(tokens)


def sparse(folded: str) -> str:
    """The text with its dense characters as placeholders, for the trigrams: these are found by the dense table.

    A run of more than three has the same trigrams as three.
    """
    return folded if folded.isascii() else DENSE_RUN.sub(lambda run: PLACEHOLDER * min(len(run.group()), 3), folded)


def dense_tokens(folded: str) -> list[str]:
    """Each character of the dense runs, and each with its next, once."""
    return list(dict.fromkeys(token for run in DENSE_RUN.findall(folded) for token in chain(run, map(add, run, run[1:]))))


def indexable(folded: str) -> str:
    """The text with what SQLite cannot hold replaced, character by character."""
    return UNINDEXABLE.sub(PLACEHOLDER, folded)


def quoted(term: str) -> str:
    """A term as an FTS5 string."""
    return '"' + term.replace('"', '""') + '"'
