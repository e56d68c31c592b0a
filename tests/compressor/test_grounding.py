"""The task snapshot is what the user asked, not what a model made of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.compressor.grounding import CUT, HEADING, LIMIT, STALE, STATED, ground_snapshot
from host.compressor.template import Section, heading_of
from host.messages.redact import redact
from host.messages.types import Message
from host.testing.histories import histories
from host.testing.messages import assistant, user
from host.transforms.handoff import handoff_text, merged_in_front


def snapshot(request: str) -> str:
    return f"{HEADING}\n{STATED}{request!r}\n{STALE}"


def grounded(body: str, *turns: Message) -> str:
    return ground_snapshot(body, turns, redact)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", snapshot("go")),
        ("notes", f"{snapshot('go')}\n\nnotes"),
        (f"{HEADING}\nmade up", snapshot("go")),
        (f"{HEADING}\n# a comment\nmade up\n## Goal\nG", f"{snapshot('go')}\n\n## Goal\nG"),
        (f"## Goal\nG\n{HEADING.upper()}\nmade up\n### Blocked\nB", f"## Goal\nG\n\n{snapshot('go')}\n\n### Blocked\nB"),
        (f"{HEADING}\na\n\n{HEADING}\nb", f"{snapshot('go')}\n\n{HEADING}\nb"),
    ],
)
def test_the_first_snapshot_is_replaced_or_one_is_put_first(body: str, expected: str) -> None:
    assert grounded(body, user("older"), assistant("x"), user("go"), assistant("y")) == expected


def test_a_summary_is_nobodys_request() -> None:
    assert grounded("## Goal\nG", user(handoff_text("old"))) == "## Goal\nG"
    assert snapshot("mine") in grounded("", user(handoff_text("old")), merged_in_front(handoff_text("old"), user("mine")))


def test_a_long_request_is_cut_within_the_limit_and_a_secret_masked() -> None:
    body = grounded("", user("y" * 3_000))
    assert snapshot("y" * (LIMIT - len(CUT) - 1) + "…" + CUT) == body
    assert "BBBB" not in grounded("", user("use sk-proj-AAAABBBBCCCCDDDDEEEEFFFF"))


@given(histories(), st.sampled_from(["", "## Goal\nG", f"{HEADING}\nx\n\n## Goal\nG"]))
def test_twice_is_once_and_nothing_else_is_touched(history: list[Message], body: str) -> None:
    once = ground_snapshot(body, history, redact)
    assert ground_snapshot(once, history, redact) == once
    assert ("## Goal\nG" in once) == ("## Goal\nG" in body)
    assert sum(heading_of(line) is Section.TASK for line in once.splitlines()) <= 1
