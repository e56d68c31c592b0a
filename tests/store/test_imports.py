"""What ``keep`` promises of recordings of other clients."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database

from host import Host
from host.errors import Outrun
from host.messages.ledger import Kind
from host.messages.types import Message, ToolCall
from host.messages.violations import violations
from host.store.query import Query
from host.store.readings import KEYS, Chapter, Entry, Placed, Reading, Recognised, Returned, Told
from host.store.sqlite.imports import DELETED
from host.store.sqlite.schema import APPLICATION_ID, FIRST_ID, SCHEMA, migrations
from host.store.sqlite.store import FILE, SqliteStore
from tests.recordings_for_tests import FILED, answered, asked, fed, shown

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / FILE, durability="normal")) as store:
        yield store


def ids(store: SqliteStore, conversation: str) -> list[int]:
    return [row.id for row in store.archive(conversation).rows()]


def test_messages_get_dense_positions_their_own_times_and_the_clients_own_name(store: SqliteStore) -> None:
    entries = [Told(f"k{n}", asked(f"message {n}"), START + timedelta(minutes=n)) for n in range(5)]
    (placed,) = fed(store, entries, about={"session": "session-1", "working_directory": "/src/here", "model": "m"})
    assert placed == Placed("", "session-1", (1, 2, 3, 4, 5), {}, is_new=True)
    rows = list(store.archive("session-1").rows())
    assert [(row.position, row.message, row.time) for row in rows] == [(n + 1, e.message, e.time) for n, e in enumerate(entries)]
    session = store.sessions.get("session-1")
    assert (session.source, session.started, session.title) == ("claude-code", START, None)
    assert session.about == {"session": "session-1", "working_directory": "/src/here", "model": "m"}
    assert store.views("session-1").current() is None
    assert [hit.position for hit in store.search.find(Query("message 3")).hits] == [4]


def test_growth_goes_on_where_it_was_left(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("one"))])
    (placed,) = fed(store, [Told("b", answered("two"))])
    assert (placed.positions, placed.is_new) == ((2,), False)
    assert store.imports.reading(FILED) == Reading(FILED, "claude-code", offset=2, state={"seen": 2})
    assert store.imports.readings() == {FILED: (0, 0)}
    assert (store.imports.conversation(FILED, ""), store.imports.conversation(FILED, "x")) == ("session-1", None)


def test_a_key_said_again_is_a_new_version_and_the_same_content_is_none(store: SqliteStore) -> None:
    said = [Told("a", asked("go")), Told("b", answered("I")), Told("b", answered("I see")), Told("b", answered("I see"))]
    (placed,) = fed(store, said)
    assert placed.positions == (1, 2, 2, 2)
    (placed,) = fed(store, [Told("b", answered("I see")), Told("c", asked("and?")), Told("b", answered("I see it all"))])
    assert placed.positions == (2, 4, 2)
    assert [(row.position, row.place, row.superseded) for row in store.archive("session-1").rows()] == [
        (1, 1, False),
        (2, 2, True),
        (3, 2, True),
        (4, 4, False),
        (5, 2, False),
    ]
    assert store.imports.recorded(FILED, "", "b") == answered("I see it all")
    assert [store.imports.recorded(*asked_for) for asked_for in ((FILED, "", "z"), (FILED, "x", "b"), ("/no", "", "b"))] == [None] * 3
    assert shown(store) == ["go", "I see it all", "and?"]


def test_a_compaction_is_a_row_and_a_view_that_covers_what_was_before(store: SqliteStore) -> None:
    said = [Told("a", asked("go")), Told("b", answered("done")), Told("s", asked("All was done."), START, compaction=True)]
    (placed,) = fed(store, [*said, Told("c", asked("next"))])
    assert placed.positions == (1, 2, 3, 4)
    view = store.views("session-1").current()
    assert view is not None
    assert (view.version, view.engine, view.trigger, view.time, view.upto) == (1, "claude-code", "import", START, 3)
    assert [(entry.row, entry.kind, entry.covers) for entry in view.ledger] == [(3, Kind.SUMMARY, (range(1, 3),))]
    assert shown(store) == ["All was done.", "next"]
    assert [hit.position for hit in store.search.find(Query("All was done")).hits] == [3]
    (proof,) = store.admin.verify(prove=True).proofs
    assert (proof.covered, proof.shown, proof.not_represented) == ((range(1, 4),), (range(4, 5),), ())


def test_two_compactions_keep_the_instructions_at_the_beginning_and_one_said_again_is_one(store: SqliteStore) -> None:
    system: Message = {"role": "system", "content": "Be careful."}
    said = [Told("i", system), Told("a", asked("go")), Told("s", asked("First."), compaction=True), Told("b", asked("on"))]
    fed(store, [*said, Told("t", asked("Second."), compaction=True), Told("c", asked("next"))])
    fed(store, [Told("t", asked("Second."), compaction=True)])
    history = store.views("session-1").history()
    assert [[(entry.row, entry.covers) for entry in view.ledger] for view in history] == [
        [(1, ()), (3, (range(2, 3),))],
        [(1, ()), (5, (range(2, 5),))],
    ]
    assert shown(store) == ["Be careful.", "Second.", "next"]
    assert store.admin.verify(prove=True).findings == ()


def test_a_compaction_that_is_the_first_message_covers_nothing(store: SqliteStore) -> None:
    fed(store, [Told("s", asked("What was before."), compaction=True), Told("a", asked("go"))])
    assert shown(store) == ["What was before.", "go"]
    assert store.admin.verify(prove=True).findings == ()


def test_a_summary_that_grew_covers_what_it_covered(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go")), Told("s", asked("All"), compaction=True), Told("b", asked("next"))])
    fed(store, [Told("s", asked("All was done."), compaction=True), Told("c", asked("and on"))])
    assert shown(store) == ["All was done.", "next", "and on"]
    assert store.admin.verify(prove=True).findings == ()


TAKEN_BACK: dict[str, tuple[list[Entry], list[str]]] = {
    "the last prompt": (
        [Told("a", asked("go")), Told("b", answered("done")), Told("c", asked("oh")), Returned("b"), Told("d", asked("well"))],
        ["go", "done", "well"],
    ),
    "everything": ([Told("a", asked("go")), Told("b", answered("done")), Returned(None), Told("d", asked("well"))], ["well"]),
    "what nobody said": ([Told("a", asked("go")), Returned("z")], ["go"]),
    "what a summary stands for": (
        [Told("a", asked("go")), Told("b", asked("on")), Told("s", asked("All."), compaction=True), Returned("a")],
        ["go"],
    ),
    "what came after a compaction": (
        [Told("a", asked("go")), Told("s", asked("All."), compaction=True), Told("b", asked("oh")), Returned("s")],
        ["All."],
    ),
    "a compaction": (
        [
            *(Told("a", asked("go")), Told("b", asked("on")), Told("s", asked("All."), compaction=True)),
            *(Told("c", asked("x")), Returned("b")),
        ],
        ["go", "on"],
    ),
    "the second of two compactions": (
        [
            *(Told("a", asked("go")), Told("s", asked("All."), compaction=True), Told("b", asked("on"))),
            *(Told("t", asked("More."), compaction=True), Returned("b"), Told("c", asked("next"))),
        ],
        ["All.", "on", "next"],
    ),
    "twice": (
        [
            (Told(key, message) if message else Returned(key))
            for key, message in (("a", asked("go")), ("b", asked("x")), ("a", None), ("c", asked("y")), ("d", asked("z")), ("a", None))
        ],
        ["go"],
    ),
    "what came after an answer that grew later": (
        [
            *(Told("a", answered("I")), Told("b", asked("x")), Returned("a")),
            *(Told("a", answered("I see")), Told("c", asked("y")), Returned("a")),
        ],
        ["I see"],
    ),
    "a branch, and taken up again": (
        [
            *(Told("a", asked("go")), Told("b", asked("one way")), Told("c", answered("done")), Returned("a")),
            *(Told("d", asked("other way")), Returned("c"), Told("e", asked("on"))),
        ],
        ["go", "one way", "done", "on"],
    ),
    "a branch that was taken up again, for the other one": (
        [
            *(Told("a", asked("go")), Told("b", asked("one way")), Returned("a"), Told("d", asked("other way"))),
            *(Returned("b"), Told("e", asked("on")), Returned("d"), Told("f", asked("so"))),
        ],
        ["go", "other way", "so"],
    ),
}


@pytest.mark.parametrize("what", TAKEN_BACK)
@pytest.mark.parametrize("at_once", [True, False])
def test_what_was_taken_back_leaves_the_window_and_stays_in_the_archive(store: SqliteStore, what: str, at_once: bool) -> None:
    entries, window = TAKEN_BACK[what]
    for portion in [entries] if at_once else [[entry] for entry in entries]:
        fed(store, portion)
    assert shown(store) == window
    rows = [row.message for row in store.archive("session-1").rows()]
    assert rows == [entry.message for entry in entries if isinstance(entry, Told)]
    assert store.admin.verify(prove=True).findings == ()


def test_each_way_that_was_left_is_a_version_of_the_window(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go")), Told("b", answered("done"))])
    tries: list[Entry] = [entry for n in range(20) for entry in (Told(f"t{n}", asked(f"try {n}")), Returned("b"))]
    fed(store, [*tries, Told("c", asked("well"))])
    assert shown(store) == ["go", "done", "well"]
    history = store.views("session-1").history()
    assert [(view.version, view.upto, len(view.ledger)) for view in history] == [(n, n + 2, 2) for n in range(1, 21)]
    fed(store, [Returned("b"), Told("s", asked("All."), compaction=True), Told("d", asked("x")), Returned("s"), Told("e", asked("y"))])
    assert shown(store) == ["All.", "y"]
    assert store.admin.verify(prove=True).findings == ()


def test_who_is_at_a_message_does_not_go_back_to_it(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go")), Told("b", answered("done")), Returned("b"), Told("c", asked("on")), Returned("c")])
    assert shown(store) == ["go", "done", "on"] and store.views("session-1").history() == []


def test_a_place_that_is_archived_already_gets_its_key_and_no_row(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go")), Told("b", answered("I")), Told("b", answered("I see"))])
    again = [Recognised("x", 1), Recognised("y", 3), Recognised("z", 99)]
    (placed,) = fed(store, [*again, Told("y", answered("I see"))], file="/copy")
    assert placed == Placed("", "session-1", (1, 2, None, 2))
    assert fed(store, [Told("y", answered("I see more"))], file="/copy")[0].positions == (2,)
    assert [(row.position, row.place) for row in store.archive("session-1").rows()] == [(1, 1), (2, 2), (3, 2), (4, 2)]


def test_a_reader_that_was_outrun_keeps_nothing(tmp_path: Path, store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go"))])
    chapter = Chapter("", "session-1", [Told("b", asked("on"))])
    with closing(SqliteStore(tmp_path / FILE)) as other:
        other.imports.keep(Reading(FILED, "claude-code", offset=7), [chapter], expected=1)
    for expected in (0, 1, 8):
        with pytest.raises(Outrun):
            store.imports.keep(Reading(FILED, "claude-code", offset=9), [chapter], expected=expected)
    assert shown(store) == ["go", "on"]
    reading = store.imports.reading(FILED)
    assert reading is not None and reading.offset == 7
    with pytest.raises(Outrun):
        store.imports.keep(Reading("/unknown", "claude-code", offset=9), [chapter], expected=3)
    assert store.imports.reading("/unknown") is None


def test_two_handles_take_turns_on_one_recording(tmp_path: Path, store: SqliteStore) -> None:
    with closing(SqliteStore(tmp_path / FILE)) as other:
        for number in range(6):
            (placed,) = fed((store, other)[number % 2], [Told(f"k{number}", asked(f"message {number}"))])
            assert placed.positions == (number + 1,)
    assert store.admin.verify().is_clean


def test_history_lies_below_newest_session_first_and_growth_above_all(store: SqliteStore) -> None:
    live = store.sessions.create().conversation
    store.archive(live).append(asked("live"))
    for age, (name, count) in enumerate((("newest", 3), ("middle", 2), ("oldest", 2))):
        said = START - timedelta(days=age)
        fed(store, [Told(f"{n}", asked(f"{name} needle {n}"), said) for n in range(count)], file=f"/{name}", name=name, history=True)
    assert ids(store, live) == [FIRST_ID + 1]
    assert ids(store, "newest") == [FIRST_ID - 2, FIRST_ID - 1, FIRST_ID]
    assert ids(store, "middle") == [FIRST_ID - 4, FIRST_ID - 3]
    assert ids(store, "oldest") == [FIRST_ID - 6, FIRST_ID - 5]
    fed(store, [Told("9", asked("oldest needle 9"))], file="/oldest", name="oldest", history=True)
    fed(store, [Told("1", asked("new needle"))], file="/new", name="fresh")
    assert (ids(store, "oldest")[-1], ids(store, "fresh")) == (FIRST_ID + 2, [FIRST_ID + 3])
    assert [session.id for session in store.sessions.listed()] == ["fresh", "oldest", live, "newest", "middle"]
    found = [hit.conversation for hit in store.search.find(Query("needle")).hits]
    assert found == ["fresh", "oldest", *["newest"] * 3, *["middle"] * 2, *["oldest"] * 2]
    assert store.admin.verify().is_clean


def test_an_id_of_history_is_never_given_twice(store: SqliteStore) -> None:
    for name in ("newer", "older"):
        fed(store, [Told("a", asked(name)), Told("b", asked("x"))], file=f"/{name}", name=name, history=True)
    given = {name: ids(store, name) for name in ("newer", "older")}
    for name in ("older", "newer"):
        store.sessions.delete(name)
    fed(store, [Told("a", asked("more"))], file="/more", name="more", history=True)
    assert ids(store, "more") == [min(given["older"]) - 1]
    assert store.admin.verify().is_clean


def test_where_there_is_no_room_below_history_comes_behind(store: SqliteStore) -> None:
    with store.connection.writing() as writer:
        writer.execute("INSERT INTO store (key, value) VALUES ('lowest_id', 2)")
    fed(store, [Told("a", asked("one")), Told("b", asked("two"))], history=True)
    assert ids(store, "session-1") == [FIRST_ID + 1, FIRST_ID + 2]


def test_a_chapter_without_messages_gives_no_ids(store: SqliteStore) -> None:
    fed(store, [], about={"title": "nothing yet"}, history=True)
    assert store.connection.value("SELECT count(*) FROM store WHERE key = 'lowest_id'") == 0
    assert store.sessions.get("session-1").about["title"] == "nothing yet"


def test_the_chains_of_a_file_are_conversations_of_their_own(store: SqliteStore) -> None:
    chapters = [
        Chapter("", "session-1", [Told("a", asked("go"))]),
        Chapter("side", "agent-7", [Told("a", asked("look")), Told("b", answered("seen"))], {"side_chain_of": "session-1"}),
    ]
    placed = store.imports.keep(Reading(FILED, "claude-code", offset=1), chapters, expected=0, history=True)
    assert [(each.chain, each.conversation, each.positions) for each in placed] == [("", "session-1", (1,)), ("side", "agent-7", (1, 2))]
    assert store.sessions.get("agent-7").about == {"side_chain_of": "session-1"}
    assert (ids(store, "session-1"), ids(store, "agent-7")) == ([FIRST_ID], [FIRST_ID - 2, FIRST_ID - 1])


def test_another_file_of_the_session_goes_on_with_it(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("one"))], about={"working_directory": "/src", "file": "/first", "model": "old"})
    (placed,) = fed(store, [Told("b", asked("two"))], file="/copy", about={"working_directory": "/else", "file": "/copy", "model": "new"})
    assert placed == Placed("", "session-1", (2,))
    assert store.sessions.get("session-1").about == {"working_directory": "/src", "file": "/first", "model": "new"}


ODD = ("", "abc", "a b c d", "-abcd", "../etc", "x" * 101, "säge", "a\udce9bcd", "a\x00bcd")


@pytest.mark.parametrize("name", ["live", "other-client", *ODD])
def test_a_name_that_is_taken_or_odd_gives_a_new_one(store: SqliteStore, name: str) -> None:
    live = store.sessions.create().conversation
    name = live if name == "live" else name
    fed(store, [Told("a", asked("x"))], file="/theirs", name="other-client", client="codex")
    (placed,) = fed(store, [Told("a", asked("go"))], name=name)
    assert placed.is_new and placed.conversation not in (name, live, "other-client")
    assert store.imports.conversation(FILED, "") == placed.conversation
    assert fed(store, [Told("b", asked("on"))], name=name)[0].positions == (2,)


def test_what_cannot_be_kept_is_left_out_and_named(store: SqliteStore) -> None:
    odd: Message = {"role": "user", "content": {1, 2}}  # type: ignore[typeddict-item]
    (placed,) = fed(store, [Told("a", asked("go")), Told("b", odd), Told("c", asked("on"))], history=True)
    assert placed.positions == (1, None, 2)
    assert list(placed.refused) == [1] and "cannot be kept" in placed.refused[1]
    assert store.connection.value("SELECT count(*) FROM quarantine") == 1
    assert store.admin.verify().is_clean


@pytest.mark.parametrize("content", ["a lone \udc81 surrogate", "a NUL \x00 in it", None, "x" * 100_000, [{"type": "odd", "n": 1}]])
def test_odd_content_comes_back_as_it_was(store: SqliteStore, content: object) -> None:
    message: Message = {"role": "user", "content": content, "unknown": {"a": [1.5, None]}}  # type: ignore[typeddict-item,typeddict-unknown-key]
    fed(store, [Told("k\udc81\x00", message)], about={"title": "\udc81"})
    assert store.archive("session-1").read(1, 1) == [message]
    assert fed(store, [Told("k\udc81\x00", message)])[0].positions == (1,)
    assert store.imports.recorded(FILED, "", "k\udc81\x00") == message


@pytest.mark.parametrize(
    ("title", "told"), [("port to Lisbon", "port to Lisbon"), ("a \udc81 byte", "a \udc81 byte"), (7, None), ("", None)]
)
def test_a_hit_tells_the_recorded_title(store: SqliteStore, title: object, told: str | None) -> None:
    fed(store, [Told("a", asked("the needle"))], about={"title": title})
    (hit,) = store.search.find(Query("needle")).hits
    assert (hit.title or None) == told


def test_file_names_and_chains_that_are_no_utf8_are_told_apart(store: SqliteStore) -> None:
    files = [os.fsdecode(b"/caf\xe9.jsonl"), os.fsdecode(b"/caf\xe8.jsonl")]
    chains = ["c\udc80", "c\udc81"]
    for number, file in enumerate(files):
        fed(store, [Told("a", asked(f"of {number}"))], file=file, chain=chains[number], name=f"name{number}")
    assert [store.imports.conversation(file, chain) for file, chain in zip(files, chains, strict=True)] == ["name0", "name1"]
    assert [reading.file for file in files if (reading := store.imports.reading(file))] == files
    assert fed(store, [Told("b", asked("on"))], file=files[0], chain="c\udc80", name="name0")[0].positions == (2,)


def test_the_newest_keys_are_known_and_older_ones_are_not(store: SqliteStore) -> None:
    fed(store, [Told(f"k{n}", asked(f"message {n}")) for n in range(KEYS + 5)])
    assert [store.imports.recorded(FILED, "", f"k{n}") for n in (4, 5)] == [None, asked("message 5")]
    (placed,) = fed(store, [Told("k5", asked("message 5, mended")), Told("k4", asked("message 4"))])
    assert placed.positions == (6, KEYS + 7)


def test_an_imported_compaction_can_be_undone(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go")), Told("s", asked("All."), compaction=True), Told("b", asked("next"))])
    views = store.views("session-1")
    assert views.undo(expected=1).undoes == 1
    assert shown(store) == ["go", "All.", "next"]
    assert store.admin.verify(prove=True).findings == ()


def test_a_conversation_goes_on_with_an_imported_session(tmp_path: Path) -> None:
    call: ToolCall = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    entries = [
        Told("a", asked("go")),
        Told("s", asked("All was done."), compaction=True),
        Told("b", asked("list it")),
        Told("c", {"role": "assistant", "content": None, "tool_calls": [call]}),
    ]
    with closing(SqliteStore(tmp_path / FILE)) as store:
        fed(store, entries)
    (tmp_path / "config.yaml").write_text("context: {engine: compressor}\n")
    with Host(home=tmp_path, warn=lambda text: None) as host:
        talk = host.conversation("session-1", window=100_000)
        assert violations(talk.window()) == []
        assert talk.add({"role": "tool", "tool_call_id": "c1", "content": "gateway.log"}) == 5
        talk.add(answered("One file."))
        window = talk.window()
        assert [message["content"] for message in window] == ["All was done.", "list it", None, "gateway.log", "One file."]
        assert violations(window) == []
    with closing(SqliteStore(tmp_path / FILE)) as store:  # and the client goes on with it too
        assert fed(store, [Told("d", asked("thanks"))])[0].positions == (7,)
        assert store.admin.verify(prove=True).findings == ()


def test_what_was_deleted_is_not_imported_again(store: SqliteStore) -> None:
    about = {"session": "session-1"}
    fed(store, [Told("a", asked("go")), Told("b", asked("on"))], about=about, history=True)
    assert not store.imports.deleted(FILED)
    store.sessions.delete("session-1")
    assert (store.imports.deleted(FILED), store.imports.conversation(FILED, "")) == (True, None)
    assert store.imports.recorded(FILED, "", "a") is None
    nowhere = Placed("", "", (None,), {0: DELETED})
    assert fed(store, [Told("c", asked("more"))], about=about) == [nowhere]
    assert fed(store, [Told("a", asked("go"))], file="/copy", about=about) == [nowhere]
    assert (store.imports.deleted("/copy"), store.imports.deleted("/unknown")) == (True, False)
    assert store.sessions.listed() == []
    assert store.admin.verify().is_clean


def test_a_name_that_is_no_clients_id_may_come_again_after_it_was_deleted(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go"))], name="export-1")
    store.sessions.delete("export-1")
    assert fed(store, [Told("a", asked("another"))], file="/another", name="export-1")[0].conversation == "export-1"


def test_expired_history_is_not_imported_again(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go"), START)], history=True)
    assert store.admin.expire(timedelta(days=30), apply=True).conversations == ("session-1",)
    assert store.imports.deleted(FILED)
    assert fed(store, [Told("a", asked("go"), START)])[0].refused == {0: DELETED}
    assert store.admin.verify().is_clean


def test_a_file_of_the_first_schema_is_brought_to_this_one(tmp_path: Path) -> None:
    path = tmp_path / FILE
    old = Database(path, execute_plugins=False)
    old.conn.isolation_level = None
    migrations.apply(old, stop_before="m002_readings")
    old.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.conn.execute("PRAGMA user_version = 1")
    old.conn.execute("INSERT INTO conversations (name, created) VALUES ('old', 0)")
    old.conn.execute("INSERT INTO sessions (name, conversation, started) VALUES ('old', 1, 0)")
    old.conn.execute("INSERT INTO segments (conversation, first, session) VALUES (1, 1, 1)")
    assert not {"readings", "chapters"} & set(old.table_names())
    old.conn.close()
    with closing(SqliteStore(path)) as store:
        assert store.archive("old").append(asked("kept")) == 1
        fed(store, [Told("a", asked("go"))], history=True)
        assert store.connection.value("PRAGMA user_version") == SCHEMA
        assert store.admin.verify(prove=True).findings == ()


SAID = st.one_of(
    st.tuples(st.just("say"), st.integers(0, 5), st.sampled_from(["x", "y", "z"])),
    st.tuples(st.just("compact"), st.integers(6, 8), st.sampled_from(["all", "more"])),
    st.tuples(st.just("take back"), st.integers(0, 5), st.just("")),
)
Script = list[tuple[str, int, str]]
CHAPTERS = st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.lists(SAID, max_size=6)), max_size=6)


class Model:
    """One conversation as a plain list: per place its key and the contents of all versions."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.places: dict[str, int] = {}
        self.newest: dict[int, str] = {}

    def say(self, key: str, content: str) -> int:
        place = self.places.get(key)
        if place is not None and self.newest[place] == content:
            return place
        self.rows.append(content)
        place = self.places.setdefault(key, len(self.rows))
        self.newest[place] = content
        return place


@given(CHAPTERS)
def test_any_chapters_are_kept_as_a_plain_list_keeps_them(
    tmp_path_factory: pytest.TempPathFactory, chapters: Sequence[tuple[int, bool, Script]]
) -> None:
    models = [Model(), Model(), Model()]
    with closing(SqliteStore(tmp_path_factory.mktemp("home") / FILE, durability="normal")) as store:
        for of, history, told in chapters:
            entries: list[Entry] = [
                Returned(f"k{key}") if verb == "take back" else Told(f"k{key}", asked(content), compaction=verb == "compact")
                for verb, key, content in told
            ]
            (placed,) = fed(store, entries, file=f"/{of}", name=f"name{of}", history=history)
            wanted = [None if verb == "take back" else models[of].say(f"k{key}", content) for verb, key, content in told]
            assert list(placed.positions) == wanted
        for of, model in enumerate(models):
            if store.imports.conversation(f"/{of}", "") is None:
                continue
            rows = list(store.archive(f"name{of}").rows())
            assert [row.message for row in rows] == [asked(content) for content in model.rows]
            assert {row.place: row.message for row in rows} == {place: asked(content) for place, content in model.newest.items()}
            assert [row.id for row in rows] == sorted({row.id for row in rows})
        assert store.admin.verify(prove=True).findings == ()


@given(st.lists(SAID, max_size=12))
def test_the_window_is_the_same_whether_entries_are_kept_at_once_or_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, script: Script
) -> None:
    entries: list[Entry] = [
        Returned(f"k{key}") if verb == "take back" else Told(f"k{key}", asked(content), compaction=verb == "compact")
        for verb, key, content in script
    ]
    with closing(SqliteStore(tmp_path_factory.mktemp("home") / FILE, durability="normal")) as store:
        fed(store, [Told("first", asked("go")), *entries], file="/at-once", name="at-once")
        for entry in [Told("first", asked("go")), *entries]:
            fed(store, [entry], file="/one-by-one", name="one-by-one")
        assert shown(store, "at-once") == shown(store, "one-by-one")
        assert store.admin.verify(prove=True).findings == ()
