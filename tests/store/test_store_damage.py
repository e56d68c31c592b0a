"""What a damaged row costs: itself, and nothing else. And large strings that are put right when they are said again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from host.messages.ledger import Entry, Ledger
from host.messages.types import Message
from host.store.kept import DAMAGED as SHOWN_DAMAGED
from host.store.query import Mode, Query
from host.store.sqlite.searching import DAMAGED
from host.store.sqlite.store import FILE, SqliteStore
from host.store.values import Publication
from tests.stores_for_tests import LARGE, change, compacted, furnished

BY_HAND: dict[str, tuple[int, str]] = {
    "no JSON": (5, """UPDATE messages SET body = CAST(replace(CAST(body AS TEXT), '"role"', '"role') AS BLOB) WHERE id = (:id)"""),
    "no UTF-8": (5, """UPDATE messages SET body = x'7B2261223A22FF227D' WHERE id = (:id)"""),
    "no object": (5, "UPDATE messages SET body = CAST('5' AS BLOB) WHERE id = (:id)"),
    "text in place of bytes": (5, "UPDATE messages SET body = CAST(body AS TEXT) WHERE id = (:id)"),
    "a large string is gone": (4, "DELETE FROM blobs"),
    "a large string ends too early": (4, "UPDATE blobs SET body = CAST('\\' AS BLOB)"),
    "cuts of something else": (4, "UPDATE messages SET cuts = '[7]' WHERE id = (:id)"),
}
"""Which position is damaged, and how."""


@pytest.fixture(params=["indexed before", "not indexed"])
def furnish(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], tuple[SqliteStore, str, int]]:
    """Opens a store of which one row was damaged while it was closed; gives its conversation and the position too."""

    def opened(damage: str) -> tuple[SqliteStore, str, int]:
        position, statement = BY_HAND[damage]
        with furnished(tmp_path) as (store, conversation):
            compacted(store, conversation)
            archive, views = store.archive(conversation), store.views(conversation)
            shown = [Entry(message, at) for at, message in enumerate(archive.read(1, 9), 1)]
            views.publish(Publication(Ledger(shown), 9, "compressor"), expected=views.version())
            if request.param == "indexed before":
                store.search.catch_up()
        change(tmp_path / FILE, statement.replace(":id", f"SELECT id FROM messages WHERE conversation = 1 AND position = {position}"))
        return SqliteStore(tmp_path / FILE, durability="normal"), conversation, position

    return opened


@pytest.mark.parametrize("damage", BY_HAND)
def test_a_damaged_row_is_told_apart_and_holds_no_other_back(furnish: Callable[[str], tuple[SqliteStore, str, int]], damage: str) -> None:
    store, conversation, position = furnish(damage)
    with closing(store):
        archive = store.archive(conversation)
        others = [at for at in range(1, 10) if at != position]
        rows = list(archive.rows())
        assert [row.position for row in rows if row.damaged] == [position]
        assert rows[position - 1].message is None
        assert [row.position for row in archive.current() if row.message is not None] == others
        assert len(archive.read(1, 9)) == 8
        view = store.views(conversation).current()
        assert view is not None
        assert [at for at, message in enumerate(view.ledger.messages(), 1) if message["content"] == SHOWN_DAMAGED] == [position]
        assert view.ledger.messages()[position - 1]["role"] == rows[position - 1].role
        assert archive.append({"role": "tool", "tool_call_id": "call_1", "content": "again"}) == 10
        assert next(archive.rows(10)).tool == "read_file"
        assert f"{conversation}:{position}" in {finding.where for finding in store.admin.verify().findings}


@pytest.mark.parametrize("damage", BY_HAND)
@pytest.mark.parametrize("mode", [Mode.REGEX, Mode.RANKED])
def test_a_search_passes_a_damaged_row_over_and_says_so_once(
    furnish: Callable[[str], tuple[SqliteStore, str, int]], damage: str, mode: Mode
) -> None:
    store, conversation, position = furnish(damage)
    with closing(store):
        text = "." if mode is Mode.REGEX else "gateway timeout secret vault database large output 网关"
        page = store.search.find(Query(text, mode, conversation=conversation, context=9))
        found = {hit.position for hit in page.hits}
        assert position not in found
        assert found >= ({*range(1, 10)} - {position, 3} if mode is Mode.REGEX else {2, 8})
        assert all(position not in {line.position for line in (*hit.before, *hit.after)} for hit in page.hits)
        assert page.notices.count(DAMAGED) == 1
        assert "archive verify" in DAMAGED
        assert store.search.catch_up() == 0
        assert store.search.index.check() == []


def test_a_large_string_that_was_damaged_is_put_right_when_it_is_said_again(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        store.search.catch_up()
    change(tmp_path / FILE, "UPDATE blobs SET body = CAST('B' || substr(body, 2) AS BLOB)")
    said: Message = {"role": "user", "content": LARGE}
    with closing(SqliteStore(tmp_path / FILE, durability="normal")) as store:
        assert store.archive(conversation).read(4, 4)[0]["content"] != LARGE
        archive = store.archive(store.sessions.create().conversation)
        archive.extend([said, said])
        assert archive.read(1, 2) == [said, said]
        assert store.archive(conversation).read(4, 4)[0]["content"] == LARGE
        assert store.admin.verify().is_clean
        assert store.connection.value("SELECT count(*) FROM blobs") == 1


def test_a_large_string_that_is_put_right_is_found_by_what_it_says(tmp_path: Path) -> None:
    """The index may hold the messages by what stood in its place."""
    with furnished(tmp_path) as (store, conversation):
        pass
    change(tmp_path / FILE, "UPDATE blobs SET body = CAST('lost text' AS BLOB)")
    with closing(SqliteStore(tmp_path / FILE, durability="normal")) as store:
        store.search.catch_up()
        store.archive(conversation).append({"role": "user", "content": LARGE})
        for _ in range(2):
            page = store.search.find(Query("large output", Mode.LITERAL))
            assert [hit.position for hit in page.hits] == [10, 4]
            assert store.search.catch_up() == 0
        assert page.notices == ()
        assert store.search.index.check() == []


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("UPDATE made SET body = CAST('{' AS BLOB) WHERE kind = 'summary'", 1),
        ("DELETE FROM messages WHERE conversation = 1 AND position = 9", 5),
    ],
)
def test_a_view_opens_though_something_it_shows_is_damaged_or_gone(tmp_path: Path, statement: str, index: int) -> None:
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
    change(tmp_path / FILE, statement)
    with closing(SqliteStore(tmp_path / FILE, durability="normal")) as store:
        view = store.views(conversation).current()
        assert view is not None
        assert view.ledger.messages()[index]["content"] == SHOWN_DAMAGED
        assert view.ledger.messages()[2]["content"] == "[read_file] gateway.log"
