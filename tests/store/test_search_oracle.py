"""The search against a plain scan, over the repository's own conversations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from host.store.query import Mode, Query
from host.store.sqlite.store import SqliteStore
from tests.store.search_oracle import KINDS, Text, archive, conversations, difference, patterns

ROOT = Path(__file__).parents[2]
OWN = [ROOT / "examples", ROOT / "host" / "demo", *(ROOT / "tests" / "given").glob("*/conversations")]
PATTERNS = 300


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SqliteStore, list[Text]]]:
    store = SqliteStore(tmp_path_factory.mktemp("oracle") / "archive.db", durability="normal")
    texts = archive(store, conversations(OWN))
    store.search.catch_up()
    yield store, texts
    store.close()


def test_there_is_enough_to_look_through(own: tuple[SqliteStore, list[Text]]) -> None:
    wanted = patterns(own[1], PATTERNS)
    assert len(own[1]) > 700
    assert len(wanted) == PATTERNS
    assert {pattern.kind for pattern in wanted} == {*KINDS}


@pytest.mark.parametrize("part", range(10))
def test_every_answer_is_a_plain_scans_answer(own: tuple[SqliteStore, list[Text]], part: int) -> None:
    store, texts = own
    wrong = [difference(store.search, texts, pattern) for pattern in patterns(texts, PATTERNS)[part::10]]
    assert [fault for fault in wrong if fault] == []


def test_the_index_is_really_asked(own: tuple[SqliteStore, list[Text]]) -> None:
    asked = ((".com", Mode.LITERAL), ("文件", Mode.LITERAL), ("a[bcd]ort", Mode.REGEX))
    plans = [own[0].search.find(Query(text, mode=mode)).plan for text, mode in asked]
    assert [plan[0].split(" for ")[0] for plan in plans] == ["ask search_trigrams", "ask search_dense", "ask search_trigrams"]
