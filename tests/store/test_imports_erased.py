"""What was erased of imported history does not come back in pieces, as a title, or as a digest that can be guessed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest

from host.messages.types import JSON
from host.store.care import Forget
from host.store.kept import ERASED
from host.store.readings import FORGOTTEN, Chapter, Entry, Reading, Returned, Told
from host.store.sqlite.store import FILE, SqliteStore
from tests.recordings_for_tests import FILED, answered, asked, fed, shown
from tests.stores_for_tests import SECRET, all_bytes

PROMPT, ANSWER = (str(uuid5(NAMESPACE_URL, name)) for name in ("prompt", "answer"))
FIRST, WHOLE = f"It is {SECRET}", f"It is {SECRET}, as I said."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / FILE, durability="normal")) as store:
        yield store


def erase(store: SqliteStore, *, key: str = ANSWER, client: str = "claude-code", about: JSON | None = None) -> None:
    """A session with a secret in an answer that came in pieces, of which it was erased."""
    fed(store, [Told(PROMPT, asked("go")), Told(key, answered(WHOLE))], client=client, about=about)
    assert store.admin.forget(Forget(SECRET), apply=True).messages == ("session-1:2",)


def is_in_file(store: SqliteStore, text: str) -> bool:
    store.admin.finish()
    return text.lower().encode() in all_bytes(store.path.parent).lower()


@pytest.mark.parametrize("key", [ANSWER, f"{ANSWER}#2"])
def test_a_copy_that_grows_brings_no_piece_of_an_erased_answer(store: SqliteStore, key: str) -> None:
    erase(store, key=key)
    (placed,) = fed(store, [Told(PROMPT, asked("go")), Told(key, answered(FIRST))], file="/copy", name="session-2")
    assert (placed.positions, placed.refused) == ((1, None), {1: FORGOTTEN})
    (placed,) = fed(store, [Told(key, answered(WHOLE)), Told("next", asked("and?"))], file="/copy", name="session-2")
    assert (placed.positions, placed.refused) == ((None, 2), {0: FORGOTTEN})
    assert shown(store, "session-2") == ["go", "and?"]
    assert not is_in_file(store, SECRET)


@pytest.mark.parametrize("file", [FILED, "/copy"])
def test_the_reader_of_an_erased_answer_is_told_of_it_so_that_the_next_piece_is_not_another_message(store: SqliteStore, file: str) -> None:
    erase(store)
    fed(store, [Told(ANSWER, answered(FIRST))], file=file, name="session-1" if file == FILED else "session-2")
    assert store.imports.recorded(file, "", ANSWER) == {"role": "assistant", "content": ERASED}


@pytest.mark.parametrize(("client", "key"), [("codex", ANSWER), ("claude-code", "line 7")])
def test_a_key_counts_among_the_recordings_of_its_client_and_where_no_other_message_can_have_it(
    store: SqliteStore, client: str, key: str
) -> None:
    erase(store, key=key)
    (placed,) = fed(store, [Told(key, answered("Something else."))], file="/else", name="session-2", client=client)
    assert placed.positions == (1,)


def test_a_message_that_was_not_erased_keeps_its_key(store: SqliteStore) -> None:
    erase(store)
    (placed,) = fed(store, [Told(PROMPT, asked("go on"))], file="/copy", name="session-2")
    assert placed.refused == {}


def test_no_key_of_an_erased_message_is_told_by_its_receipt(store: SqliteStore) -> None:
    erase(store)
    assert ANSWER not in store.connection.value("SELECT group_concat(receipt) FROM receipts")


TITLES: dict[str, tuple[JSON, JSON, object]] = {
    "a piece of it": ({}, {"title": FIRST}, None),
    "a piece that was there": ({"title": FIRST}, {"title": "harmless"}, ERASED),
    "a harmless one that was there": ({"title": "harmless"}, {"title": FIRST}, "harmless"),
}


@pytest.mark.parametrize("what", TITLES)
def test_no_title_is_taken_where_something_was_erased(store: SqliteStore, what: str) -> None:
    before, told, title = TITLES[what]
    erase(store, about=before)
    fed(store, [Told("next", asked("and?"))], about={**told, "model": "n"})
    assert store.sessions.get("session-1").about == {"model": "n", **({"title": title} if title else {})}


@pytest.mark.parametrize("at_once", [True, False])
def test_a_copy_of_what_was_erased_gets_no_title(store: SqliteStore, at_once: bool) -> None:
    erase(store)
    copied: list[Entry] = [Told("a", asked("go")), Told(ANSWER, answered(FIRST))]
    portions: Sequence[tuple[list[Entry], JSON]] = [(copied, {"title": FIRST})] if at_once else [(copied, {}), ([], {"title": FIRST})]
    for entries, about in portions:
        fed(store, entries, file="/copy", name="session-2", about=about)
    assert store.sessions.get("session-2").about == {"title": ERASED}


def test_what_a_reader_remembers_of_a_conversation_goes_with_a_message_of_it_and_it_reads_on(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go"))], file="/else", name="session-2")
    fed(store, [Told("a", asked("go")), Told(ANSWER, answered(WHOLE))])
    before = store.imports.reading(FILED)
    planned = store.admin.forget(Forget(conversation="session-1", position=2), apply=False)
    done = store.admin.forget(Forget(conversation="session-1", position=2), apply=True)
    assert planned.counts["import notes"] == done.counts["import notes"] == 1
    assert before == Reading(FILED, "claude-code", offset=2, state={"seen": 2})
    assert store.imports.reading(FILED) == Reading(FILED, "claude-code", offset=2)
    assert store.imports.reading("/else") == Reading("/else", "claude-code", offset=1, state={"seen": 1})
    assert fed(store, [Told("b", asked("on"))])[0].positions == (3,)
    assert store.admin.verify().is_clean


def test_notes_of_an_import_that_hold_it_are_cleaned(store: SqliteStore) -> None:
    noted = Reading(FILED, "claude-code", offset=2, state={"last": f"x {SECRET}"})
    elsewhere = Reading("/else", "claude-code", offset=2, state={"last": f"x {SECRET}"})
    store.imports.keep(noted, [Chapter("", "session-1", [Told(f"key-{SECRET}", asked(f"It is {SECRET}"))])], expected=0)
    store.imports.keep(elsewhere, [Chapter("", "session-2", [Told("a", asked("go"))])], expected=0)
    assert store.admin.forget(Forget(SECRET), apply=True).counts["import notes"] == 3
    assert store.imports.reading(FILED) == Reading(FILED, "claude-code", offset=2)
    assert store.imports.reading("/else") == Reading("/else", "claude-code", offset=2)
    assert store.admin.verify().is_clean
    assert not is_in_file(store, SECRET)


def test_a_damaged_reading_is_read_anew_after_an_erasure_too(store: SqliteStore) -> None:
    fed(store, [Told("a", asked("go")), Told(ANSWER, answered(WHOLE))])
    with store.connection.writing() as writer:
        writer.execute("UPDATE readings SET offset = 1")
    store.admin.forget(Forget(SECRET), apply=True)
    assert store.imports.reading(FILED) == Reading(FILED, "claude-code", size=-1)


def test_what_a_reader_remembers_goes_with_the_last_conversation_of_its_file(store: SqliteStore) -> None:
    chapters = [Chapter("", "session-1", [Told("a", asked("go"))]), Chapter("side", "agent-7", [Told("a", asked("look"))])]
    store.imports.keep(Reading(FILED, "claude-code", offset=1, state={"mark": "c0ffee"}), chapters, expected=0)
    states = []
    for name in ("agent-7", "session-1"):
        store.sessions.delete(name)
        reading = store.imports.reading(FILED)
        states.append(reading.state if reading else None)
    assert states == [{"mark": "c0ffee"}, {}]


def test_a_message_without_a_key_is_kept_each_time_and_leaves_no_note(store: SqliteStore) -> None:
    (placed,) = fed(store, [Told(None, asked("yes")), Told(None, asked("yes")), Returned("none")])
    assert placed.positions == (1, 2, None)
    assert fed(store, [Told(None, asked("yes"))])[0].positions == (3,)
    assert store.connection.value("SELECT keys FROM chapters") == "{}"


EVERYDAY = "please run the tests"
ELSEWHERE: dict[str, tuple[Forget, str, list[str]]] = {
    "its id, under another key": (Forget(conversation="session-1", position=1), ANSWER, [EVERYDAY]),
    "its id, under its own key": (Forget(conversation="session-1", position=1), PROMPT, []),
    "its id, under a line's number": (Forget(conversation="session-1", position=1), "line 1", [EVERYDAY]),
    "a text, under another key": (Forget(EVERYDAY), ANSWER, []),
}


@pytest.mark.parametrize("erased", ELSEWHERE)
def test_elsewhere_content_is_refused_where_its_text_was_erased_and_a_message_by_its_own_key(store: SqliteStore, erased: str) -> None:
    what, key, left = ELSEWHERE[erased]
    fed(store, [Told(PROMPT, asked(EVERYDAY)), Told("b", answered("All are green."))])
    assert store.admin.forget(what, apply=True).messages == ("session-1:1",)
    fed(store, [Told(key, asked(EVERYDAY)), Told("c", answered("Done."))], file="/else", name="session-2")
    assert shown(store, "session-2") == [*left, "Done."]
    assert store.admin.verify().is_clean


def test_in_its_own_conversation_what_was_erased_by_its_id_is_refused_in_every_file(store: SqliteStore) -> None:
    fed(store, [Told("a", asked(EVERYDAY)), Told("b", answered("All are green."))])
    store.admin.forget(Forget(conversation="session-1", position=1), apply=True)
    for file in (FILED, "/copy"):
        (placed,) = fed(store, [Told("line 9", asked(EVERYDAY))], file=file)
        assert placed.refused == {0: FORGOTTEN}


@pytest.mark.parametrize("receipt", ["'{'", "'[]'", "x'ff'", "'{\"asked\": [1]}'"])
def test_without_its_receipt_an_erasure_counts_as_one_of_a_text(store: SqliteStore, receipt: str) -> None:
    fed(store, [Told("a", asked(EVERYDAY))])
    store.admin.forget(Forget(conversation="session-1", position=1), apply=True)
    with store.connection.writing() as writer:
        writer.execute(f"UPDATE receipts SET receipt = {receipt}")
    (placed,) = fed(store, [Told("x", asked(EVERYDAY))], file="/else", name="session-2")
    assert placed.refused == {0: FORGOTTEN}


def test_what_was_erased_by_its_id_and_then_as_a_text_is_refused_everywhere(store: SqliteStore) -> None:
    fed(store, [Told("a", asked(EVERYDAY))])
    fed(store, [Told("x", asked(EVERYDAY))], file="/else", name="session-2")
    store.admin.forget(Forget(conversation="session-1", position=1), apply=True)
    store.admin.forget(Forget(EVERYDAY), apply=True)
    (placed,) = fed(store, [Told("y", asked(EVERYDAY))], file="/third", name="session-3")
    assert placed.refused == {0: FORGOTTEN}
