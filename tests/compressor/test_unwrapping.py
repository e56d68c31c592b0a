"""What stands around the notes in an answer comes off, however often it is there."""

from __future__ import annotations

import pytest

from host.compressor.unwrapping import unwrapped


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("Sure:\n" * 4_000 + "## Goal\nG", "## Goal\nG"),
        ("Sure!\n\n \nHere is the summary:\n\n## Goal\nG", "## Goal\nG"),
        ("My notes on it:\n\n## Goal\nG", "## Goal\nG"),
        ("My notes on it:\nG", "My notes on it:\nG"),
        ("## Goal\nG\n" + "Let me know\n" * 4_000, "## Goal\nG"),
        ("## Goal\nG\n\nLet me know!\n\nI hope this helps.\n", "## Goal\nG"),
        ("Sure!\n```markdown\nOkay!\n<summary>\nHere is it:\n## Goal\nG\n</summary>\n```\nLet me know", "## Goal\nG"),
        ("<summary>" * 19 + "G" + "</summary>" * 19, "G"),
        ("Sure:", "Sure:"),
        ("Let me know", "Let me know"),
        ("", ""),
    ],
    ids=[
        "greetings",
        "blanks",
        "introduction",
        "no heading",
        "farewells",
        "two",
        "mixed",
        "deep",
        "greeting alone",
        "farewell alone",
        "none",
    ],
)
def test_the_notes_alone_are_left(text: str, notes: str) -> None:
    assert unwrapped(text) == notes
