"""An archive with imported history is looked after as any other: checked, mended, erased from."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from host.errors import StoreUnavailable
from host.messages.types import Message
from host.store.care import Forget
from host.store.kept import ERASED
from host.store.readings import FORGOTTEN, Told
from host.store.sqlite.care.repair import repair
from host.store.sqlite.schema import FIRST_ID
from host.store.sqlite.store import FILE, SqliteStore
from tests.recordings_for_tests import FILED, answered, asked, fed, shown
from tests.stores_for_tests import SECRET, all_bytes, change, pages_of, zero_page

COUNT, GROWN = 150, 5
NAMES = ("newer", "middle", "older")


def told(name: str, count: int = COUNT) -> list[Message]:
    return [(asked, answered)[n % 2](f"{name} says number {n}") for n in range(count)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed archive: three sessions of history, a live conversation, growth of the middle session; a compaction in each."""
    with closing(SqliteStore(tmp_path / FILE, durability="normal")) as store:
        live = store.sessions.create(title="live").conversation
        store.archive(live).extend(told("live"))
        for name in NAMES:
            entries = [Told(f"k{n}", message) for n, message in enumerate(told(name))]
            entries.insert(9, Told("s", asked(f"{name}: nine things"), compaction=True))
            fed(store, entries, file=f"/{name}", name=name, about={"working_directory": f"/src/{name}"}, history=True)
        fed(store, [Told(f"g{n}", asked(f"grown {n}")) for n in range(GROWN)], file="/middle", name="middle")
        store.archive(live).append(asked("the end"))
        store.search.catch_up()
        assert store.admin.verify(prove=True).findings == ()
    return tmp_path / FILE


Held = dict[str, dict[int, tuple[int, Message | None]]]


def held(path: Path) -> Held:
    """Id and message of each row, by conversation and position."""
    with closing(SqliteStore(path)) as store:
        rows_of = {session.title or session.id: store.archive(session.conversation).rows() for session in store.sessions.listed()}
        return {name: {row.position: (row.id, row.message) for row in rows} for name, rows in rows_of.items()}


def findings(path: Path) -> list[str]:
    with closing(SqliteStore(path)) as store:
        return [f"{finding.where}: {finding.what}" for finding in store.admin.verify(prove=True).findings]


def test_a_sound_archive_is_left_alone_and_the_files_are_counted(path: Path) -> None:
    assert repair(path).copy is None
    with closing(SqliteStore(path)) as store:
        found = store.admin.verify(prove=True)
        assert (found.findings, found.counts["session files"]) == ((), 3)
        assert {proof.conversation: proof.covered for proof in found.proofs if proof.covered} == dict.fromkeys(NAMES, (range(1, 11),))


@pytest.mark.parametrize("leaf", range(12))
def test_a_lost_page_costs_its_rows_alone_and_they_keep_their_ids(path: Path, leaf: int) -> None:
    before, leaves = held(path), pages_of(path, "messages")
    zero_page(path, leaves[leaf * len(leaves) // 12])
    done = repair(path)
    after = held(path)
    assert done.findings == ()
    assert 0 < len(done.messages) < 60
    for name, rows in before.items():
        assert {position: row for position, (row, _) in after[name].items()} == {position: row for position, (row, _) in rows.items()}
        lost = {position for position, (_, message) in after[name].items() if message is None}
        assert all(after[name][position] == rows[position] for position in rows.keys() - lost)
    assert (findings(path), repair(path).copy) == ([], None)


@pytest.mark.parametrize("leaf", range(4))
def test_without_the_index_lost_rows_still_lie_between_their_neighbours(path: Path, leaf: int) -> None:
    before, leaves = held(path), pages_of(path, "messages")
    zero_page(path, leaves[leaf * (len(leaves) - 1) // 3])
    for page in pages_of(path, "messages_at"):
        zero_page(path, page)
    done = repair(path)
    assert done.findings == ()
    after = held(path)
    for name in NAMES:  # of the live one's last rows nobody knows how many they were
        ids = [after[name][position][0] for position in sorted(after[name])]
        assert ids == sorted(set(ids))
        assert len(ids) == len(before[name])
    assert (findings(path), repair(path).copy) == ([], None)


DELETED = {
    "the first of history": ("newer", 1),
    "one in the middle of history": ("middle", 77),
    "the last of history that grew": ("middle", COUNT + 1),
    "the last of the newest history": ("newer", COUNT + 1),
    "the last of the oldest history": ("older", COUNT + 1),
    "the last that grew": ("middle", COUNT + 1 + GROWN),
}


@pytest.mark.parametrize("what", DELETED)
def test_a_row_that_was_deleted_is_found_and_its_place_is_kept(path: Path, what: str) -> None:
    name, position = DELETED[what]
    row, _ = held(path)[name][position]
    change(path, "DELETE FROM messages WHERE id = ?", row)
    assert any(finding.startswith(f"{name}:{position}: ") for finding in findings(path))
    done = repair(path)
    assert (done.messages, done.lost["messages"], done.findings) == ((f"{name}:{position}",), 1, ())
    assert held(path)[name][position] == (row, None)
    last = max(held(path)[name])
    with closing(SqliteStore(path)) as store:
        assert fed(store, [Told("n", asked("next"))], file=f"/{name}", name=name)[0].positions == (last + 1,)
        assert store.admin.verify().is_clean


def test_of_all_history_lost_the_growth_and_the_places_stay(path: Path) -> None:
    change(path, "DELETE FROM messages WHERE id <= ?", FIRST_ID)
    done = repair(path)
    assert done.findings == ()
    after = held(path)
    assert [message for _, message in after["middle"].values() if message] == [asked(f"grown {n}") for n in range(GROWN)]
    assert all(len(after[name]) == COUNT + 1 for name in ("newer", "older"))
    assert (findings(path), repair(path).copy) == ([], None)


WRONG = {
    "a position far away": "UPDATE messages SET position = 1 << 40 WHERE position = 40 AND conversation = 3",
    "another conversation": "UPDATE messages SET conversation = 77 WHERE position = 40 AND conversation = 3",
    "an id far below": "UPDATE messages SET id = 7 WHERE position = 40 AND conversation = 3",
    "an id far above": "UPDATE messages SET id = 1 << 50 WHERE position = 40 AND conversation = 3",
    "an id of growth far below": "UPDATE messages SET id = 7 WHERE position = 154 AND conversation = 3",
    "no lowest id": "DELETE FROM store WHERE key = 'lowest_id'",
    "a lowest id that is none": "UPDATE store SET value = 'x' WHERE key = 'lowest_id'",
    "a lowest id far below": "UPDATE store SET value = 3 WHERE key = 'lowest_id'",
    "a state that is no object": "UPDATE readings SET state = '[]' WHERE file = '/older'",
    "keys that are none": "UPDATE chapters SET keys = 'x' WHERE id = 1",
    "a key that names no position": 'UPDATE chapters SET keys = \'{"k1": "2", "k3": 4}\' WHERE id = 1',
    "a key far away": 'UPDATE chapters SET keys = \'{"k1": 99999, "k3": 4}\' WHERE id = 1',
    "an offset that is none": "UPDATE readings SET offset = -5 WHERE file = '/older'",
    "a size that is none": "UPDATE readings SET size = 'x' WHERE file = '/older'",
    "a file that is none": "UPDATE readings SET file = CAST(x'c328' AS TEXT) WHERE file = '/older'",
    "a chapter of no file": "UPDATE chapters SET reading = 99 WHERE id = 2",
    "a chapter of a conversation to come": "UPDATE chapters SET conversation = 9 WHERE id = 2",
    "a chapter of no conversation at all": "UPDATE chapters SET conversation = 1 << 50 WHERE id = 2",
}
UNSEEN = {"no lowest id", "a lowest id that is none", "a lowest id far below", "an id far below"}  # no message is harmed by these


@pytest.mark.parametrize("damage", WRONG)
def test_whatever_value_is_wrong_is_mended_and_no_message_is_lost(path: Path, damage: str) -> None:
    before = held(path)
    change(path, WRONG[damage])
    assert damage in UNSEEN or findings(path)
    change(path, "UPDATE messages SET digest = x'00' WHERE position = 20 AND conversation = 1")  # so that it is built anew
    done = repair(path)
    assert (done.messages, done.changed, done.findings) == ((), (), ())
    assert held(path) == before
    assert (findings(path), repair(path).copy) == ([], None)
    with closing(SqliteStore(path)) as store:
        fed(store, [Told("a", asked("still older"))], file="/oldest", name="oldest", history=True)
        new = store.sessions.create().conversation
        store.archive(new).append(asked("after all"))
        assert store.imports.conversation("/oldest", "") == "oldest"
        (lowest,) = store.connection.rows("SELECT min(id), count(*) FROM messages")
        assert lowest == (held(path)["oldest"][1][0], sum(map(len, before.values())) + 2)
        assert lowest[0] > FIRST_ID - 1000
        assert store.admin.verify().is_clean


@pytest.mark.parametrize("seed", range(8))
def test_after_flipped_bytes_one_repair_names_all_and_the_archive_goes_on(path: Path, seed: int) -> None:
    before = held(path)
    chance, flipped = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(40 + 60 * (seed % 3)):
        flipped[chance.randrange(len(flipped))] = chance.randrange(256)
    path.write_bytes(flipped)
    done = repair(path)
    assert done.findings == ()
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT receipt FROM receipts WHERE id = ?", (done.receipt,)).fetchone()
    unproven = json.loads(found[0])["resumed"] if found else ()
    named = {*done.messages, *done.changed, *done.strings, *unproven}
    after = held(path)
    for name in NAMES:
        if name in after and name not in done.silent:
            wrong = {f"{name}:{at}" for at, (_, message) in before[name].items() if after[name].get(at, (0, None))[1] != message}
            assert wrong <= named
    assert (findings(path), repair(path).copy) == ([], None)
    with closing(SqliteStore(path)) as store:
        fed(store, [Told("z", asked("more"))], file="/fresh", name="fresh", history=True)
        assert store.admin.verify().is_clean


@pytest.mark.parametrize("table", ["readings", "chapters", "store", "conversations", "sessions", "views"])
def test_whatever_small_table_is_lost_the_messages_can_be_read(path: Path, table: str) -> None:
    before = held(path)
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    zero_page(path, root)
    done = repair(path)
    assert (done.findings, done.messages) == ((), ())
    assert table in done.cut or done.lost.get(table)
    after = held(path)
    assert sorted(list(rows.values()) for rows in after.values()) == sorted(list(rows.values()) for rows in before.values())
    assert (findings(path), repair(path).copy) == ([], None)


def test_of_a_file_without_its_schema_the_readings_are_found_on_its_pages(path: Path) -> None:
    asked_for = ("SELECT * FROM readings ORDER BY id", "SELECT * FROM chapters ORDER BY id", "SELECT * FROM store ORDER BY key")
    with closing(sqlite3.connect(path)) as connection:
        before = [connection.execute(rows).fetchall() for rows in asked_for[:2]]
        lowest = connection.execute("SELECT value FROM store WHERE key = 'lowest_id'").fetchone()
    with path.open("r+b") as file:
        file.write(bytes(4096))
    assert repair(path).is_whole
    with closing(sqlite3.connect(path)) as connection:
        assert [connection.execute(rows).fetchall() for rows in asked_for[:2]] == before
        assert connection.execute("SELECT value FROM store WHERE key = 'lowest_id'").fetchone() == lowest


def test_the_number_of_a_deleted_conversation_is_not_given_again_after_a_repair(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.sessions.delete("older")  # the highest number of all
    change(path, "UPDATE messages SET digest = x'00' WHERE position = 20 AND conversation = 1")
    assert repair(path).findings == ()
    with closing(SqliteStore(path)) as store:
        store.sessions.create()
        assert store.imports.deleted("/older")
        assert store.admin.verify().is_clean


def test_a_file_of_the_first_schema_is_sound_and_can_be_repaired(path: Path) -> None:
    def first_schema() -> None:
        for statement in ("DROP TABLE IF EXISTS chapters", "DROP TABLE IF EXISTS readings", "PRAGMA user_version = 1"):
            change(path, statement)
        change(path, "DELETE FROM _sqlite_migrations WHERE name = 'm002_readings'")

    before = held(path)
    first_schema()
    done = repair(path)
    assert (done.copy, done.is_whole) == (None, True)
    change(path, "UPDATE messages SET digest = x'00' WHERE position = 20 AND conversation = 1")
    first_schema()
    done = repair(path)
    assert (done.cut, done.lost, done.is_whole) == ((), {}, True)
    assert held(path) == before
    with closing(SqliteStore(path)) as store:
        assert store.imports.readings() == {}


def recording(home: Path, name: str, *texts: str) -> str:
    """A session file with these texts, where the client keeps it."""
    file = home / "theirs" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return str(file)


def in_the_archive(home: Path, text: str) -> bool:
    return any(text.lower().encode() in file.read_bytes().lower() for file in home.glob(f"{FILE}*"))


def test_what_was_erased_does_not_come_back_by_a_second_import(tmp_path: Path) -> None:
    file = recording(tmp_path, "session-1.jsonl", f"The vault opens with {SECRET}")
    secret = f"The vault opens with {SECRET}, they say."
    entries = [Told("a", asked("go")), Told("b", asked(secret)), Told("c", answered("I see."))]
    about = {"title": f"The vault opens with {SECRET}…", "working_directory": "/src"}
    with closing(SqliteStore(tmp_path / FILE)) as store:
        fed(store, entries, file=file, about=about)
        store.search.catch_up()
        done = store.admin.forget(Forget(SECRET), apply=True)
        assert done.messages == ("session-1:2",)
        assert done.counts["session settings"] == 1
        assert [line for line in done.may_hold_copies if file in line] == [
            f"{file}: claude-code's own recording, from which it was imported, holds it"
        ]
        assert not in_the_archive(tmp_path, SECRET)
        for again, name in ((file, "session-1"), ("/copy", "session-1"), ("/resumed", "session-2")):
            (placed,) = fed(store, entries, file=again, name=name, about=about)
            assert placed.positions[1] is None
            assert placed.refused == {1: FORGOTTEN}
            (placed,) = fed(store, [Told("b", asked(f"{secret} And more."))], file=again, name=name, about={"title": f"about {SECRET}"})
            assert placed.refused == {0: FORGOTTEN} or name == "session-2"
            assert store.sessions.get(name).about["title"] == ERASED
        assert store.admin.verify().is_clean
    assert not in_the_archive(tmp_path, SECRET)


def test_of_an_erased_message_the_title_goes_too_where_it_is_a_piece_of_it(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / FILE)) as store:
        fed(
            store,
            [Told("a", asked("Please move the gateway to Lisbon tonight"))],
            about={"title": "Please move the gateway to…", "model": "m"},
        )
        fed(store, [Told("b", asked("hello"))])
        done = store.admin.forget(Forget(conversation="session-1", position=1), apply=True)
        assert done.counts["session settings"] == 1
        assert store.sessions.get("session-1").about == {"title": ERASED, "model": "m"}
        fed(store, [Told("c", asked("next"))], about={"title": "Please move the gateway to…", "model": "n"})
        assert store.sessions.get("session-1").about == {"title": ERASED, "model": "n"}


def test_an_answer_that_goes_on_growing_after_it_was_erased_is_refused(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / FILE)) as store:
        fed(store, [Told("a", asked("go")), Told("b", answered(f"It is {SECRET}"))])
        store.admin.forget(Forget(conversation="session-1", position=2), apply=True)
        (placed,) = fed(store, [Told("b", answered(f"It is {SECRET}, I am sure.")), Told("c", asked("thanks"))])
        assert (placed.positions, placed.refused) == ((None, 3), {0: FORGOTTEN})
        assert shown(store) == ["go", "thanks"]
    assert not in_the_archive(tmp_path, SECRET)


@pytest.mark.parametrize("file", ["session-1.jsonl", os.fsdecode(b"caf\xe9.jsonl")])
@pytest.mark.parametrize("apply", [True, False])
def test_the_clients_file_is_named_once_as_long_as_it_is_there(tmp_path: Path, file: str, apply: bool) -> None:
    path = recording(tmp_path, file, "in another spelling")
    spelled = path.encode("utf-8", "backslashreplace").decode()
    with closing(SqliteStore(tmp_path / FILE)) as store:
        for name in (path, "/gone.jsonl"):
            fed(store, [Told(name, asked(f"It is {SECRET}"))], file=name)
        fed(store, [Told("a", asked("something else"))], file=recording(tmp_path, "other", "else"), name="other")
        named = store.admin.forget(Forget(SECRET), apply=apply).may_hold_copies
        assert named == (f"{spelled}: claude-code's own recording, from which it was imported, may hold it",)


def test_history_that_is_imported_while_an_erasure_looks_is_erased_too(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / FILE)) as store, closing(SqliteStore(tmp_path / FILE)) as other:
        fed(store, [Told("a", asked(f"It is {SECRET}"))], file="/one", name="newer", history=True)

        def meanwhile(done: int, total: int, text: str) -> None:
            if other.imports.reading("/two") is None:
                fed(other, [Told("a", asked(f"So {SECRET} it was"))], file="/two", name="older", history=True)

        assert store.admin.forget(Forget(SECRET), apply=True, progress=meanwhile).messages == ("newer:1", "older:1")
    assert not in_the_archive(tmp_path, SECRET)


def test_a_deleted_session_leaves_no_word_of_it(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / FILE)) as store:
        fed(store, [Told("a", asked("go")), Told("kumquat-key", asked("the kumquat"))], about={"title": "kumquats"}, history=True)
        store.search.catch_up()
        store.sessions.delete("session-1")
        assert store.connection.rows("SELECT keys FROM chapters") == [("{}",)]
        store.admin.finish()
    assert b"kumquat" not in all_bytes(tmp_path)


REFUSING: dict[str, Callable[[SqliteStore], object]] = {
    "readings": lambda store: fed(store, [Told("n", asked("next"))]),
    "chapters": lambda store: fed(store, [Told("n", asked("next"))]),
    "messages": lambda store: fed(store, [Told("n", asked("next"))]),
    "views": lambda store: fed(store, [Told("n", asked("next"), compaction=True)]),
    "sessions": lambda store: fed(store, [Told("n", asked("next"))], about={"model": "n"}),
}


@pytest.mark.parametrize("table", REFUSING)
def test_a_keeping_that_fails_on_the_way_keeps_nothing(tmp_path: Path, table: str) -> None:
    with closing(SqliteStore(tmp_path / FILE)) as store:
        fed(store, [Told("a", asked("go"))], about={"model": "m"})
        before = (store.imports.reading(FILED), store.imports.recorded(FILED, "", "n"), shown(store))
        for verb in ("INSERT", "UPDATE"):
            store.connection.database.conn.execute(
                f"CREATE TEMP TRIGGER fails_{verb} BEFORE {verb} ON main.{table} BEGIN SELECT raise(ABORT, 'disk I/O error'); END"
            )
        with pytest.raises((sqlite3.Error, StoreUnavailable)):
            REFUSING[table](store)
        for verb in ("INSERT", "UPDATE"):
            store.connection.database.conn.execute(f"DROP TRIGGER fails_{verb}")
        assert (store.imports.reading(FILED), store.imports.recorded(FILED, "", "n"), shown(store)) == before
        REFUSING[table](store)
        assert store.admin.verify(prove=True).findings == ()
