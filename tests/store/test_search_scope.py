"""Between which ids a search looks: what lies elsewhere is not walked through, and nothing of its own is missed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.store.query import Query
from host.store.sqlite.scope import Scope, Span, joined, scope_of
from host.store.sqlite.store import SqliteStore

spans_of = st.lists(st.tuples(st.integers(1, 500), st.integers(0, 40)).map(lambda pair: Span(pair[0], pair[0] + pair[1])), max_size=30)


@given(spans_of, st.integers(1, 6))
def test_joined_spans_are_few_newest_first_apart_and_hold_every_id(spans: list[Span], most: int) -> None:
    found = joined(spans, most)
    assert len(found) <= most
    assert all(upper.low > lower.high for upper, lower in pairwise(found))
    held = {number for span in found for number in range(span.low, span.high + 1)}
    assert {number for span in spans for number in range(span.low, span.high + 1)} <= held


@given(spans_of, st.integers(1, 600), st.integers(1, 50))
def test_the_next_spans_from_one_id_down_cover_every_id_once(spans: list[Span], below: int, length: int) -> None:
    scope, at = Scope(spans=joined(spans, 30)), below
    walked: list[int] = []
    while (ids := scope.next_span(at, length)) is not None:
        assert ids.high - ids.low < length
        walked += range(ids.high, ids.low - 1, -1)
        at = ids.low
    assert walked == sorted({number for span in spans for number in range(span.low, span.high + 1) if number < below}, reverse=True)


def test_a_small_project_in_a_large_archive_is_looked_through_alone(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "archive.db", durability="normal")
    for number in range(6):
        kept = store.sessions.create(about={"working_directory": f"/srv/{number % 2}"})
        store.archive(kept.conversation).extend([{"role": "user", "content": f"the error {number} {at}"} for at in range(50)])
    scope = scope_of(store.connection, Query("error", directories=("/srv/1",)))
    assert [span.high - span.low + 1 for span in scope.spans] == [50, 50, 50]
    assert scope_of(store.connection, Query("error")).spans == (Span(),)
    store.close()


@pytest.mark.parametrize("is_indexed", [False, True])
def test_a_project_whose_sessions_are_told_in_turns_with_others_is_found_whole(tmp_path: Path, is_indexed: bool) -> None:
    store = SqliteStore(tmp_path / "archive.db", durability="normal")
    kept = [store.sessions.create(about={"working_directory": f"/srv/{number}"}) for number in range(3)]
    for at in range(60):
        of = kept[at % 3]
        store.archive(of.conversation).append({"role": "user", "content": f"the error {at}"})
    if is_indexed:
        store.search.catch_up()
    page = store.search.find(Query("error", directories=("/srv/1", "/srv/2"), limit=100))
    assert len(page.hits) == 40 and page.complete and page.scanned == "scanned all 40 messages"
    store.close()
