"""Titles: clean, short, numbered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.store.titles import LONGEST, base_title, clean_title, next_title

CLEAN = [
    (None, None),
    ("", None),
    (" \t\n ", None),
    ("\u200b\u2060\ufeff", None),
    ("  fix   the\tparser\r\n", "fix the parser"),
    ("non\u00a0breaking and\u3000wide", "non breaking and wide"),
    ("bell\x07 and nul\x00", "bell and nul"),
    ("ab\u200bc\u202ed", "abcd"),
    ("bad \udc81 byte", "bad byte"),
    ("修复解析器", "修复解析器"),
    ("w" * 101, "w" * 100),
    ("w" * 99 + " xyz", "w" * 99),
]


@pytest.mark.parametrize(("given_title", "wanted"), CLEAN)
def test_a_title_is_one_line_of_what_can_be_seen(given_title: str | None, wanted: str | None) -> None:
    assert clean_title(given_title) == wanted


@given(st.text(st.characters(codec=None)))
def test_a_clean_title_stays_as_it_is(text: str) -> None:
    cleaned = clean_title(text)
    assert clean_title(cleaned) == cleaned
    assert cleaned is None or (0 < len(cleaned) <= LONGEST and cleaned.encode() and "\n" not in cleaned)


NEXT = [
    ("work", [], "work #2"),
    ("work", ["work"], "work #2"),
    ("work #2", ["work", "work #2"], "work #3"),
    ("work", ["work", "work #2", "work #7"], "work #8"),
    ("work", ["other #9", "work more #4", "work #2 #5"], "work #2"),
    ("work #2", [], "work #2"),
    ("work #2 #5", ["work #2 #5"], "work #2 #6"),
    ("#1", ["#1"], "#1 #2"),
    ("issue #12x", [], "issue #12x #2"),
    ("解析器 #9", ["解析器 #9"], "解析器 #10"),
    ("w" * 100, ["w" * 100], "w" * 97 + " #2"),
    ("w" * 96 + " x y", [], "w" * 96 + " #2"),
]


@pytest.mark.parametrize(("title", "held", "wanted"), NEXT)
def test_a_continuation_has_the_next_number(title: str, held: list[str], wanted: str) -> None:
    assert next_title(title, held) == wanted


def test_long_titles_that_differ_at_the_end_do_not_get_the_same_continuation() -> None:
    held = ["w" * 99 + "a", "w" * 99 + "b"]
    for title in [*held, *held]:
        held.append(next_title(title, held))
    assert len(set(held)) == len(held) == 6


@given(st.text("ab #12", min_size=1, max_size=12), st.lists(st.text("ab #12", max_size=12)))
def test_a_continuation_is_new_and_clean(text: str, others: list[str]) -> None:
    title = clean_title(text) or "a"
    held = [title, *filter(None, map(clean_title, others))]
    following = next_title(title, held)
    assert following not in held
    assert clean_title(following) == following
    assert base_title(following) == base_title(title)
