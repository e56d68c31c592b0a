"""Pins go with what they are of, and are looked after as everything else in the file."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlite_utils import Database

from host.errors import UsageError
from host.store.care import Forget
from host.store.memory import MemoryStore
from host.store.sqlite.care.repair import repair
from host.store.sqlite.schema import APPLICATION_ID, SCHEMA, heal, migrations
from host.store.sqlite.store import FILE, SqliteStore
from tests.stores_for_tests import SECRET, all_bytes, change, compacted, furnished, pages_of, spoken, zero_page


def pinned(store: SqliteStore, conversation: str) -> list[int]:
    return [pin.position for pin in store.pins(conversation).all()]


def pin(store: SqliteStore, conversation: str, *positions: int, by: str = "user") -> None:
    for position in positions:
        store.pins(conversation).add(position, by=by)


def test_a_file_of_the_second_schema_keeps_everything_and_gets_pins(tmp_path: Path) -> None:
    path = tmp_path / FILE
    old = Database(path, execute_plugins=False)
    old.conn.isolation_level = None
    migrations.apply(old, stop_before="m003_pins")
    old.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.conn.execute("PRAGMA user_version = 2")
    assert "pins" not in old.table_names() and "chapters" in old.table_names()
    old.conn.close()
    with furnished(tmp_path) as (store, conversation):
        compacted(store, conversation)
        rows, views = list(store.archive(conversation).rows()), store.views(conversation).history()
    for statement in ("DROP TABLE pins", "DELETE FROM _sqlite_migrations WHERE name = 'm003_pins'", "PRAGMA user_version = 2"):
        change(path, statement)
    with closing(SqliteStore(path)) as store:
        assert store.connection.value("PRAGMA user_version") == SCHEMA == 3
        assert (list(store.archive(conversation).rows()), store.views(conversation).history()) == (rows, views)
        pin(store, conversation, 6)
        assert pinned(store, conversation) == [6]
        assert store.admin.verify(prove=True).findings == ()


def test_a_column_that_a_table_of_pins_lacks_is_added(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        pin(store, conversation, 6)
    change(tmp_path / FILE, "ALTER TABLE pins DROP COLUMN by")
    heal(Database(tmp_path / FILE, execute_plugins=False))
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert [(pin.position, pin.by) for pin in store.pins(conversation).all()] == [(6, "")]


@pytest.mark.parametrize("by_text", [True, False])
def test_a_forgotten_message_is_not_pinned_any_more(tmp_path: Path, by_text: bool) -> None:
    with furnished(tmp_path) as (store, conversation):
        store.archive(conversation).append({"role": "user", "content": f"{SECRET}, and so on"}, replaces=6)
        pin(store, conversation, 10, 8)
        what = Forget(SECRET) if by_text else Forget(conversation=conversation, position=10)
        assert store.admin.forget(what, apply=False).counts["pins"] == 1
        assert pinned(store, conversation) == [6, 8]
        assert store.admin.forget(what, apply=True).counts["pins"] == 1
        assert pinned(store, conversation) == [8]
        with pytest.raises(UsageError, match="was erased"):
            store.pins(conversation).add(6, by="user")
        assert store.admin.verify().findings == ()


def test_a_pin_whose_maker_is_named_by_what_is_forgotten_goes_too(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        pin(store, conversation, 8, by=f"tool of {SECRET}")
        pin(store, conversation, 2)
        assert store.admin.forget(Forget(SECRET), apply=True).may_hold_copies == ()
        assert pinned(store, conversation) == [2]
    assert SECRET.lower().encode() not in all_bytes(tmp_path).lower()


def test_in_memory_a_forgotten_message_is_not_pinned_any_more() -> None:
    store = MemoryStore()
    conversation = store.sessions.create().conversation
    store.archive(conversation).extend(spoken())
    store.pins(conversation).add(6, by="user")
    store.pins(conversation).add(8, by="user")
    store.archive(conversation).forget(6)
    assert [each.position for each in store.pins(conversation).all()] == [8]
    with pytest.raises(UsageError, match="was erased"):
        store.pins(conversation).add(6, by="user")


def test_an_expired_conversation_takes_its_pins_with_it(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        pin(store, conversation, 2, 6)
        assert store.admin.expire(timedelta(seconds=-1), apply=True).conversations
        assert store.connection.value("SELECT count(*) FROM pins") == 0


def test_a_backup_has_the_pins(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        pin(store, conversation, 6, 2)
        store.admin.backup(tmp_path / "copies" / FILE)
    with closing(SqliteStore(tmp_path / "copies" / FILE)) as store:
        assert pinned(store, conversation) == [6, 2]


@pytest.mark.parametrize(("conversation", "position"), [(1, 77), (99, 1), (1, 10)])
def test_a_pin_of_nothing_is_a_finding_and_a_repair_takes_it_away(tmp_path: Path, conversation: int, position: int) -> None:
    with furnished(tmp_path) as (store, name):
        store.archive(name).append({"role": "user", "content": "mended"}, replaces=8)  # position 10 is a version: pins are of places
        pin(store, name, 8)
    change(tmp_path / FILE, f"INSERT INTO pins (conversation, position, time) VALUES ({conversation}, {position}, 0)")
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert [finding.what for finding in store.admin.verify().findings] == ["it is pinned, and there is no message"]
    done = repair(tmp_path / FILE)
    assert done.findings == ()
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert pinned(store, name) == [8]
        assert store.connection.value("SELECT count(*) FROM pins") == 1


def test_a_repair_saves_the_pins_of_what_is_left(tmp_path: Path) -> None:
    with furnished(tmp_path, spoken(400)) as (store, conversation):
        compacted(store, conversation)
        pin(store, conversation, *range(1, 401))
    zero_page(tmp_path / FILE, pages_of(tmp_path / FILE, "messages")[3])
    done = repair(tmp_path / FILE)
    lost = {int(message.rpartition(":")[2]) for message in done.messages}
    assert lost and done.findings == ()
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert pinned(store, conversation) == [position for position in range(1, 401) if position not in lost]
        assert store.admin.verify().is_clean


def test_a_lost_page_of_pins_costs_these_pins_alone(tmp_path: Path) -> None:
    with furnished(tmp_path, spoken(400)) as (store, conversation):
        pin(store, conversation, *range(1, 401))
        messages = store.archive(conversation).read(1, 400)
    zero_page(tmp_path / FILE, pages_of(tmp_path / FILE, "pins")[1])
    done = repair(tmp_path / FILE)
    assert done.findings == () and done.lost["pins"] > 0 and done.messages == ()
    with closing(SqliteStore(tmp_path / FILE)) as store:
        kept = pinned(store, conversation)
        assert 400 - done.lost["pins"] == len(kept) < 400 and kept == sorted(kept)
        assert store.archive(conversation).read(1, 400) == messages


def test_a_damaged_file_of_the_second_schema_lacks_nothing(tmp_path: Path) -> None:
    with furnished(tmp_path) as (store, conversation):
        messages = store.archive(conversation).read(1, 9)
    for statement in ("DROP TABLE pins", "DELETE FROM _sqlite_migrations WHERE name = 'm003_pins'", "PRAGMA user_version = 2"):
        change(tmp_path / FILE, statement)
    change(tmp_path / FILE, "UPDATE messages SET digest = x'00' WHERE position = 5 AND conversation = 1")
    done = repair(tmp_path / FILE)
    assert (done.cut, done.lost, done.is_whole) == ((), {}, True)
    with closing(SqliteStore(tmp_path / FILE)) as store:
        assert store.archive(conversation).read(1, 9) == messages
        pin(store, conversation, 5)
