"""A pause for want of effect ends when what no compaction can take away became much smaller."""

from __future__ import annotations

import pytest

from host.conversation.conversation import Conversation
from host.engine.idle import Reason
from host.engine.thrash import Effect
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message, Usage
from host.pipeline.staying import staying
from host.store.memory import MemoryStore
from host.testing.messages import assistant, call, chat, result, system, user
from host.transforms.handoff import handoff_text
from tests.desk import Desk, fed
from tests.engines_for_tests import compressor

WINDOW = 16_000


def group(number: int, size: int = 120) -> list[Message]:
    return [assistant(None, [call(f"c{number}", "terminal", f'{{"n": {number}}}')]), result(f"c{number}", f"{number} " + "word " * size)]


def paused(newest: list[Message]) -> Conversation:
    """A conversation in which the newest messages fill the window, so that compactions come to nothing."""
    talk = fed(Desk(MemoryStore()).open(compressor(WINDOW)), [system("S"), *chat(6, chars=200), *newest])
    for number in range(30):
        fed(talk, group(number))
        talk.window()
        talk.measured(Usage(talk.estimate()))
        if talk.idle is not None and talk.idle.reason is Reason.INEFFECTIVE:
            return talk
    raise AssertionError(f"it never paused: {talk.idle}, {talk.estimate()} tokens")


HUGE = user("BIG " + "word " * 14_300)


def test_a_huge_request_that_is_the_newest_no_more_ends_it() -> None:
    talk = paused([HUGE])
    before = talk.estimate()
    fed(talk, [assistant("done"), user("A new small request.")])
    talk.window()
    assert talk.idle is None and talk.estimate() < before / 2


def test_as_long_as_it_is_the_newest_the_pause_lasts() -> None:
    talk = paused([HUGE])
    calls = talk.view.version
    fed(talk, [*group(90), *group(91)])
    talk.window()
    assert talk.idle is not None and talk.idle.reason is Reason.INEFFECTIVE and talk.view.version == calls


@pytest.mark.parametrize(
    ("stays", "now", "ends"), [(60_000, 51_000, False), (60_000, 49_000, True), (60_000, 70_000, False), (0, 0, False)]
)
def test_a_tenth_of_the_window_has_to_be_free_to_go(stays: int, now: int, ends: bool) -> None:
    effect = Effect().after_nothing(100_000, stays).after_nothing(100_000, stays)
    assert effect.is_paused and effect.has_come_loose(100_000, now) is ends


def test_what_stays_is_prompt_newest_request_and_newest_group() -> None:
    prompt, request, calls = system("S"), user("do it"), group(1)
    entries = [
        Entry(prompt, 1),
        Entry(user(handoff_text("notes")), None, Kind.MERGED),
        Entry(request, 5),
        *map(Entry, group(0)),
        *map(Entry, calls),
    ]
    assert staying(Ledger(entries)) == [prompt, request, *calls]
    assert staying(Ledger(entries[:3])) == [prompt, request]
    assert staying(Ledger()) == []
