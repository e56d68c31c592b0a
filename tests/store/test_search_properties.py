"""Whatever is kept and whatever is typed: a search answers, the same in the file as in memory, and as a plain scan says."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from host.store.memory_search import MemorySearch
from host.store.query import Mode, Page, Query
from host.store.searching.folding import fold
from host.store.sqlite.store import SqliteStore

LETTERS = st.sampled_from(
    [
        *"aAbisSkKß .,-_|\"'()*%\\\n\x00",
        "ﬁ",
        "İ",
        "ı",
        "\u0301",
        "é",
        "数",
        "据",
        "の",
        "🚀",
        "\u200d",
        "\ufe0f",
        "\ud800",
        "\uffff",
        "OR",
        "NEAR",
        "가",
    ]
)
TEXT = st.lists(LETTERS, max_size=12).map("".join)
TEXTS = st.lists(TEXT, min_size=1, max_size=6)
QUERY = TEXT | st.text(max_size=6)


@contextmanager
def kept(texts: list[str], indexed: int) -> Iterator[tuple[SqliteStore, MemorySearch]]:
    """The texts in a store, the first of them indexed."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "archive.db", durability="normal")
        archive = store.archive(store.sessions.create().conversation)
        archive.extend([{"role": "user", "content": text} for text in texts[:indexed]])
        store.search.catch_up()
        archive.extend([{"role": "user", "content": text} for text in texts[indexed:]])
        yield store, MemorySearch(lambda: reversed(list(archive.rows())))
        store.close()


def shown(page: Page) -> tuple[object, ...]:
    """What has to be the same everywhere."""
    found = [(hit.position, hit.excerpt, hit.spans) for hit in page.hits]
    return (found if page.mode is not Mode.RANKED else sorted(found), page.mode, page.tried, page.complete, page.scanned)


@settings(max_examples=60)
@given(TEXTS, st.integers(0, 6), st.lists(QUERY, min_size=1, max_size=8))
def test_the_file_answers_as_memory_does(texts: list[str], indexed: int, queries: list[str]) -> None:
    with kept(texts, indexed) as (store, memory):
        for text in queries:
            for mode in (Mode.AUTO, Mode.LITERAL, Mode.WORDS, Mode.RANKED):
                query = Query(text, mode=mode)
                assert shown(store.search.find(query)) == shown(memory.find(query))


@settings(max_examples=60)
@given(TEXTS, st.integers(0, 6), st.data())
def test_any_stretch_of_a_text_is_found(texts: list[str], indexed: int, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text)))
    wanted = text[start : start + data.draw(st.integers(1, 6))]
    with kept(texts, indexed) as (store, _):
        found = [hit.position for hit in store.search.find(Query(wanted, mode=Mode.LITERAL)).hits]
    right = [position for position, other in enumerate(texts, 1) if wanted.strip() and fold(wanted) in fold(other)]
    assert found == right[::-1]
