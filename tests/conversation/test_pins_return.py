"""Pins that a model has room for again are back in the next window, and only those that left are named."""

from __future__ import annotations

from dataclasses import replace

from host.conversation.conversation import Conversation
from host.messages.violations import violations
from host.store.memory import MemoryStore
from host.store.values import PIN
from host.testing.engines import services
from host.testing.messages import assistant, chat, system, user
from tests.conversation.pin_faults import faults, rows_shown
from tests.desk import Desk, fed
from tests.engines_for_tests import compressor

LARGE, SMALL = 100_000, 16_000
PINS = [2, 4, 6, 8, 10, 12]


def resized(talk: Conversation, window: int) -> None:
    talk.services.facts = replace(talk.services.facts, window=window)
    talk.engine.update_model("m", window)


def pinned(desk: Desk, more: int = 100) -> Conversation:
    """Six pins of some 1,000 tokens: all fit a quarter of the large window, half of them the small one."""
    talk = fed(desk.open(compressor(LARGE)), [system("S")])
    for number in range(6):
        fed(talk, [user(f"PIN{number} " + "word " * 1_400), assistant("ok")])
    fed(talk, [*chat(more, chars=400), user("go on")])
    for position in PINS:
        talk.pin(position)
    return talk


def told(desk: Desk, words: str) -> list[str]:
    return [warning for warning in desk.warnings if words in warning]


def test_a_smaller_model_alone_takes_nothing_out_and_names_nothing() -> None:
    desk = Desk(MemoryStore())
    talk = pinned(desk, more=20)
    resized(talk, SMALL)
    talk.window(), talk.preview()
    assert set(PINS) <= set(rows_shown(talk.view)) and told(desk, "stays pinned") == []


def test_a_warning_names_the_pins_that_left_and_no_other() -> None:
    desk = Desk(MemoryStore())
    talk = pinned(desk)
    resized(talk, SMALL)
    talk.compact()
    left = [pin.row for pin in talk.pins() if not pin.in_window]
    assert left and set(left) < set(PINS)
    assert len(told(desk, "stays pinned")) == len(left)
    assert all(told(desk, f"message {row} (") for row in left)


def test_under_a_larger_model_they_are_back_in_the_next_window() -> None:
    desk = Desk(MemoryStore())
    talk = pinned(desk)
    resized(talk, SMALL)
    talk.compact()
    left = [pin.row for pin in talk.pins() if not pin.in_window]
    fed(talk, [assistant("done"), user("next")])
    talk.window()
    assert [pin.row for pin in talk.pins() if not pin.in_window] == left
    resized(talk, LARGE)
    window = talk.window()
    assert violations(window) == [] and list(faults(talk, PINS)) == []
    assert all(pin.in_window for pin in talk.pins())
    assert talk.shelf.views is not None
    assert [published.trigger for published in talk.shelf.views.history()][-1] == PIN
    assert len(told(desk, "is back in the window")) == len(left)
    version = talk.view.version
    talk.window()
    assert talk.view.version == version


def test_another_process_under_a_larger_model_brings_them_in_too() -> None:
    desk = Desk(MemoryStore())
    talk = pinned(desk)
    resized(talk, SMALL)
    talk.compact()
    assert not all(pin.in_window for pin in talk.pins())
    again = desk.open(compressor(LARGE))
    assert services().facts.window and again.window()
    assert all(pin.in_window for pin in again.pins())


def test_a_pin_that_another_process_set_comes_in_with_the_next_window_where_there_is_room() -> None:
    desk = Desk(MemoryStore())
    talk = pinned(desk)
    talk.unpin(4)
    resized(talk, SMALL)
    talk.compact()
    resized(talk, LARGE)
    shelf = desk.shelf()
    assert shelf.pins is not None
    for _ in range(2):
        talk.window()
    shelf.pins.add(16, by="user")
    talk.window()
    assert 16 in rows_shown(talk.view)
