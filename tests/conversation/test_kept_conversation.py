"""A conversation in a store: restarts, rotation, leases, writes that fail, and other processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from host.conversation import backlog
from host.conversation.conversation import Conversation
from host.errors import Forgotten, NotStorable, Outrun, StoreUnavailable, UsageError
from host.messages.types import Message
from host.store.care import Forget
from host.store.memory import MemoryStore
from host.store.protocols import Archive, Leases, Views
from host.store.sqlite.store import SqliteStore
from host.store.values import COMPRESSION
from host.testing.messages import assistant, call, result, user
from tests.desk import Desk, Faulty, fed, long_session
from tests.engines_for_tests import Scripted

STORES = ("sqlite", "memory")
FULL = StoreUnavailable("archive.db", "database or disk is full")


@pytest.fixture(params=STORES)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    store: Any = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "home" / "archive.db", durability="normal")
    yield Desk(store, goal="ship it")
    store.close()


def broken(thing: Any, verb: str, error: Exception) -> Any:
    """The thing with one verb that raises."""

    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(thing, name)

    def fail(*args: object, **keywords: object) -> object:
        raise error

    made = Broken()
    setattr(made, verb, fail)
    return made


def test_after_a_restart_the_window_is_the_same_and_goes_on(desk: Desk) -> None:
    before = fed(desk.open(), long_session())
    window = before.window()
    assert before.view.version > 0
    after = desk.open()
    assert after.window() == window
    assert (after.view.version, after.view.rows) == (before.view.version, before.view.rows)
    assert after.view.ledger.rows() == before.view.ledger.rows()


def test_a_restart_while_calls_wait_waits_for_them_still(desk: Desk) -> None:
    fed(desk.open(), [user("go"), assistant(None, [call("a", "look"), call("b", "look")]), result("a", "1")])
    after = desk.open()
    with pytest.raises(UsageError, match="while tool calls wait"):
        after.compact()
    after.add(result("b", "2"))
    after.compact()


def test_a_rotation_carries_title_and_goal_and_the_conversation_stays_one(desk: Desk) -> None:
    talk = fed(desk.open(), long_session())
    talk.compact()
    parent, child, *_ = desk.store.sessions.listed(conversation=desk.kept.conversation)
    assert (parent.title, parent.end_reason, parent.settings) == ("work", COMPRESSION, {})
    assert (child.title, child.parent, child.settings) == ("work #2", parent.id, {"goal": "ship it"})
    assert talk.session == desk.store.sessions.listed(conversation=desk.kept.conversation)[-1].id
    assert talk.archive.read(1, 121) == long_session()


def test_in_place_the_session_stays(desk: Desk) -> None:
    talk = fed(desk.open(shelf=desk.shelf(in_place=True)), long_session())
    talk.compact()
    assert talk.view.version > 0
    assert [session.title for session in desk.store.sessions.listed()] == ["work"]
    assert talk.session == desk.kept.id


def test_what_left_the_window_is_archived_and_found(desk: Desk) -> None:
    talk = fed(desk.open(), [user("remember zebra-17"), *long_session()])
    talk.compact()
    assert [position for position, _ in talk.archive.search("zebra-17")] == [1]


def test_while_another_holds_the_lease_nothing_is_compacted_and_that_is_said_once(desk: Desk) -> None:
    talk = fed(desk.open(Scripted(lambda messages: messages), replace(desk.shelf(), lease_seconds=0.2)), long_session())
    window = talk.window()
    assert desk.store.leases.acquire(desk.kept.conversation, "another", 60) is not None
    for _ in range(3):
        assert "another process" in (talk.compact().refused or "")
    assert talk.window() == window
    assert desk.store.views(desk.kept.conversation).version() == 0
    assert len([warning for warning in desk.warnings if "not compacted now" in warning]) == 1


def test_a_holder_that_died_is_taken_over_once_its_lease_ran_out(desk: Desk) -> None:
    talk = fed(desk.open(), long_session(20))
    assert desk.store.leases.acquire(desk.kept.conversation, "dead", -1) is not None
    assert talk.compact().refused is None
    assert desk.store.leases.holder(desk.kept.conversation) is None


def test_a_lease_that_cannot_be_asked_for_keeps_everything_as_it_is(desk: Desk) -> None:
    leases = cast(Leases, broken(desk.store.leases, "acquire", RuntimeError("no such table: leases")))
    talk = fed(desk.open(shelf=replace(desk.shelf(), leases=leases)), long_session(20))
    window = talk.window()
    assert "no such table" in (talk.compact().refused or "")
    assert talk.window() == window


def test_a_store_without_any_leases_compacts_and_says_so_once(desk: Desk) -> None:
    talk = fed(desk.open(shelf=replace(desk.shelf(), leases=None)), long_session())
    talk.window()
    talk.compact()
    assert talk.view.version > 0
    assert len([warning for warning in desk.warnings if "no leases" in warning]) == 1


@pytest.mark.parametrize("error", [FULL, Outrun("the lease passed to another")])
def test_a_view_that_cannot_be_written_is_not_shown_either(desk: Desk, error: Exception) -> None:
    views = cast(Views, broken(desk.store.views(desk.kept.conversation), "publish", error))
    talk = fed(desk.open(shelf=replace(desk.shelf(), views=views)), long_session(20))
    window = talk.window()
    assert "old one stays" in (talk.compact().refused or "")
    assert talk.window() == window
    assert desk.open().window() == window
    assert [session.title for session in desk.store.sessions.listed()] == ["work"]
    assert desk.store.leases.holder(desk.kept.conversation) is None


def test_an_engine_that_raises_leaves_store_and_window_and_gives_the_lease_back(desk: Desk) -> None:
    def fail(messages: list[Message]) -> object:
        raise ValueError("bad")

    talk = fed(desk.open(Scripted(fail)), long_session(20))
    window = talk.window()
    assert "ValueError: bad" in (talk.compact().refused or "")
    assert talk.window() == window
    assert desk.store.views(desk.kept.conversation).history() == []
    assert desk.store.leases.holder(desk.kept.conversation) is None


def test_of_two_only_one_compacts_and_the_other_sees_its_view(desk: Desk) -> None:
    first, second = fed(desk.open(), long_session(30)), desk.open()
    assert first.compact().refused is None
    outcome = second.compact()
    history = desk.store.views(desk.kept.conversation).history()
    assert [view.version for view in history] == list(range(1, len(history) + 1))
    assert second.window() == first.window()
    assert outcome.messages_before <= 31


def test_a_view_published_while_an_engine_thinks_wins_and_the_loser_returns_its_messages(desk: Desk) -> None:
    other = desk.open()

    def slowly(messages: list[Message]) -> list[Message]:
        other.shelf.leases = None  # it does not wait for the lease, as a process with a broken clock
        other.compact()
        return [*messages[:2], *messages[-2:]]

    slow = fed(desk.open(Scripted(slowly)), long_session(30))
    outcome = slow.compact()
    assert "version 1 is there" in (outcome.refused or "")
    assert outcome.messages_before == outcome.messages_after
    assert slow.window() == other.window()


def test_two_on_one_conversation_see_all_messages_in_the_same_order(desk: Desk) -> None:
    first, second = desk.open(), desk.open()
    for number in range(5):
        first.add(user(f"first {number}"))
        second.add(assistant(f"second {number}"))
        second.add(assistant(f"second again {number}"))
    assert first.window() == second.window()
    assert len(first.window()) == 15
    assert first.view.ledger.rows() == list(range(1, 16))


def test_threads_wait_for_each_other_on_one_conversation_and_never_on_different_ones(desk: Desk) -> None:
    thinking, go_on = threading.Event(), threading.Event()

    def think(messages: list[Message]) -> list[Message]:
        thinking.set()
        assert go_on.wait(20)
        return messages

    slow = fed(desk.open(Scripted(think)), long_session(20))
    threading.Thread(target=slow.compact, daemon=True).start()
    assert thinking.wait(20)
    other = Desk.__new__(Desk)
    other.store, other.warnings, other.kept = desk.store, [], desk.store.sessions.create(title="other")
    other.open().add(user("not held up"))
    late: list[int] = []
    waiting = threading.Thread(target=lambda: late.append(slow.add(user("after the compaction"))), daemon=True)
    waiting.start()
    waiting.join(0.2)
    assert late == []
    go_on.set()
    waiting.join(20)
    assert late == [22]


def try_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RETRY_SECONDS", "PAUSES"):
        monkeypatch.setattr(backlog, name, -1.0)


def faulty(desk: Desk) -> tuple[Conversation, Faulty]:
    shelf = desk.shelf()
    archive = Faulty(shelf.archive)
    return desk.open(shelf=replace(shelf, archive=cast(Archive, archive))), archive


def test_while_the_disk_is_full_the_turn_goes_on_and_nothing_is_lost(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    try_at_once(monkeypatch)
    talk, archive = faulty(desk)
    talk.add(user("one"))
    archive.error = FULL
    assert talk.add(assistant("two")) == 0
    talk.add(user("three"))
    assert talk.window() == [user("one"), assistant("two"), user("three")]
    assert "messages wait" in (talk.compact().refused or "")
    assert len([warning for warning in desk.warnings if "disk is full" in warning]) == 1
    archive.error = None
    talk.add(assistant("four"))
    assert archive.read(1, 9) == [user("one"), assistant("two"), user("three"), assistant("four")]
    assert talk.view.ledger.rows() == [1, 2, 3, 4]
    assert any("can be written again" in warning for warning in desk.warnings)


def test_what_cannot_be_kept_holds_nothing_back_that_waits(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    try_at_once(monkeypatch)
    talk, archive = faulty(desk)
    archive.error = FULL
    talk.add(user("one"))
    with pytest.raises(NotStorable):
        talk.add(cast(Message, {"role": "user", "content": {1, 2}}))
    talk.add(user("two"))
    archive.error = Forgotten(1)
    talk.window()
    archive.error = None
    talk.add(user("three"))
    assert archive.read(1, 9) == talk.window() == [user("three")]


def test_a_conversation_that_ends_writes_what_waits_at_once_and_says_what_it_cannot(desk: Desk) -> None:
    talk, archive = faulty(desk)
    archive.error = FULL
    talk.add(user("one"))
    archive.error = None
    talk.close()
    assert archive.read(1, 9) == [user("one")]
    talk, archive = faulty(desk)
    archive.error = FULL
    talk.add(user("two"))
    talk.close()
    assert any("could not be archived" in warning for warning in desk.warnings)


def test_a_list_handed_over_twice_while_nothing_can_be_written_is_kept_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    try_at_once(monkeypatch)
    talk, archive = faulty(desk)
    talk.receive([user("hello"), assistant("hi")])
    archive.error = FULL
    told = [user("hello"), assistant("hi"), user("q1"), assistant("a1")]
    assert [talk.receive(told).added, talk.receive(told).added] == [2, 0]
    talk.receive([*told[:3], assistant("a1, told anew")])
    archive.error = None
    assert talk.receive([*told[:3], assistant("a1, told anew")]).added == 0
    assert archive.read(1, 9) == talk.window() == [*told[:3], assistant("a1, told anew")]


def test_what_another_process_erases_leaves_an_open_conversation_too(desk: Desk) -> None:
    talk = fed(desk.open(shelf=desk.shelf(in_place=True)), [user("the key is zebra-kumquat-77"), assistant("noted"), user("go on")])
    if isinstance(desk.store, SqliteStore):
        desk.store.admin.forget(Forget(text="zebra-kumquat-77"), apply=True)
    else:
        cast(MemoryStore, desk.store).archive(desk.kept.conversation).forget(1)
    assert talk.window() == [assistant("noted"), user("go on")]


def test_two_processes_that_are_handed_the_same_list_keep_it_once(desk: Desk) -> None:
    first, second = desk.open(), desk.open()
    told = long_session(30)
    inner = second.shelf.archive

    class Overtaken:
        """Lets the other process in just before the first write."""

        done = False

        def __getattr__(self, name: str) -> Any:
            return getattr(inner, name)

        def append(self, message: Message, **keywords: Any) -> int:
            if not self.done:
                self.done = True
                first.receive(told)
            return inner.append(message, **keywords)

    late = desk.open(shelf=replace(desk.shelf(), archive=cast(Archive, Overtaken())))
    assert late.receive(told).rows == tuple(range(1, len(told) + 1))
    assert first.archive.range() == (1, len(told))


def test_a_copy_delivered_once_more_is_the_same_message(desk: Desk) -> None:
    talk = desk.open()
    row = talk.add(assistant("done"))
    assert talk.add(cast(Message, {**assistant("done"), "delivered": True}), delivery_of=row) == row
    assert talk.archive.range() == (1, 1)
    assert talk.window() == [assistant("done")]
    with pytest.raises(UsageError, match="delivery_of=7"):
        talk.add(assistant("done"), delivery_of=7)


def test_the_engines_document_is_written_with_the_view_and_not_without(desk: Desk) -> None:
    shelf = desk.shelf()
    state = desk.store.state(desk.kept.conversation, "scripted")

    def saves(returns: Callable[[list[Message]], object]) -> Conversation:
        def compress(messages: list[Message]) -> object:
            shelf.state.save({"round": len(desk.store.views(desk.kept.conversation).history()) + 1})
            return returns(messages)

        return desk.open(Scripted(compress), shelf)

    fed(saves(lambda messages: [*messages, *messages]), long_session(20)).compact()
    assert state.load() == {}
    saves(lambda messages: [*messages[:1], *messages[-1:]]).compact()
    assert state.load() == {"round": 1}
    saves(lambda messages: messages).compact()
    assert state.load() == {"round": 2}
