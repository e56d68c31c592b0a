"""A damaged file gives back everything that can be read, says what is lost, and is kept as it was."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from host.errors import DamagedStore, NewerSchema, StoreError, StoreUnavailable
from host.messages.types import Message
from host.store.sqlite.care.held import HeldFile
from host.store.sqlite.care.repair import repair
from host.store.sqlite.store import FILE, SqliteStore
from tests.stores_for_tests import change, compacted, furnished, pages_of, spoken, zero_page

COUNT = 400


@pytest.fixture
def store_of(tmp_path: Path) -> tuple[Path, str, list[Message]]:
    """A closed store of some hundred messages."""
    with furnished(tmp_path, spoken(COUNT)) as (store, conversation):
        compacted(store, conversation)
        store.search.catch_up()
        messages = store.archive(conversation).read(1, COUNT)
    return tmp_path / FILE, conversation, messages


def mended(path: Path, conversation: str) -> tuple[dict[int, Message], list[int]]:
    """What a repaired store holds: messages by position, and positions without content."""
    with closing(SqliteStore(path)) as store:
        rows = list(store.archive(conversation).rows())
        assert [row.position for row in rows] == list(range(1, len(rows) + 1))
        assert store.views(conversation).current() is not None
        return {row.position: row.message for row in rows if row.message is not None}, [row.position for row in rows if row.message is None]


def as_it_was(messages: list[Message], held: dict[int, Message]) -> bool:
    return all(held[position] == message for position, message in enumerate(messages, start=1) if position in held)


@pytest.mark.parametrize("leaf", [0, 3, -1])
def test_a_lost_page_of_messages_costs_these_messages_alone(store_of: tuple[Path, str, list[Message]], leaf: int) -> None:
    path, conversation, messages = store_of
    zero_page(path, pages_of(path, "messages")[leaf])
    before = path.read_bytes()
    done = repair(path)
    held, lost = mended(path, conversation)
    assert 0 < len(lost) < 60
    assert as_it_was(messages, held)
    assert len(held) + len(lost) == COUNT
    assert [message for message in done.messages if message.startswith(conversation)] == [f"{conversation}:{position}" for position in lost]
    assert done.lost["messages"] == len(done.messages)
    assert done.findings == ()
    assert done.copy is not None
    assert done.copy.read_bytes() == before
    with closing(SqliteStore(path)) as store:
        assert store.archive(conversation).append({"role": "user", "content": "and on"}) == COUNT + 1
        found = store.admin.verify()
        assert found.is_clean
        assert found.counts["holes"] == len(done.messages)
        assert [hit for hit, _ in store.archive(conversation).search(f'"note number {max(held)}"')] == [max(held)]


def test_the_row_after_a_hole_is_still_guarded(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    zero_page(path, pages_of(path, "messages")[3])
    repair(path)
    _, lost = mended(path, conversation)
    change(
        path, "UPDATE messages SET body = CAST(replace(body, 'note', 'NOTE') AS BLOB) WHERE conversation = 1 AND position = ?", lost[-1] + 1
    )
    with closing(SqliteStore(path)) as store:
        assert [finding.where for finding in store.admin.verify().findings if finding.where != "index"] == [
            f"{conversation}:{lost[-1] + 1}"
        ]


@pytest.mark.parametrize("table", ["messages_at", "sqlite_autoindex_sessions_1", "made_of"])
def test_a_lost_page_of_an_ordinary_index_costs_nothing(store_of: tuple[Path, str, list[Message]], table: str) -> None:
    path, conversation, messages = store_of
    zero_page(path, pages_of(path, table)[0])
    done = repair(path)
    held, lost = mended(path, conversation)
    assert (lost, list(held.values()), done.messages, done.findings) == ([], messages, (), ())
    assert done.salvaged["messages"] == COUNT + 2


@pytest.mark.parametrize("table", ["conversations", "sessions", "segments", "views", "made", "receipts", "engine_state", "store"])
def test_whatever_small_table_is_lost_the_messages_can_be_read(store_of: tuple[Path, str, list[Message]], table: str) -> None:
    path, conversation, messages = store_of
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    zero_page(path, root)
    done = repair(path)
    assert done.findings == ()
    assert table in done.cut or done.lost.get(table)
    with closing(SqliteStore(path)) as store:
        assert store.archive(conversation).read(1, COUNT) == messages
        assert [session.conversation for session in store.sessions.listed()].count(conversation) == 1
        store.archive(conversation).append({"role": "user", "content": "and on"})
        assert store.admin.verify().findings == ()


@pytest.mark.parametrize("table", ["search_trigrams_data", "search_words_data", "search_words_docsize"])
def test_a_damaged_search_index_is_made_anew_and_messages_are_not_touched(store_of: tuple[Path, str, list[Message]], table: str) -> None:
    path, conversation, messages = store_of
    for page in pages_of(path, table):
        zero_page(path, page)
    done = repair(path)
    assert (done.salvaged, done.messages, done.findings) == ({}, (), ())
    assert done.copy is not None
    assert list(mended(path, conversation)[0].values()) == messages
    with closing(SqliteStore(path)) as store:
        assert [position for position, _ in store.archive(conversation).search('"note number 77"')] == [77]


def test_a_truncated_file_gives_back_what_is_left(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    last = pages_of(path, "messages")[-1]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    os.truncate(path, (last - 1) * 4096)
    done = repair(path)
    held, lost = mended(path, conversation)
    assert as_it_was(messages, held)
    assert held
    assert lost
    assert done.findings == ()


def test_a_second_row_for_a_table_in_the_schema_is_named_and_repaired(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'messages'")
    with pytest.raises(DamagedStore) as caught:
        SqliteStore(path)
    assert str(path) in str(caught.value)
    done = repair(path)
    assert (done.messages, done.findings) == ((), ())
    assert list(mended(path, conversation)[0].values()) == messages


def test_a_lost_large_string_leaves_the_rest_of_its_message(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    change(path, "DELETE FROM blobs")
    done = repair(path)
    held, _ = mended(path, conversation)
    assert held[4] == {**messages[3], "content": "[lost: the file was damaged and this text could not be salvaged]"}
    assert done.findings == ()


def test_a_flipped_byte_stays_and_is_still_named(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    change(path, "UPDATE messages SET body = CAST(replace(body, 'number 33', 'number 34') AS BLOB) WHERE position = 33")
    zero_page(path, pages_of(path, "messages")[-1])
    done = repair(path)
    assert [finding.where for finding in done.findings if finding.where != "index"] == [f"{conversation}:33"]


def test_a_message_that_is_none_any_more_keeps_nobody_from_reading_the_others(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    change(path, "UPDATE messages SET body = CAST(x'ff' || substr(body, 2) AS BLOB) WHERE position = 33")
    done = repair(path)
    assert (done.messages, done.findings) == ((f"{conversation}:33",), ())
    held, lost = mended(path, conversation)
    assert lost == [33]
    assert as_it_was(messages, held)


def test_forgotten_messages_stay_forgotten_through_a_repair(store_of: tuple[Path, str, list[Message]]) -> None:
    from host.store.care import Forget

    path, conversation, _ = store_of
    with closing(SqliteStore(path)) as store:
        store.admin.forget(Forget("note number 20"), apply=True)
    zero_page(path, pages_of(path, "messages")[-1])
    done = repair(path)
    assert done.findings == ()
    assert f"{conversation}:20" not in done.messages
    assert 20 in mended(path, conversation)[1]


def test_what_is_in_the_log_is_kept_and_salvaged_too(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    zero_page(path, pages_of(path, "made_of")[0])
    script = (
        "import os, sys; from pathlib import Path; from host.store.sqlite.store import SqliteStore; s = SqliteStore(Path(sys.argv[1])); "
    )
    script += "s.archive(sys.argv[2]).append({'role': 'user', 'content': 'only in the log'}); os._exit(0)"
    subprocess.run([sys.executable, "-c", script, str(path), conversation], check=True)
    assert path.with_name(path.name + "-wal").stat().st_size
    done = repair(path)
    assert done.copy is not None
    assert done.copy.with_name(done.copy.name + "-wal").stat().st_size
    assert mended(path, conversation)[0][COUNT + 1] == {"role": "user", "content": "only in the log"}


def test_a_sound_file_is_left_alone(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    before = path.read_bytes()
    done = repair(path)
    assert (done.copy, done.salvaged, done.findings) == (None, {}, ())
    assert list(path.parent.joinpath("backups").iterdir()) == []
    assert list(mended(path, conversation)[0].values()) == messages
    assert len(before) == path.stat().st_size


def test_it_refuses_while_another_process_has_the_file_open(store_of: tuple[Path, str, list[Message]]) -> None:
    path, _, _ = store_of
    zero_page(path, pages_of(path, "made_of")[0])
    before = path.read_bytes()
    script = "import sys; from pathlib import Path; from host.store.sqlite.store import SqliteStore; s = SqliteStore(Path(sys.argv[1])); "
    script += "print(flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(StoreUnavailable, match="another process"):
            repair(path)
    finally:
        process.communicate()
    assert path.read_bytes() == before
    assert repair(path).findings == ()


WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=float(sys.argv[2]), isolation_level=None)
print("opened", flush=True)
connection.execute("INSERT INTO quarantine (conversation, time, error, shown) VALUES (1, 0, 'told', ?)", (sys.argv[3],))
"""


def writing(path: Path, patience: float, row: str) -> subprocess.Popen[bytes]:
    """Another process, with plain sqlite3, that has opened the file and writes a row as soon as it may."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(patience), row], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.mark.parametrize("table", ["messages", "made_of", "search_words_data"])
def test_nobody_writes_during_a_repair_and_who_waits_writes_into_the_mended_file(
    store_of: tuple[Path, str, list[Message]], table: str
) -> None:
    path, conversation, messages = store_of
    zero_page(path, pages_of(path, table)[0])
    waiting: list[subprocess.Popen[bytes]] = []
    refused: dict[str, bytes] = {}

    def meanwhile(done: int, total: int, text: str) -> None:
        step = text.split(" in ")[0]
        if step not in refused:
            refused[step] = writing(path, 0.01, "refused").communicate()[1]
            waiting.append(writing(path, 60, step))

    done = repair(path, progress=meanwhile)
    ended = [process.communicate(timeout=60)[1] for process in waiting]
    assert refused and all(b"database is locked" in error for error in refused.values())
    assert ended == [b""] * len(waiting)
    with closing(SqliteStore(path)) as store:
        assert {row for (row,) in store.connection.rows("SELECT shown FROM quarantine")} == set(refused)
        assert store.admin.verify().findings == done.findings == ()
    assert as_it_was(messages, mended(path, conversation)[0])


class PowerFails(Exception):
    pass


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_repair_cut_short_while_the_file_is_written_is_finished_by_the_next(
    store_of: tuple[Path, str, list[Message]], after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, conversation, messages = store_of
    zero_page(path, pages_of(path, "messages")[3])
    write, writes = HeldFile._write, iter(range(1, 10))

    def failing(held: HeldFile, piece: bytes, at: int) -> None:
        write(held, piece[:5_000] if (number := next(writes)) == after else piece, at)
        if number == after:
            raise PowerFails

    monkeypatch.setattr(HeldFile, "_write", failing)
    with pytest.raises(PowerFails):
        repair(path)
    monkeypatch.undo()
    with pytest.raises(DamagedStore) if after < 3 else nullcontext():
        SqliteStore(path).close()
    done = repair(path)
    held, lost = mended(path, conversation)
    assert as_it_was(messages, held)
    assert 0 < len(lost) < 60
    assert done.findings == ()
    assert sorted(path.parent.iterdir()) == [path, path.parent / "archive.db.lock", path.parent / "backups"]
    if after < 3:  # the head is written last: with it the file is whole
        assert done.copy is not None
        assert list(done.messages) == [f"{conversation}:{position}" for position in lost]
        assert done.salvaged["messages"] == COUNT + 2 - len(lost)


def test_a_file_that_is_no_database_stays_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_bytes(b"this was never a database " * 500)
    with pytest.raises(StoreError):
        SqliteStore(path)
    with pytest.raises(DamagedStore, match="nothing in it can be read"):
        repair(path)
    assert path.read_bytes().startswith(b"this was never")
    assert len(list((tmp_path / "backups").iterdir())) == 1
    with pytest.raises(StoreUnavailable):
        repair(tmp_path / "nothing.db")


def test_a_newer_file_is_not_repaired(store_of: tuple[Path, str, list[Message]]) -> None:
    path, _, _ = store_of
    change(path, "PRAGMA user_version = 99")
    with pytest.raises(NewerSchema):
        repair(path)


def test_the_receipt_says_table_by_table_what_was_salvaged(store_of: tuple[Path, str, list[Message]]) -> None:
    path, _, _ = store_of
    zero_page(path, pages_of(path, "messages")[3])
    done = repair(path)
    with closing(SqliteStore(path)) as store:
        kind, text = store.connection.rows("SELECT kind, receipt FROM receipts WHERE id = ?", (done.receipt,))[0]
    receipt = json.loads(text)
    assert kind == "repair"
    assert receipt["tables"]["messages"]["salvaged"] == done.salvaged["messages"]
    assert sum(last - first + 1 for first, last in receipt["tables"]["messages"]["lost"]) == done.lost["messages"]
    assert receipt["lost"] == list(done.messages)
