"""The index: what it lags behind, what it loses, and how it is made anew. None of it may cost a hit."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from host.errors import StoreUnavailable
from host.messages.types import Message
from host.store.query import Mode, Page, Query
from host.store.searching.indexed import INDEXES
from host.store.searching.needs import Holds
from host.store.sqlite import connection as connections
from host.store.sqlite.index import KEY, SearchIndex
from host.store.sqlite.searching import BROKEN, BUILDING, SqliteSearch, SqliteSource
from host.store.sqlite.store import SqliteStore

WORDS = ["alpha", "beta", "数据库", "🚀 up", "src/main.py", "gamma"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "archive.db", durability="normal")
    yield opened
    opened.close()


def fill(store: SqliteStore, *texts: str) -> str:
    conversation = store.sessions.create().conversation
    store.archive(conversation).extend([user(text) for text in texts])
    return conversation


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def execute(store: SqliteStore, *statements: str) -> None:
    with store.connection.writing() as connection:
        for statement in statements:
            connection.execute(statement)


def positions(page: Page) -> list[int]:
    return [hit.position for hit in page.hits]


def find(store: SqliteStore, text: str, mode: Mode = Mode.AUTO) -> Page:
    return store.search.find(Query(text, mode=mode))


# Lagging behind


def test_what_is_not_indexed_yet_is_found_at_once_in_its_order(store: SqliteStore) -> None:
    conversation = fill(store, "word 1", "no", "word 3")
    store.search.catch_up()
    store.archive(conversation).extend([user("word 4"), user("no"), user("word 6")])
    assert store.search.index.waiting() == 3
    page = find(store, "word")
    assert positions(page) == [6, 4, 3, 1]
    assert page.plan
    assert store.search.index.waiting() == 3


def test_rows_below_those_that_are_indexed_are_found(store: SqliteStore) -> None:
    """An import puts older history below what is there."""
    fill(store, "word 1", "word 2")
    store.search.catch_up()
    execute(
        store,
        """
        INSERT INTO messages (id, conversation, position, time, role, body, digest)
        VALUES (77, 1, 3, 0, 'user', CAST('{"role":"user","content":"imported word"}' AS BLOB), x'00')
        """,
    )
    assert positions(find(store, "word")) == [2, 1, 3]
    assert store.search.catch_up() == 0
    assert positions(find(store, "word")) == [2, 1, 3]
    assert positions(find(store, "imported")) == [3]


def test_an_id_that_is_used_again_is_indexed_again(store: SqliteStore) -> None:
    conversation = fill(store, "first", "second")
    store.search.catch_up()
    with store.connection.writing() as connection:
        last = connection.execute("SELECT max(id) FROM messages").fetchone()[0]
        store.search.index.unindex(connection, last, "second")
        connection.execute("DELETE FROM messages WHERE id = ?", (last,))
    store.archive(conversation).append(user("third"))
    assert store.connection.value("SELECT max(id) FROM messages") == last
    assert [positions(find(store, word)) for word in ("second", "third")] == [[], [2]]
    store.search.catch_up()
    assert [positions(find(store, word)) for word in ("second", "third")] == [[], [2]]
    assert store.search.index.check() == []


def test_catching_up_stops_when_its_time_is_over_and_goes_on(store: SqliteStore) -> None:
    fill(store, *(f"word {number}" for number in range(1_200)))
    assert store.search.catch_up(seconds=0) == 1_200
    left = store.search.catch_up(seconds=0.0001)
    assert left <= 1_200
    assert store.search.catch_up() == 0
    assert len(store.search.find(Query("word", limit=2_000)).hits) == 1_200
    assert store.search.catch_up() == 0


def test_two_processes_may_catch_up_at_once(store: SqliteStore, tmp_path: Path) -> None:
    fill(store, *(f"word {number}" for number in range(2_000)))
    with closing(SqliteStore(tmp_path / "archive.db")) as other:
        workers = [threading.Thread(target=search.catch_up) for search in (store.search, other.search)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert store.search.index.waiting() == 0
    assert store.search.index.check() == []
    assert positions(find(store, "1999")) == [2_000]


def test_a_search_while_another_indexes_misses_and_doubles_nothing(store: SqliteStore, tmp_path: Path) -> None:
    fill(store, *(f"word {number}" for number in range(3_000)))
    with closing(SqliteStore(tmp_path / "archive.db")) as other:
        worker = threading.Thread(target=other.search.catch_up)
        worker.start()
        pages = [positions(store.search.find(Query("word", limit=5_000))) for _ in range(4)]
        worker.join()
    assert all(page == list(range(3_000, 0, -1)) for page in pages)


def test_an_index_that_is_made_anew_in_the_middle_of_a_search_costs_no_hit(store: SqliteStore, tmp_path: Path) -> None:
    fill(store, *(f"word {number}" for number in range(200)))
    store.search.catch_up()
    source = SqliteSource(store.connection, store.search.index, Query("word"))
    candidates = source.candidates(Holds("word"), 1 << 62)
    first = [next(candidates)[0] for _ in range(40)]
    with closing(SqliteStore(tmp_path / "archive.db")) as other:
        with other.connection.writing() as connection:
            connection.execute("DELETE FROM store WHERE key = ?", (KEY,))
        other.search.index.catch_up(0.001)
        rest = [row for row, _ in candidates]
    ids = [row for (row,) in store.connection.rows("SELECT id FROM messages ORDER BY id DESC")]
    assert first + rest == ids


def test_facts_are_filled_on_the_way(store: SqliteStore) -> None:
    fill(store, "port 8443", "nothing")
    search = SqliteSearch(store.connection, lambda message: "8443" if "8443" in str(message["content"]) else None)
    assert search.catch_up() == 0
    assert store.connection.rows("SELECT facts FROM messages ORDER BY id") == [("8443",), ("",)]


# Losing it


DAMAGE = {
    "dropped": [f"DROP TABLE {table}" for table in INDEXES],
    "one dropped": ["DROP TABLE search_trigrams"],
    "emptied": [f"DELETE FROM {table}_data" for table in INDEXES],
    "emptied but for the structure": [f"DELETE FROM {table}_data WHERE id > 10" for table in INDEXES],
    "zeroed": [f"UPDATE {table}_data SET block = zeroblob(length(block))" for table in INDEXES],
    "zeroed but for the structure": [f"UPDATE {table}_data SET block = zeroblob(length(block)) WHERE id > 10" for table in INDEXES],
    "shadow table dropped": [f"DROP TABLE {table}_data" for table in INDEXES],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_costs_no_hit_and_is_told_of(tmp_path: Path, damage: str) -> None:
    store = SqliteStore(tmp_path / "archive.db", durability="normal")
    fill(store, *WORDS)
    store.search.catch_up()
    before = store.connection.rows("SELECT id, body FROM messages ORDER BY id")
    store.close()
    with closing(sqlite3.connect(tmp_path / "archive.db")) as by_hand:
        for statement in DAMAGE[damage]:
            by_hand.execute(statement)
        by_hand.commit()
    store = SqliteStore(tmp_path / "archive.db", durability="normal")
    for position, word in enumerate(WORDS, 1):
        for mode in (Mode.LITERAL, Mode.REGEX):
            page = find(store, word, mode)
            assert (positions(page), page.notices) == ([position], (BROKEN,))
    assert positions(find(store, "beta", Mode.RANKED)) == [2]
    assert store.search.index.check()
    store.search.catch_up()
    assert store.search.index.rebuild() == 0
    assert store.search.index.check() == []
    for position, word in enumerate(WORDS, 1):
        page = find(store, word)
        assert (positions(page), page.notices) == ([position], ())
    assert store.connection.rows("SELECT id, body FROM messages ORDER BY id") == before
    store.close()


def test_a_locked_file_is_an_error_and_not_an_empty_answer(store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, "word")
    store.search.catch_up()
    store.close()
    with closing(sqlite3.connect(tmp_path / "archive.db")) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        monkeypatch.setattr(connections, "BUSY_SECONDS", 0.1)
        opened = SqliteStore(tmp_path / "archive.db")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable, match="locked"):
            find(opened, "word")
        other.execute("ROLLBACK")
        assert positions(find(opened, "word")) == [1]
        opened.close()


def test_a_writer_does_not_hold_up_a_search(store: SqliteStore, tmp_path: Path) -> None:
    fill(store, *(f"word {number}" for number in range(300)))
    with closing(sqlite3.connect(tmp_path / "archive.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        page = store.search.find(Query("word", limit=500))
        other.execute("ROLLBACK")
    assert len(page.hits) == 300
    assert page.notices == (BUILDING,)


def test_an_index_of_a_later_version_is_left_alone(store: SqliteStore) -> None:
    fill(store, "word")
    store.search.catch_up()
    execute(store, f"UPDATE store SET value = '99' WHERE key = '{KEY}'")
    fill(store, "word too")
    assert SearchIndex(store.connection).catch_up() == 1
    assert (positions(find(store, "word")), find(store, "word").notices) == ([1, 1], (BUILDING,))


def test_an_older_index_is_made_anew_by_catching_up(store: SqliteStore) -> None:
    fill(store, "word")
    store.search.catch_up()
    execute(store, f"UPDATE store SET value = '0' WHERE key = '{KEY}'")
    assert store.search.catch_up() == 0
    assert store.search.index.check() == []
    assert positions(find(store, "word")) == [1]


# Taking out


@pytest.mark.parametrize("text", ["plain", "数据库 mixed ß", "\x00\ud800", "", "🚀" * 9])
def test_what_is_taken_out_leaves_nothing_behind(store: SqliteStore, text: str) -> None:
    fill(store, "kept", text)
    store.search.catch_up()
    with store.connection.writing() as connection:
        last = connection.execute("SELECT max(id) FROM messages").fetchone()[0]
        store.search.index.unindex(connection, last, text)
        connection.execute("UPDATE messages SET body = NULL WHERE id = ?", (last,))
    store.search.index.optimize()
    assert store.search.index.check() == []
    terms = "SELECT term FROM search_trigram_terms"
    assert store.connection.rows(terms) == [(term,) for term in ("ept", "kep", "pt\n", "t\n\n")]
    assert store.connection.rows("SELECT id FROM search_words_docsize") == [(last - 1,)]


def test_a_row_that_is_not_indexed_yet_is_not_taken_out(store: SqliteStore) -> None:
    fill(store, "kept")
    store.search.catch_up()
    fill(store, "new")
    with store.connection.writing() as connection:
        store.search.index.unindex(connection, connection.execute("SELECT max(id) FROM messages").fetchone()[0], "new")
    assert store.search.catch_up() == 0
    assert store.search.index.check() == []


def test_a_check_names_rows_that_are_no_messages_and_messages_that_are_not_there(store: SqliteStore) -> None:
    fill(store, "one", "two")
    store.search.catch_up()
    execute(store, "DELETE FROM messages WHERE position = 1")
    assert store.search.index.check() == ["the index still holds 1 rows that are no messages any more"]
    fill(store, "three")
    execute(store, "UPDATE messages SET facts = '' WHERE facts IS NULL")
    assert "1 messages count as indexed and are not" in store.search.index.check()
