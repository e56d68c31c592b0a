"""A conversation is made to fit before the agent wakes: in place, at most once a message, never in a circle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from host.conversation.conversation import Conversation
from host.engine.contract import ContextEngine
from host.engine.engine import EngineState
from host.engine.thrash import Effect
from host.messages.types import Message, Usage
from host.store.memory import MemoryStore
from host.store.protocols import Store
from host.testing.engines import services
from host.testing.messages import assistant, call, chat, system, user
from host.transforms.handoff import handoff_text
from tests.desk import Desk, fed
from tests.engines_for_tests import Scripted, compressor

MANY = 5_000


def opened(
    messages: list[Message], engine: ContextEngine | None = None, store: Store | None = None, **more: Any
) -> tuple[Conversation, Desk]:
    desk = Desk(store or MemoryStore())
    return fed(desk.open(engine or compressor(8_000), **more), messages), desk


def long_talk(messages: int = 130) -> list[Message]:
    return [system("Be an agent."), *chat(messages, chars=300)]


def to(left: int) -> Scripted:
    """An engine that leaves that many messages at least."""

    def shortened(messages: list[Message]) -> list[Message]:
        gone = min(12, len(messages) - left)
        return [messages[0], user(handoff_text("notes")), *messages[gone + 2 :]] if gone > 0 else messages

    engine = Scripted(shortened, 1_000_000)
    engine.services = services(1_000_000)  # type: ignore[attr-defined]
    return engine


def test_over_85_percent_it_compacts_in_place_whatever_is_configured() -> None:
    talk, desk = opened(long_talk())
    session = talk.session
    outcome = talk.hygiene(MANY)
    assert outcome is not None and outcome.progressed and outcome.trigger == "hygiene"
    assert talk.session == session and desk.store.sessions.get(session).ended is None
    talk.window()
    assert talk.hygiene(MANY) is None


@pytest.mark.parametrize(
    ("messages", "window", "due"), [(80, 8_000, False), (130, 8_000, True), (406, 1_050_000, False), (3, 100, False), (130, 100_000, False)]
)
def test_neither_full_nor_many_is_left_alone(messages: int, window: int, due: bool) -> None:
    talk, _ = opened(long_talk(messages)[-messages:], compressor(window))
    assert (talk.hygiene(MANY) is not None) == due


def test_the_providers_count_goes_before_the_estimate() -> None:
    talk, _ = opened(long_talk(110))
    assert talk.estimate() > 6_800
    talk.window()
    talk.measured(Usage(5_000))
    assert talk.hygiene(MANY) is None


def test_switched_off_it_does_nothing() -> None:
    talk, _ = opened(long_talk(), automatic=False)
    assert talk.hygiene(10) is None


def test_calls_that_wait_are_waited_for() -> None:
    talk, _ = opened([*long_talk(), assistant(None, [call("a", "run")])])
    assert talk.hygiene(10) is None


def test_a_pause_counts_while_the_model_takes_the_window_and_not_beyond() -> None:
    for messages, compacted in ((105, False), (140, True)):
        engine = compressor(8_000)
        talk, _ = opened(long_talk(messages), engine)
        assert talk.estimate() > 6_800 and (talk.estimate() > 8_000) == compacted
        engine.state = replace(EngineState(), effect=Effect(ineffective=2, left=7_000, stays=10))
        assert (talk.hygiene(MANY) is not None) == compacted


def test_a_round_that_leaves_too_many_is_not_tried_again_before_they_are_a_tenth_more() -> None:
    engine, store = to(404), MemoryStore()
    talk, _ = opened(long_talk(415), engine, store)
    first = talk.hygiene(400)
    assert first is not None and first.messages_after == 404
    tried = [messages for messages in range(405, 460) if talk.add(assistant("More.")) and talk.hygiene(400) is not None]
    assert tried[0] == 445 and engine.calls <= 3


def test_another_process_knows_what_the_last_round_left() -> None:
    store = MemoryStore()
    talk, desk = opened(long_talk(415), to(404), store)
    assert talk.hygiene(400) is not None
    again = desk.open(to(404))
    again.add(assistant("More."))
    assert again.hygiene(400) is None


def test_who_still_holds_the_window_of_before_goes_on_behind_the_compaction_of_another() -> None:
    talk, desk = opened(long_talk())
    talk.window()
    talk.add(assistant("Done."))
    behind = desk.open()
    assert behind.compact().progressed
    assert talk.add(user("And now?")) == len(long_talk()) + 2
    window = talk.window()
    assert window[-1] == user("And now?") and len(window) < 131
    assert talk.archive.range() == (1, len(long_talk()) + 2)
