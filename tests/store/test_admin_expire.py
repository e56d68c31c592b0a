"""Conversations go whole or not at all."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from host.errors import NoSuchSession, StoreUnavailable
from host.messages.types import Message
from host.store.sqlite.store import FILE, SqliteStore
from tests.stores_for_tests import LARGE, all_bytes, compacted, furnished, spoken

LONG_AGO = datetime.now(UTC) - timedelta(days=400)
YEAR = timedelta(days=365)
TABLES = ("conversations", "sessions", "segments", "messages", "blobs", "tombstones", "quarantine", "made", "views", "engine_state", "pins")


def counts(store: SqliteStore) -> dict[str, int]:
    return {table: store.connection.value(f"SELECT count(*) FROM {table}") for table in TABLES}


def test_a_deleted_conversation_leaves_nothing_and_the_others_stay(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        before_any = counts(store)
        kept = store.sessions.create(title="kept").conversation
        messages: list[Message] = [{"role": "user", "content": LARGE}, {"role": "user", "content": "kumquat"}]
        store.archive(kept).extend(messages)
        compacted(store, conversation)
        store.search.catch_up()
        assert store.sessions.delete(conversation) == 9
        assert counts(store) == {**dict.fromkeys(TABLES, 0), "conversations": 2, "sessions": 2, "segments": 2, "messages": 4, "blobs": 1}
        assert before_any["messages"] == 11
        assert store.archive(kept).read(1, 9) == messages
        assert [position for position, _ in store.archive(kept).search("kumquat")] == [2]
        assert store.admin.verify().findings == ()
        with pytest.raises(NoSuchSession):
            store.sessions.delete(conversation)


def test_a_message_after_a_deleted_one_is_found_though_it_takes_its_number(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, _):
        gone = store.sessions.create().conversation
        store.archive(gone).append({"role": "user", "content": "the old word persimmon"})
        store.search.catch_up()
        store.sessions.delete(gone)
        new = store.sessions.create().conversation
        store.archive(new).append({"role": "user", "content": "the new word clementine"})
        store.search.catch_up()
        assert store.archive(new).search("persimmon") == []
        assert [position for position, _ in store.archive(new).search("clementine")] == [1]


@pytest.mark.parametrize("table", ["messages", "made", "sessions", "conversations", "blobs", "receipts"])
def test_a_deletion_that_fails_on_the_way_deletes_nothing(tmp_path: Path, table: str) -> None:
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
        store.search.catch_up()
        before = counts(store)
        verb = "INSERT" if table == "receipts" else "DELETE"
        store.connection.database.conn.execute(
            f"CREATE TEMP TRIGGER fails BEFORE {verb} ON main.{table} BEGIN SELECT raise(ABORT, 'disk I/O error'); END"
        )
        with pytest.raises((sqlite3.Error, StoreUnavailable)):
            store.sessions.delete(conversation)
        store.connection.database.conn.execute("DROP TRIGGER fails")
        assert counts(store) == before
        assert store.admin.verify().findings == ()


class TestExpire:
    def test_conversations_without_a_newer_message_go(self, tmp_path: Path) -> None:
        with closing(SqliteStore(tmp_path / FILE)) as store:
            old, mixed, empty = (store.sessions.create().conversation for _ in range(3))
            store.archive(old).extend(spoken(), times=[LONG_AGO] * 9)
            store.archive(mixed).append({"role": "user", "content": "then"}, time=LONG_AGO)
            store.archive(mixed).append({"role": "user", "content": "now"})
            store.search.catch_up()
            said = store.admin.expire(YEAR, apply=False)
            assert (said.applied, said.conversations, said.counts) == (False, (old,), {"conversations": 1, "messages": 9})
            assert store.archive(old).range() == (1, 9)
            done = store.admin.expire(YEAR, apply=True)
            assert (done.conversations, done.counts) == ((old,), {"conversations": 1, "messages": 9, "blobs": 1})
            assert {session.conversation for session in store.sessions.listed()} == {mixed, empty}
            kind, text = store.connection.rows("SELECT kind, receipt FROM receipts WHERE id = ?", (done.receipt,))[0]
            assert (kind, json.loads(text)["conversations"]) == ("expire", [old])
            assert store.admin.verify().findings == ()
        assert b"gateway waits" not in all_bytes(tmp_path)

    def test_one_that_somebody_works_on_stays(self, tmp_path: Path) -> None:
        with closing(SqliteStore(tmp_path / FILE)) as store:
            old = store.sessions.create().conversation
            store.archive(old).append({"role": "user", "content": "then"}, time=LONG_AGO)
            lease = store.leases.acquire(old, "somebody", 60)
            assert store.admin.expire(YEAR, apply=True).conversations == ()
            assert lease is not None
            store.leases.release(lease)
            assert store.admin.expire(YEAR, apply=True).conversations == (old,)

    def test_nothing_old_writes_nothing(self, tmp_path: Path) -> None:
        with furnished(tmp_path) as (store, _):
            assert store.admin.expire(YEAR, apply=True).receipt is None
