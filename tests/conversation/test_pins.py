"""Pinned messages stay in every window of every engine, word for word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from host.conversation.conversation import Conversation
from host.engine.contract import ContextEngine
from host.engine.services import ModelFacts, Services
from host.engine.window import Window
from host.errors import UsageError
from host.messages.ledger import Kind
from host.messages.reading import is_system
from host.messages.types import Message
from host.messages.violations import violations
from host.store.care import Forget
from host.store.memory import MemoryStore
from host.store.sqlite.store import SqliteStore
from host.store.values import PIN
from host.testing.engines import services
from host.testing.histories import histories
from host.testing.messages import assistant, call, result, system, tool_session, user
from host.transforms.handoff import handoff_text, is_handoff, split_merged
from tests.conversation.pin_faults import faults, faults_of_receipt, group, rows_shown
from tests.desk import WINDOW, Desk, fed, long_session
from tests.engines_for_tests import Scripted, compressor
from tests.foreign_engines import FOREIGN, foreign

RULE = "Never touch main; the port stays 8443."
ENGINES = ("compressor", *FOREIGN)


@pytest.fixture(params=("sqlite", "memory"))
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    store: Any = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "home" / "archive.db", durability="normal")
    yield Desk(store)
    store.close()


def engine(name: str, window: int = WINDOW) -> ContextEngine:
    return compressor(window) if name == "compressor" else foreign(name, window)


def worked(conversation: Conversation, seed: int) -> None:
    """Another stretch of work."""
    for message in tool_session(41, seed=seed, chars=400)[1:]:
        conversation.add(message)
    if any(m["role"] == "assistant" for m in conversation.view.messages[-1:]):
        conversation.add(user(f"go on with part {seed}"))


@pytest.mark.parametrize("name", ENGINES)
def test_over_ten_compactions_pins_stay_under_every_engine(desk: Desk, name: str) -> None:
    talk = fed(desk.open(engine(name)), [*long_session(40), user(RULE)])
    caller = next(i for i, m in enumerate(talk.archive.read(1, 60), 1) if m.get("tool_calls"))
    for position in (3, caller, 42):
        talk.pin(position)
    pinned = {3, 42, *group(talk.archive.read(1, 42), caller)}
    for seed in range(10):
        worked(talk, seed)
        outcome = talk.compact()
        assert outcome.refused is None, outcome
        assert [*faults(talk, sorted(pinned)), *faults_of_receipt(talk.view)] == []
        assert sum(map(is_handoff, talk.view.messages)) <= 1
    if isinstance(desk.store, SqliteStore):
        assert desk.store.admin.verify(prove=True).is_clean


@settings(max_examples=60, phases=[Phase.generate])
@given(history=histories(max_turns=4), more=histories(max_turns=2), data=st.data())
@pytest.mark.parametrize("name", ENGINES)
def test_whatever_is_said_and_pinned_stays(name: str, history: list[Message], more: list[Message], data: st.DataObject) -> None:
    desk = Desk(MemoryStore())
    talk = fed(desk.open(engine(name, 24_000), shelf=desk.shelf(in_place=True)), history)
    rows: set[int] = set()
    for position in data.draw(st.lists(st.integers(1, len(history)), max_size=3)):
        try:
            talk.pin(position)
        except UsageError:  # the system prompt, or too large
            continue
        rows |= group(history, position)
    for said in ([], [m for m in more if not is_system(m)]):
        fed(talk, said)
        outcome = talk.compact()
        assert rows <= set(rows_shown(talk.view))
        assert [*faults(talk, sorted(rows)), *(faults_of_receipt(talk.view) if outcome.refused is None else ())] == []
    size = talk.services.count.messages
    before = size(talk.view.messages)
    talk.compact()
    assert size(talk.view.messages) <= before


def test_a_pinned_request_takes_no_summary_in(desk: Desk) -> None:
    talk = fed(desk.open(), [*long_session(), user(RULE)])
    talk.pin(122)
    talk.compact()
    window = talk.view.messages
    assert [m["role"] for m in window[-3:]] == ["user", "assistant", "user"] or window[-1]["role"] == "user"
    assert window[-1] == user(RULE) and list(faults(talk, [122])) == []
    assert violations(window, strict=True) == []


def test_a_summary_that_was_merged_in_front_of_a_message_stands_alone_once_that_is_pinned(desk: Desk) -> None:
    talk = fed(
        desk.open(Scripted(lambda messages: [messages[0], user(handoff_text("notes")), messages[-1]])), [*long_session(), user(RULE)]
    )
    talk.compact()
    merged = next(entry for entry in talk.view.ledger if entry.kind is Kind.MERGED)
    after = talk.view.ledger[list(talk.view.ledger).index(merged) + 1]
    assert after.row is not None
    talk.pin(after.row)
    assert list(faults(talk, [after.row])) == []
    assert violations(talk.view.messages, strict=True) == []
    assert sum(map(is_handoff, talk.view.messages)) == 1


def test_what_left_the_window_comes_back_at_once_in_its_place_and_no_summary_covers_it(desk: Desk) -> None:
    talk = fed(desk.open(), [user("one"), assistant("two"), user("three"), assistant("four"), user(RULE), *long_session()[1:]])
    talk.compact()
    assert 5 not in rows_shown(talk.view)
    version = talk.view.version
    talk.pin(5)
    assert talk.view.version == version + 1
    assert list(faults(talk, [5])) == []
    assert desk.store.views(desk.kept.conversation).history()[-1].trigger == PIN
    assert desk.open().view.ledger.rows() == talk.view.ledger.rows()
    assert [pin.in_window for pin in talk.pins()] == [True]


def test_without_room_now_it_comes_in_with_the_next_compaction(desk: Desk) -> None:
    talk = fed(desk.open(Scripted(lambda messages: [messages[0], *messages[-9:]])), [system("s"), user(RULE), *long_session(30)[1:]])
    talk.compact()
    talk.add(user("x " * 15_000))
    talk.pin(2)
    assert 2 not in rows_shown(talk.view) and [pin.in_window for pin in talk.pins()] == [False]
    assert any("next compaction" in warning for warning in desk.warnings)
    for number in range(10):
        talk.add(user(f"short {number}"))
    assert talk.compact().refused is None
    assert list(faults(talk, [2])) == []


def test_a_pin_waits_where_the_compacted_window_has_no_room_for_it_either(desk: Desk) -> None:
    def noted(messages: list[Message]) -> list[Message]:
        return [messages[0], user(handoff_text("notes")), *messages[-1:]]

    talk = fed(desk.open(Scripted(noted)), [system("s"), user(RULE * 60), *long_session(30)[1:]])
    talk.compact()
    large = user("word " * 100)
    while talk.services.count.message(large) < WINDOW - 600:
        large = user(f"{large['content']}{'word ' * 50}")
    fed(talk, [user("a"), large])
    talk.pin(2)
    assert talk.compact().refused is None
    assert 2 not in rows_shown(talk.view) and len(talk.view.messages) == 2
    fed(talk, [assistant("ok"), user("now something short")])
    assert talk.compact().refused is None
    assert list(faults(talk, [2])) == []


def test_pins_of_another_process_are_seen_at_the_next_compaction(desk: Desk) -> None:
    talk = fed(desk.open(), [user("one"), assistant("two"), user(RULE), *long_session()[1:]])
    desk.store.pins(desk.kept.conversation).add(3, by="another")
    talk.compact()
    assert list(faults(talk, [3])) == []


def test_unpinned_it_leaves_with_the_next_compaction_and_no_bridge_stays(desk: Desk) -> None:
    talk = fed(desk.open(), [user(RULE), *long_session()[1:]])
    talk.pin(1)
    worked(talk, 1)
    talk.compact()
    worked(talk, 2)
    talk.compact()
    assert talk.unpin(1) and not talk.unpin(1)
    assert 1 in rows_shown(talk.view)
    worked(talk, 3)
    talk.compact()
    assert 1 not in rows_shown(talk.view)
    assert all(m.get("content") != "Understood." for m in talk.view.messages)


def test_a_result_brings_its_whole_group(desk: Desk) -> None:
    said = [user("go"), assistant(None, [call("a", "look"), call("b", "look")]), result("b", "B" * 900), result("a", "A" * 900)]
    talk = fed(desk.open(), [*said, assistant("seen"), *long_session()[1:]])
    talk.pin(4)
    talk.compact()
    assert list(faults(talk, [2, 3, 4])) == []
    (pin,) = talk.pins()
    assert (pin.row, pin.role, pin.pin.by) == (4, "tool", "user") and pin.tokens > 400


def test_of_an_edited_message_the_newest_version_is_pinned(desk: Desk) -> None:
    said = [user("port 8080"), assistant("yes"), *long_session(60)[1:]]
    talk = fed(desk.open(), said)
    talk.pin(1)
    talk.receive([user("port 9090"), *said[1:]])
    talk.add(user("go on"))
    talk.compact()
    texts = [m.get("content") for m in talk.view.messages]
    assert "port 9090" in texts and "port 8080" not in texts
    assert texts[-1] == "go on" or split_merged(talk.view.messages[-1])[-1]["content"] == "go on"
    assert talk.pins()[0].row == len(said) + 1


def test_a_pin_beyond_a_quarter_of_the_window_is_refused_with_the_arithmetic(desk: Desk) -> None:
    talk = fed(desk.open(), [user("a " * 800), assistant("b"), user("c " * 1_500)])
    talk.pin(1)
    with pytest.raises(UsageError) as refused:
        talk.pin(3)
    assert all(part in refused.value.what for part in ("pins hold", "would add", "2,000", "8,000")) and "unpin" in refused.value.advice
    assert [pin.pin.position for pin in talk.pins()] == [1]
    assert talk.pin(1).position == 1, "what is pinned stays as it was"


def test_pins_that_outgrow_a_smaller_model_leave_oldest_first_and_come_back(desk: Desk) -> None:
    talk = fed(desk.open(), [user("oldest " * 300), assistant("b"), user("newest " * 300), *long_session()[1:]])
    talk.pin(1), talk.pin(3)
    facts = talk.services.facts
    talk.services.facts = replace(facts, window=2_400)
    talk.compact()
    assert [pin.fits for pin in talk.pins()] == [False, True]
    assert 3 in rows_shown(talk.view)
    worked(talk, 5)
    talk.compact()
    assert 1 not in rows_shown(talk.view)
    told = [warning for warning in desk.warnings if "stays pinned" in warning]
    assert len(told) == 1 and "message 1 ('oldest" in told[0]
    assert len([warning for warning in desk.warnings if "stays pinned" in warning]) == 1
    talk.services.facts = facts
    worked(talk, 6)
    talk.compact()
    assert list(faults(talk, [1, 3])) == []


@pytest.mark.parametrize(
    ("position", "says"),
    [
        (0, "no message"),
        (99, "no message"),
        (-1, "no message"),
        (1, "system prompt"),
        ("3", "number"),
        (True, "number"),
        (4, "call that is not"),
    ],
)
def test_what_cannot_be_pinned_is_told_why(desk: Desk, position: Any, says: str) -> None:
    talk = fed(desk.open(), [system("s"), user("a"), assistant("b"), result("lost", "x")])
    with pytest.raises(UsageError, match=says):
        talk.pin(position)
    assert talk.pins() == []


def test_an_erased_message_cannot_be_pinned_and_a_pinned_one_that_is_erased_is_let_go(desk: Desk) -> None:
    if not isinstance(desk.store, SqliteStore):
        pytest.skip("only a store in a file erases")
    talk = fed(desk.open(), [user("the secret"), assistant("b"), *long_session()[1:]])
    talk.pin(1)
    desk.store.admin.forget(Forget(conversation=desk.kept.conversation, position=1), apply=True)
    talk.compact()
    assert 1 not in rows_shown(talk.view)
    with pytest.raises(UsageError, match="erased"):
        talk.pin(1)


def test_a_conversation_in_no_store_says_so() -> None:
    given = services()
    talk = Conversation(compressor(), given, given.archive, warn=lambda text: None)  # type: ignore[arg-type]
    talk.add(user("a"))
    assert talk.pins() == []
    with pytest.raises(UsageError, match="no store"):
        talk.pin(1)


@pytest.mark.parametrize("careful", [True, False])
def test_an_engine_gets_its_pins_as_the_objects_of_its_list(desk: Desk, careful: bool) -> None:
    from host.plugin import Engine

    seen: list[Window] = []

    class Watching(Engine[None]):
        name = "watching"
        leaves_input_alone = careful

        def compact(self, window: Window) -> list[Message]:
            seen.append(window)
            return [*window.head, *window.tail]

    given = Services(None, ModelFacts("m", WINDOW), services().count, services().archive, services().state)
    talk = fed(desk.open(Watching(given)), [user(RULE), *long_session()[1:]])
    worked(talk, 1)
    talk.pin(3)
    talk.compact()
    (window,) = seen
    assert len(window.pins) == 1 + sum(m["role"] == "tool" for m in window.pins)
    assert all(any(pin is m for m in window.messages) for pin in window.pins)
    assert all(any(pin is m for m in window.tail + window.head) for pin in window.pins)
    assert (window.pins[0] is talk.view.messages[0]) is False
    assert list(faults(talk, [row for row in rows_shown(talk.view) if row in group(talk.archive.read(1, 200), 3)])) == []
