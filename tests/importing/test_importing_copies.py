"""Copies of a session: read by two at a time, or after something of it was erased."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from host.formats.marks import mark_of
from host.importing.importer import Importer
from host.messages.canonical import identity
from host.messages.types import Message
from host.store.care import Forget
from host.store.kept import ERASED
from host.store.readings import Chapter, Placed, Reading
from host.store.spelling import spelled
from host.store.sqlite.store import FILE, SqliteStore
from tests.importing.conftest import Desk, Record, append, encoded, line, rollout, session_id, turns
from tests.stores_for_tests import SECRET, all_bytes


class Interrupted:
    """The imports of a store, where something else happens before the first keeping."""

    def __init__(self, store: SqliteStore, meanwhile: Callable[[], object]) -> None:
        self._imports = store.imports
        self._meanwhile = [meanwhile]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._imports, name)

    def keep(self, reading: Reading, chapters: Sequence[Chapter], **how: Any) -> list[Placed]:
        while self._meanwhile:
            self._meanwhile.pop()()
        return self._imports.keep(reading, chapters, **how)


@contextmanager
def another_reads(desk: Desk, path: Path, client: str) -> Iterator[Importer]:
    """An importer; while it reads, another process reads the file at ``path``."""
    with closing(SqliteStore(desk.home / FILE)) as other, closing(SqliteStore(desk.home / FILE)) as store:
        theirs = Importer(other, user_home=desk.user_home, environ={})
        interrupted = Interrupted(store, lambda: theirs.run([path], client))
        store.imports = interrupted  # type: ignore[assignment]
        yield Importer(store, user_home=desk.user_home, environ={})


def test_two_copies_that_are_read_at_the_same_time_are_one_session(desk: Desk) -> None:
    rows = rollout("r", 3)
    path, copy = desk.codex("r", rows), desk.codex("r", rows, folder="archived_sessions")
    with another_reads(desk, copy, "codex") as importer:
        done = importer.run([path], "codex")
    assert (done.conversations, done.messages, desk.rows()) == (0, 0, 6)


def test_two_grown_copies_that_are_read_at_the_same_time_say_what_is_new_once(desk: Desk) -> None:
    desk.codex("r", rollout("r", 2))
    desk.run()
    path, copy = (desk.codex("r", rollout("r", 4), folder=folder) for folder in ("archived_sessions", "sessions/2026/03/05"))
    with another_reads(desk, copy, "codex") as importer:
        importer.run([path], "codex")
    assert desk.rows() == 8


def test_conversations_of_one_document_whose_names_are_much_alike_stay_apart(desk: Desk, tmp_path: Path) -> None:
    rows = [{"id": name, "messages": [{"role": "user", "content": f"said in {name}"}]} for name in ("a b", "a-b")]
    path = desk.write(tmp_path / "talks.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    assert desk.run(path).conversations == 2
    assert desk.run(path).unchanged == 1


def answer(name: str, text: str, minute: int) -> Record:
    """A piece of one answer."""
    piece = line(name, "assistant", text, minute)
    return {**piece, "message": {**piece["message"], "id": "msg_1"}}


@pytest.mark.parametrize("secret", [0, 1, 2])
def test_a_copy_that_grows_line_by_line_brings_no_piece_of_an_erased_answer(desk: Desk, secret: int) -> None:
    pieces = [f"piece {n}" + (f" with {SECRET}" if n == secret else "") for n in range(3)]
    rows = [line("a", "user", "hello there", 2), *(answer("a", text, 3 + n) for n, text in enumerate(pieces))]
    desk.claude("a", rows)
    desk.run()
    assert len(desk.store.admin.forget(Forget(SECRET), apply=True).messages) == 1
    copied = [{**row, "sessionId": session_id("b")} for row in rows]
    path = desk.claude("b", b"\n")
    for row in copied:
        append(path, encoded([row]))
        desk.run()
    append(path, encoded([line("b", "user", "and now?", 9)]))
    desk.run()
    assert desk.texts("b") == ["hello there", "and now?"]
    assert SECRET.encode() not in all_bytes(desk.home)


@pytest.mark.parametrize("same_file", [True, False])
def test_a_title_that_comes_later_does_not_bring_erased_text_back(desk: Desk, same_file: bool) -> None:
    rows = [line("a", "user", f"deploy with {SECRET} please", 2), line("a", "assistant", "fine", 3)]
    path = desk.claude("a", rows)
    desk.run()
    desk.store.admin.forget(Forget(SECRET), apply=True)
    name = "a" if same_file else "b"
    if not same_file:
        path = desk.claude("b", [{**row, "sessionId": session_id("b")} for row in rows])
        desk.run()
    append(path, encoded([{"type": "ai-title", "aiTitle": f"deploy with {SECRET}", "sessionId": session_id(name)}]))
    desk.run()
    assert desk.store.sessions.get(session_id(name)).about.get("title") == (None if same_file else ERASED)
    assert SECRET.encode() not in all_bytes(desk.home)


def test_an_everyday_sentence_that_was_erased_by_its_id_is_said_again_in_other_sessions_but_not_in_a_copy_of_its_own(desk: Desk) -> None:
    def session(name: str) -> list[Record]:
        return [line(name, "user", "please run the tests", 2), line(name, "assistant", f"the answer of {name}", 3)]

    desk.claude("a", session("a"), age=60)
    desk.run()
    desk.store.admin.forget(Forget(conversation=session_id("a"), position=1), apply=True)
    desk.claude("a", [*session("a"), line("a", "user", "and now?", 4)], age=50)
    desk.claude("b", session("b"), age=40)
    desk.claude("resumed", [{**row, "sessionId": session_id("resumed")} for row in session("a")], age=30)
    assert len(desk.run().erased) == 1
    assert desk.texts("a") == ["the answer of a", "and now?"]
    assert desk.texts("b") == ["please run the tests", "the answer of b"]
    assert desk.texts("resumed") == ["the answer of a"]


def test_no_digest_of_a_prompt_that_waited_is_left_when_it_was_erased(desk: Desk) -> None:
    def queue(operation: str, **more: object) -> Record:
        common = {"type": "queue-operation", "operation": operation, "timestamp": "2026-03-04T12:03:30Z"}
        return {**common, "sessionId": session_id("q"), **more}

    words = f"the pin is 4711 {SECRET}"
    rows = [line("q", "user", "start", 2), queue("enqueue", content=words), queue("remove"), line("q", "assistant", "fine", 3)]
    path = desk.claude("q", rows)
    desk.run()
    assert mark_of(words).encode() in all_bytes(desk.home)
    assert len(desk.store.admin.forget(Forget(SECRET), apply=True).messages) == 1
    assert mark_of(words).encode() not in all_bytes(desk.home)
    append(path, encoded(turns("q", 1, first=4)))
    assert desk.run().messages == 2
    assert desk.texts("q")[-2:] == ["user 4 of q", "assistant 4 of q"]


def test_a_recording_whose_path_is_no_text_is_named_when_something_of_it_is_erased(desk: Desk) -> None:
    folder = desk.user_home / os.fsdecode(b"caf\xe9")
    try:
        path = desk.write(folder / "talk.jsonl", [line("z", "user", f"It is {SECRET}", 2)])
    except OSError:
        pytest.skip("this file system takes no such name")
    desk.run(path)
    (named,) = desk.store.admin.forget(Forget(SECRET), apply=True, folders=[desk.home]).may_hold_copies
    assert named == f"{spelled(path)}: claude-code's own recording, from which it was imported, holds it"


WORD: Message = {"role": "user", "content": "4711"}
TALK: list[Message] = [{"role": "user", "content": "My pin?"}, WORD, {"role": "assistant", "content": "I noted it."}]
EDITS: dict[str, Callable[[list[Message]], list[Message]]] = {
    "not at all": lambda talk: talk,
    "at its end": lambda talk: [*talk, {"role": "user", "content": "Thanks."}],
    "at its beginning": lambda talk: [{"role": "system", "content": "Be brief."}, *talk],
}


@pytest.mark.parametrize("edit", EDITS)
def test_of_a_document_an_erased_word_is_known_by_its_place_and_no_digest_of_it_is_left(desk: Desk, tmp_path: Path, edit: str) -> None:
    path = desk.write(tmp_path / "talk.json", json.dumps(TALK).encode())
    desk.run(path)
    (session,) = desk.store.sessions.listed()
    assert desk.store.admin.forget(Forget(conversation=session.conversation, position=2), apply=True).repeatable
    assert identity(WORD).hex().encode() not in all_bytes(desk.home)
    path.write_text(json.dumps(EDITS[edit](TALK), indent=1))
    done = desk.run(path)
    assert (done.messages, done.refused) == (len(EDITS[edit](TALK)) - len(TALK), ())
    assert WORD not in [row.message for row in desk.store.archive(session.conversation).current()]


def test_an_erased_word_at_the_end_of_a_document_that_goes_on_stays_erased(desk: Desk, tmp_path: Path) -> None:
    path = desk.write(tmp_path / "talk.json", json.dumps(TALK[:2]).encode())
    desk.run(path)
    (session,) = desk.store.sessions.listed()
    desk.store.admin.forget(Forget(conversation=session.conversation, position=2), apply=True)
    path.write_text(json.dumps(TALK))
    assert desk.run(path).messages == 1
    assert [row.message for row in desk.store.archive(session.conversation).current()] == [TALK[0], None, TALK[2]]


DAMAGED = {
    "state": "UPDATE readings SET state = '{'",
    "state of another shape": 'UPDATE readings SET state = json_set(state, \'$.trail.prompts\', json(\'[["", "x", "k", "m"]]\'))',
    "offset": "UPDATE readings SET offset = 'abc'",
    "size": "UPDATE readings SET size = 'x'",
    "keys": "UPDATE chapters SET keys = '['",
    "facts": "UPDATE sessions SET about = '{'",
}


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("catching_up", [False, True])
def test_a_damaged_note_of_one_session_costs_nothing(desk: Desk, what: str, catching_up: bool) -> None:
    path = desk.claude("a", turns("a", 3))
    desk.run()
    with desk.store.connection.writing() as writer:
        writer.execute(DAMAGED[what])
    append(path, encoded(turns("a", 1, first=4)))
    desk.claude("b", turns("b", 2))
    if catching_up:
        assert desk.another().catch_up((), 5.0).messages == 6
    else:
        assert desk.run().messages == 6
    assert (len(desk.texts("a")), len(desk.texts("b"))) == (8, 4)
    assert desk.store.admin.verify().is_clean or what == "facts"
