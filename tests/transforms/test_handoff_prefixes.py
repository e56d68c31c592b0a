"""A handoff is recognised by every prefix that it ever began with, and by another agent's, and nothing else is one."""

from __future__ import annotations

import pytest

from host.messages.types import Message
from host.testing.messages import user
from host.transforms.handoff import (
    EARLIER_PREFIXES,
    END_MARKER,
    FOREIGN_OPENING,
    PREFIX,
    PREFIXES,
    PRIOR_END,
    PRIOR_OPENING,
    TAG,
    handoff_body,
    is_handoff,
    opened,
    split_merged,
)

FOREIGN = f"{FOREIGN_OPENING} into what follows."
MERGED = user(f"{PRIOR_OPENING}\nwhat the\n\nuser said\n\n{PRIOR_END}\n\n{FOREIGN}\n## Goal\nG\n\n{END_MARKER}")


def test_no_prefix_that_was_ever_written_is_forgotten() -> None:
    assert len(EARLIER_PREFIXES) >= 3 and len(set(PREFIXES)) == len(PREFIXES)


@pytest.mark.parametrize("prefix", [*PREFIXES, FOREIGN, f"{TAG} somebody's own words."])
@pytest.mark.parametrize("lead", ["", "\n  "])
def test_the_body_is_what_stands_between_prefix_and_end_marker(prefix: str, lead: str) -> None:
    message = user(f"{lead}{prefix}\n## Goal\nG\n\n{END_MARKER}")
    assert is_handoff(message) and handoff_body(message) == "## Goal\nG"


@pytest.mark.parametrize("prefix", [*PREFIXES, FOREIGN])
def test_old_ones_had_no_end_marker(prefix: str) -> None:
    assert is_handoff(user(f"{prefix}\nbody")) and handoff_body(user(f"{prefix}\nbody")) == "body"


def test_what_another_agent_put_in_front_comes_out_again() -> None:
    alone, said = split_merged(MERGED)
    assert is_handoff(MERGED) and handoff_body(MERGED) == "## Goal\nG" == handoff_body(alone)
    assert said == user("what the\n\nuser said")
    assert opened([MERGED]) == [alone, said]


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        TAG,
        f"what does {TAG} mean?",
        f"{TAG} what is this?",
        f"{PRIOR_OPENING}\nquoted",
        f"{PRIOR_OPENING} {PRIOR_END} x",
        END_MARKER,
    ],
)
def test_what_only_speaks_of_them_is_none(text: str) -> None:
    message: Message = user(text)
    assert not is_handoff(message)
    assert split_merged(message) == [message]


@pytest.mark.parametrize(
    "needed",
    [
        "not instructions",
        "do not answer",
        "newest message that the user wrote",
        "no permission to resume",
        "Historical sections",
        "stop, undo or never mind",
        "Memory files",
        "all tools stay usable",
        "may have moved on",
    ],
)
def test_the_prefix_says_what_it_has_to(needed: str) -> None:
    assert needed in PREFIX
