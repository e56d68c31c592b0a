"""A damaged file gives back everything that can be read, says what is lost, and is kept as it was."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from host.errors import DamagedStore, NewerSchema, StoreUnavailable
from host.messages.types import Message
from host.store.care import Forget
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


def test_of_the_row_after_a_hole_it_is_said_that_nothing_proves_it(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    zero_page(path, pages_of(path, "messages")[3])
    done = repair(path)
    _, lost = mended(path, conversation)
    assert [note for note in done.notes if "nothing proves" in note] == [
        f"kept, and nothing proves that it is as it was, for the message before it is lost: {conversation}:{lost[-1] + 1}"
    ]


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


def test_a_flipped_byte_stays_and_is_named_and_another_one_is_found(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    flipped = "UPDATE messages SET body = CAST(replace(body, ?, ?) AS BLOB) WHERE position = 33"
    change(path, flipped, "number 33", "number 34")
    done = repair(path)
    assert (done.changed, done.messages, done.findings, done.is_whole) == ((f"{conversation}:33",), (), (), False)
    assert mended(path, conversation)[0] == {**dict(enumerate(messages, 1)), 33: {"role": "user", "content": "note number 34"}}
    change(path, flipped, "number 34", "number 35")
    with closing(SqliteStore(path)) as store:
        assert [finding.where for finding in store.admin.verify().findings if finding.where != "index"] == [f"{conversation}:33"]


def test_a_message_that_is_none_any_more_keeps_nobody_from_reading_the_others(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    change(path, "UPDATE messages SET body = CAST(x'ff' || substr(body, 2) AS BLOB) WHERE position = 33")
    done = repair(path)
    assert (done.messages, done.findings) == ((f"{conversation}:33",), ())
    held, lost = mended(path, conversation)
    assert lost == [33]
    assert as_it_was(messages, held)


def test_forgotten_messages_stay_forgotten_through_a_repair(store_of: tuple[Path, str, list[Message]]) -> None:
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
    assert not path.parent.joinpath("backups").exists()
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


def test_there_must_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        repair(tmp_path / "nothing.db")


def test_a_newer_file_is_not_repaired(store_of: tuple[Path, str, list[Message]]) -> None:
    path, _, _ = store_of
    change(path, "PRAGMA user_version = 99")
    with pytest.raises(NewerSchema):
        repair(path)
    assert sorted(path.parent.iterdir()) == [path, path.with_name(f"{FILE}.lock")]


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


def test_a_lost_large_string_is_a_loss_that_names_its_message(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    change(path, "DELETE FROM blobs")
    done = repair(path)
    assert (done.strings, done.lost["strings"], done.is_whole) == ((f"{conversation}:4",), 1, False)
    with closing(SqliteStore(path)) as store:
        found = store.admin.verify()
    assert found.is_clean
    assert found.explained == (f"holes from repair {done.receipt}: {conversation}: 1 without a large string of theirs (4)",)
    change(path, "UPDATE blobs SET body = CAST('[found]' AS BLOB)")
    with closing(SqliteStore(path)) as store:
        assert store.admin.verify().counts["holes"] == 1  # the note is known by its digest's receipt


def test_without_the_key_of_the_digests_the_messages_are_read_on_with_a_new_one(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    with closing(SqliteStore(path)) as store:
        store.admin.forget(Forget("note number 399"), apply=True)
    change(path, "DELETE FROM store")
    with pytest.raises(DamagedStore, match="key"):
        SqliteStore(path)
    done = repair(path)
    assert "the key of the digests was lost" in done.notes[0]
    assert "1 tombstones were made with the old key" in done.harm[0]
    assert (done.messages, done.changed, done.findings) == ((), (), ())
    with closing(SqliteStore(path)) as store:
        held = store.archive(conversation)
        assert [row.message for row in held.rows()] == [
            None if position == 399 else message for position, message in enumerate(messages, 1)
        ]
        held.append({"role": "user", "content": "and on"})
        assert store.admin.verify().is_clean


def test_a_key_that_matches_no_digest_is_as_good_as_lost(store_of: tuple[Path, str, list[Message]]) -> None:
    path, _, _ = store_of
    change(path, "UPDATE store SET value = randomblob(32) WHERE key = 'digest_key'")
    done = repair(path)
    assert (done.changed, done.findings, len(done.notes)) == ((), (), 1)


@pytest.mark.parametrize("seed", [3, 4, 7])
def test_after_one_repair_of_flipped_bytes_all_is_named_and_nothing_is_wrong(store_of: tuple[Path, str, list[Message]], seed: int) -> None:
    path, _, messages = store_of
    chance, held = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(300):
        held[chance.randrange(len(held))] = chance.randrange(256)
    path.write_bytes(held)
    done = repair(path)
    assert done.findings == ()
    with closing(SqliteStore(path)) as store:
        assert store.admin.verify(prove=True).findings == ()
        first = max(
            (store.archive(session.conversation) for session in store.sessions.listed()), key=lambda archive: len(archive.read(1, COUNT))
        )
        rows = {row.position: row.message for row in first.rows()}
        unproven = json.loads(store.connection.value("SELECT receipt FROM receipts WHERE id = ?", (done.receipt,)))["resumed"]
        named = {int(message.rpartition(":")[2]) for message in (*done.messages, *done.changed, *done.strings, *unproven)}
        wrong = {position for position, message in enumerate(messages, 1) if rows.get(position) != message}
        assert wrong <= named
    assert repair(path).copy is None


DAMAGED_DOCUMENTS = {
    "receipts 1": "UPDATE receipts SET receipt = '{' WHERE id = 1",
    "sessions 1": "UPDATE sessions SET settings = '[]' WHERE id = 1",
    "views 1": "UPDATE views SET state = x'ff'",
    "engine_state 1": "UPDATE engine_state SET document = 'calm'",
}


@pytest.mark.parametrize("where", DAMAGED_DOCUMENTS)
def test_a_damaged_document_is_emptied_and_named(store_of: tuple[Path, str, list[Message]], where: str) -> None:
    path, conversation, _ = store_of
    with closing(SqliteStore(path)) as store:
        store.admin.forget(Forget("note number 399"), apply=True)
    change(path, DAMAGED_DOCUMENTS[where])
    done = repair(path)
    assert (done.messages, done.findings, done.is_whole) == ((), (), False)
    assert any(where in line or f"table {where.split()[0]}" in line for line in done.harm)
    assert mended(path, conversation)[1] == [399]  # forgotten, not lost


WRONG = {
    "a position far away": "UPDATE messages SET position = 1 << 40 WHERE position = 40 AND conversation = 1",
    "another conversation": "UPDATE messages SET conversation = 77 WHERE position = 40 AND conversation = 1",
    "a giant id": "UPDATE messages SET id = 1 << 50 WHERE position = 400",
    "a role": "UPDATE messages SET role = 'nobody' WHERE position = 40",
    "a text for bytes": "UPDATE messages SET body = CAST(body AS TEXT) WHERE position = 40",
    "a digest": "UPDATE messages SET digest = x'00' WHERE position = 40",
    "a time": "UPDATE messages SET time = 1 << 62 WHERE position = 40",
    "a version of itself": "UPDATE messages SET place = 40 WHERE position = 40",
    "a segment far away": "UPDATE segments SET first = 1 << 40 WHERE conversation = 2",
    "no segments": "DELETE FROM segments WHERE conversation = 1",
    "a view of everything": "UPDATE views SET entries = '[[1, 1099511627776]]'",
    "a version far away": "UPDATE views SET version = 1 << 40",
    "a head that is a text": "UPDATE store SET value = 'x' WHERE key = 'head'",
    "covers": "UPDATE made SET covers = '[[0, 9]]'",
    "a summary": "UPDATE made SET body = x'ff' WHERE kind = 'summary'",
}


@pytest.mark.parametrize("damage", WRONG)
def test_whatever_value_is_wrong_is_found_and_mended_and_no_message_is_lost(store_of: tuple[Path, str, list[Message]], damage: str) -> None:
    path, conversation, messages = store_of
    with closing(SqliteStore(path)) as store:
        assert store.admin.verify().is_clean
    change(path, WRONG[damage])
    with closing(SqliteStore(path)) as store:
        assert not store.admin.verify().is_clean
    done = repair(path)
    assert (done.messages, done.changed, done.findings) == ((), (), ())
    assert done.copy is not None
    with closing(SqliteStore(path)) as store:
        assert store.archive(conversation).read(1, COUNT) == messages
        assert store.admin.verify().is_clean
    assert repair(path).copy is None


@pytest.mark.parametrize("count", [4, 4096])
def test_a_file_without_its_head_or_its_schema_is_read_page_by_page(store_of: tuple[Path, str, list[Message]], count: int) -> None:
    path, conversation, messages = store_of
    with closing(sqlite3.connect(path)) as connection:
        tables = ("conversations", "sessions", "segments", "messages", "blobs", "views", "made", "engine_state")
        before = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables if table != "messages"}
    with path.open("r+b") as file:
        file.write(bytes(count))
    done = repair(path)
    assert done.is_whole
    with closing(sqlite3.connect(path)) as connection:
        assert {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in before} == before
    assert list(mended(path, conversation)[0].values()) == messages
    with closing(SqliteStore(path)) as store:
        assert store.admin.verify().is_clean


def test_without_its_schema_the_log_counts_too(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    script = (
        "import os, sys; from pathlib import Path; from host.store.sqlite.store import SqliteStore; s = SqliteStore(Path(sys.argv[1])); "
    )
    script += "s.archive(sys.argv[2]).append({'role': 'user', 'content': 'only in the log'}); os._exit(0)"
    subprocess.run([sys.executable, "-c", script, str(path), conversation], check=True)
    zeroed = bytearray(path.read_bytes())
    zeroed[:4096] = bytes(4096)
    path.write_bytes(zeroed)
    assert repair(path).is_whole
    assert mended(path, conversation)[0][COUNT + 1] == {"role": "user", "content": "only in the log"}


def test_rows_behind_a_lost_inner_page_are_found(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, messages = store_of
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()[0]
    zero_page(path, root)
    repair(path)
    assert list(mended(path, conversation)[0].values()) == messages


def test_what_was_forgotten_does_not_come_back_from_old_pages(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    with closing(SqliteStore(path)) as store:
        store.admin.forget(Forget("note number 399"), apply=True)
    body = json.dumps({"content": "note number 399", "role": "user"})
    change(path, "UPDATE messages SET body = CAST(? AS BLOB) WHERE position = 399 AND conversation = 1", body)
    zero_page(path, pages_of(path, "messages")[-1])
    repair(path)
    assert 399 in mended(path, conversation)[1]


def test_of_a_dropped_table_as_many_are_lost_as_the_last_check_saw(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    with closing(SqliteStore(path)) as store:
        assert store.admin.verify().is_clean
        other = store.sessions.listed()[-1].conversation
        names = {conversation, *(session.conversation for session in store.sessions.listed())}
    change(path, "PRAGMA secure_delete = ON")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("DROP TABLE messages")
    done = repair(path)
    assert done.lost["messages"] == COUNT + 2
    assert set(done.silent) == names
    assert "messages" in done.cut
    with closing(SqliteStore(path)) as store:
        found = store.admin.verify()
    assert found.is_clean
    assert any(other in line and "no message of it could be saved" in line for line in found.explained)


def test_what_an_earlier_repair_named_is_not_lost_again(store_of: tuple[Path, str, list[Message]]) -> None:
    path, conversation, _ = store_of
    zero_page(path, pages_of(path, "messages")[3])
    assert repair(path).messages
    change(path, "UPDATE messages SET body = x'ff' WHERE position = 333")
    assert repair(path).messages == (f"{conversation}:333",)


@pytest.mark.parametrize("content", [b"", b"\0" * 8192, b"this was never a database " * 500])
def test_where_nothing_can_be_read_the_file_stays_as_it_is_alone_and_a_backup_is_advised(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / FILE
    path.write_bytes(content)
    for _ in range(2):  # an all but empty file that the first run left behind would be laid in by the second
        with pytest.raises(DamagedStore) as caught:
            repair(path)
        assert "backup" in caught.value.advice and "repair" not in caught.value.advice
    assert path.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == [FILE, f"{FILE}.lock"]


def test_without_room_for_two_copies_nothing_is_begun(store_of: tuple[Path, str, list[Message]]) -> None:
    path, _, _ = store_of
    zero_page(path, pages_of(path, "made_of")[0])
    whole = path.stat().st_size
    os.truncate(path, 1 << 42)  # sparse: larger than any disk
    with pytest.raises(StoreUnavailable, match="not enough room for two copies of it: 8,796,094 MB needed"):
        repair(path)
    os.truncate(path, whole)
    assert not (path.parent / "backups").exists()


def test_a_copy_that_cannot_be_finished_is_taken_away(store_of: tuple[Path, str, list[Message]], monkeypatch: pytest.MonkeyPatch) -> None:
    path, _, _ = store_of
    zero_page(path, pages_of(path, "made_of")[0])

    def full(held: HeldFile, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(HeldFile, "copy_to", full)
    with pytest.raises(StoreUnavailable):
        repair(path)
    assert sorted(path.parent.iterdir()) == [path, path.with_name(f"{FILE}.lock")]


def test_an_empty_log_is_not_kept_and_all_files_are_the_owners(store_of: tuple[Path, str, list[Message]]) -> None:
    path, _, _ = store_of
    zero_page(path, pages_of(path, "messages")[3])
    done = repair(path)
    assert done.copy is not None
    assert list(done.copy.parent.iterdir()) == [done.copy]
    assert {file.stat().st_mode & 0o777 for file in (path, done.copy)} == {0o600}


def test_a_repair_finishes_an_erasure_and_keeps_no_copy_of_it(store_of: tuple[Path, str, list[Message]]) -> None:
    path, _, _ = store_of
    change(path, "INSERT INTO store (key, value) VALUES ('unfinished_erasure', 7)")
    done = repair(path)
    assert (done.copy, done.is_whole) == (None, True)
    assert "receipt 7 is finished" in done.notes[0]
    assert not (path.parent / "backups").exists()
    with closing(SqliteStore(path)) as store:
        assert store.admin.unfinished() is None
        assert store.admin.verify().is_clean
