"""What is not as it was remembered: damaged rows are read anew, and what another reader brought meanwhile is not brought twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from host.errors import Outrun
from host.store.readings import Chapter, Reading, Told
from host.store.sqlite.store import FILE, SqliteStore
from tests.recordings_for_tests import FILED, answered, asked, fed

KEPT = Reading(FILED, "claude-code", size=7, mtime=9, offset=2, line=1, check="c0ffee", state={"seen": 2})
ANEW = Reading(FILED, "claude-code", size=-1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / FILE, durability="normal")) as store:
        yield store


def change(store: SqliteStore, sql: str) -> None:
    with store.connection.writing() as writer:
        writer.execute(sql)


DAMAGED = {
    "a state that is no JSON": "UPDATE readings SET state = '{'",
    "a state that is no object": "UPDATE readings SET state = '[1]'",
    "a state of another shape": """UPDATE readings SET state = '{"seen": [[1]]}'""",
    "a state that is no text": "UPDATE readings SET state = x'ff00'",
    "a state that is no UTF-8": "UPDATE readings SET state = CAST(x'c328' AS TEXT)",
    "an offset below zero": "UPDATE readings SET offset = -5",
    "an offset that is another": "UPDATE readings SET offset = 1",
    "an offset that is none": "UPDATE readings SET offset = 'abc'",
    "a line that is none": "UPDATE readings SET line = x'00'",
    "a check that is none": "UPDATE readings SET mark = 5",
    "keys that are no JSON": "UPDATE chapters SET keys = '{'",
    "keys that are no object": "UPDATE chapters SET keys = '[1]'",
    "keys that are no text": "UPDATE chapters SET keys = x'ff00'",
    "a key that names no position": """UPDATE chapters SET keys = '{"a": "1"}'""",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_what_cannot_be_read_of_a_reading_is_read_anew(store: SqliteStore, damage: str) -> None:
    store.imports.keep(KEPT, [Chapter("", "session-1", [Told("a", asked("go")), Told("b", answered("done"))])], expected=0)
    assert store.imports.reading(FILED) == KEPT
    change(store, DAMAGED[damage])
    assert store.imports.reading(FILED) == ANEW
    assert store.imports.recorded(FILED, "", "b") in (answered("done"), None)
    with pytest.raises(Outrun):
        store.imports.keep(KEPT, [], expected=2)
    again = [Told("a", asked("go")), Told("c", asked("on"))]
    store.imports.keep(KEPT, [Chapter("", "session-1", again)], expected=0)
    assert store.imports.reading(FILED) == KEPT
    assert store.imports.recorded(FILED, "", "c") == asked("on")
    assert store.admin.verify().is_clean


STAMPS = {
    "size": ("UPDATE readings SET size = 'x'", {FILED: (-1, 0)}),
    "time": ("UPDATE readings SET mtime = x'00'", {FILED: (-1, 0)}),
    "file": ("UPDATE readings SET file = CAST(x'c328' AS TEXT)", {"\ufffd(": (7, 9)}),
}


@pytest.mark.parametrize("what", STAMPS)
def test_of_a_file_whose_size_cannot_be_read_all_is_new(store: SqliteStore, what: str) -> None:
    store.imports.keep(KEPT, [], expected=0)
    sql, known = STAMPS[what]
    change(store, sql)
    assert store.imports.readings() == known


@pytest.mark.parametrize("about", ["'{'", "'[]'", "x'ff00'", "7"])
def test_facts_that_cannot_be_read_are_told_again(store: SqliteStore, about: str) -> None:
    fed(store, [Told("a", asked("go"))], about={"model": "m", "title": "t"})
    change(store, f"UPDATE sessions SET about = {about}")
    assert store.sessions.get("session-1").about == {}
    fed(store, [Told("b", asked("on"))], about={"model": "n"})
    assert store.sessions.get("session-1").about == {"model": "n"}


def test_without_its_session_a_conversation_goes_on(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go"))])
    change(store, "DELETE FROM segments")
    change(store, "DELETE FROM sessions")
    store.imports.keep(
        Reading(FILED, "claude-code", offset=3), [Chapter("", "session-1", [Told("b", asked("on"))], {"model": "m"})], expected=1
    )
    assert store.connection.value("SELECT count(*) FROM messages") == 2


MEANWHILE: dict[str, tuple[Chapter, Callable[[SqliteStore], object]]] = {
    "another copy of the session was read": (
        Chapter("", "session-1", [Told("a", asked("go"))]),
        lambda other: fed(other, [Told("a", asked("go"))], file="/copy"),
    ),
    "the session was deleted": (
        Chapter("", "other", [Told("a", asked("go"))], conversation="other", after=1),
        lambda other: other.sessions.delete("other"),
    ),
    "the session went on": (
        Chapter("", "other", [Told("a", asked("go"))], conversation="other", after=1),
        lambda other: fed(other, [Told("b", asked("on"))], file="/other", name="other"),
    ),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_where_the_archive_is_not_as_it_was_found_nothing_is_kept(tmp_path: Path, store: SqliteStore, what: str) -> None:
    chapter, meanwhile = MEANWHILE[what]
    fed(store, [Told("a", asked("go"))], file="/other", name="other")
    with closing(SqliteStore(tmp_path / FILE)) as other:
        meanwhile(other)
    rows = store.connection.value("SELECT count(*) FROM messages")
    with pytest.raises(Outrun):
        store.imports.keep(Reading(FILED, "claude-code", offset=1), [chapter], expected=0)
    assert store.connection.value("SELECT count(*) FROM messages") == rows
    assert store.imports.reading(FILED) is None


def test_a_session_of_that_name_of_another_client_is_in_nobodys_way(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go"))], client="codex", file="/codex")
    (placed,) = store.imports.keep(
        Reading(FILED, "claude-code", offset=1), [Chapter("", "session-1", [Told("a", asked("go"))])], expected=0
    )
    assert placed.is_new and placed.conversation != "session-1"
