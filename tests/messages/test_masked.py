"""The beginning of a text, without secrets: nothing is cut inside a word that could be one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.masked import DEPTH, LAST_WORD, beginning, masked, with_values
from host.messages.redact import redact

TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("all of it", 20, "all of it"),
        ("one two three", 9, "one two"),
        ("one\ntwo\tthree", 9, "one\ntwo"),
        ("中文没有空格所以按字数截断", 4, "中文没有"),
        ("", 0, ""),
    ],
)
def test_a_text_ends_where_a_word_does(text: str, limit: int, shown: str) -> None:
    assert beginning(text, limit) == shown


@given(st.text(), st.integers(0, 50))
def test_it_is_a_beginning_that_fits(text: str, limit: int) -> None:
    shown = beginning(text, limit)
    assert text.startswith(shown) and len(shown) <= limit


def test_a_word_as_long_as_a_page_is_cut_all_the_same() -> None:
    assert beginning("see " + "x" * 5 * LAST_WORD, 4 * LAST_WORD) == "see " + "x" * (4 * LAST_WORD - 4)


@pytest.mark.parametrize("limit", range(10, 60))
def test_no_part_of_a_token_is_left_wherever_the_text_is_cut(limit: int) -> None:
    assert "a1B2" not in masked(f"use this: {TOKEN} for the api", redact, limit)


def test_the_texts_in_arguments_are_changed_and_their_shape_is_not() -> None:
    arguments = {"command": f"curl {TOKEN}", "steps": ["a", {"key": TOKEN}], "count": 3, "on": None}
    changed = with_values(arguments, redact)
    assert TOKEN not in str(changed) and arguments["command"] == f"curl {TOKEN}"
    assert (changed["steps"][0], changed["count"], changed["on"], [*changed]) == ("a", 3, None, [*arguments])


def test_arguments_of_any_depth_come_back() -> None:
    nested: object = TOKEN
    for _ in range(5_000):
        nested = [nested]
    assert with_values({"a": nested}, redact, DEPTH)["a"] is not None
