"""Pieces of an answer that does not count in the end: a stream that was cut, another model that goes on."""

from __future__ import annotations

import io

import pytest

from host.cli.screen import Answer
from host.loop.events import Answered, Event, Retrying, Said, Switched, Warned
from host.testing.messages import assistant

WHOLE = Answered(assistant("The port is 5432."), None)
AGAIN = [Retrying("the stream broke off"), Switched("spare", "the main model is gone")]


def printed(*events: Event, quiet: bool) -> str:
    """What is on standard output, which is no terminal."""
    out = io.StringIO()
    screen = Answer(out, quiet=quiet, verbose=False)
    for event in events:
        screen.tell(event)
    screen.end()
    return out.getvalue()


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("then", [[Said("The port "), Said("is 5432."), WHOLE], [WHOLE]], ids=["streamed", "whole"])
def test_a_script_reads_the_answer_that_counts_and_nothing_else(again: Event, then: list[Event]) -> None:
    assert printed(Said("The port is 54"), again, *then, quiet=True) == "The port is 5432.\n"


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("then", [[Said("The port "), Said("is 5432."), WHOLE], [WHOLE]], ids=["streamed", "whole"])
def test_where_it_is_watched_the_answer_begins_on_a_line_of_its_own(again: Event, then: list[Event]) -> None:
    assert printed(Said("The port is 54"), again, *then, quiet=False) == "The port is 54\nThe port is 5432.\n"


def test_what_was_said_before_an_interrupt_is_not_kept_back() -> None:
    assert printed(Said("The port "), Said("is"), quiet=True) == "The port is\n"


@pytest.mark.parametrize("quiet", [True, False])
def test_a_warning_between_the_last_piece_and_the_end_has_no_answer_said_twice(quiet: bool) -> None:
    assert printed(Said("The port "), Said("is 5432."), Warned("the service counted less"), WHOLE, quiet=quiet) == "The port is 5432.\n"
