"""What makes the reading of facts quick changes nothing of what is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.facts.any_case import AnyCase
from host.messages.facts.remembered import SHORT
from host.messages.facts.statements import DAY, NUMERAL, ROLE, STATE
from host.messages.facts.topic_words import ADDS, CHANGE, PERHAPS, POINTS
from host.messages.facts.values import values_in

PATTERNS = (ADDS, CHANGE, DAY, NUMERAL, PERHAPS, POINTS, ROLE, STATE)
WORDS = (
    "but no, instead INSTEAD Actually hold on make it Make That port 8080 NOW now Monday friday TWO twenty status is Green mode: dark "
    "owner Owner if IF might also Also too, another it That same's unless back then 改成 另外 もし 星期一 İ ſhift K “x” é . , ! ?"
)
texts = st.lists(st.sampled_from(WORDS.split()) | st.text(max_size=4), max_size=12).map(" ".join)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=texts, start=st.integers(0, 20))
def test_a_pattern_in_any_case_finds_what_the_expression_finds(pattern: AnyCase, text: str, start: int) -> None:
    found, wanted = pattern.search(text, start), pattern.whole.search(text, start)
    assert (found and found.span()) == (wanted and wanted.span())
    assert [match.span() for match in pattern.finditer(text)] == [match.span() for match in pattern.whole.finditer(text)]


@pytest.mark.parametrize("text", ["the port is 8080", "the port is 8080 " + "and so on " * SHORT])
def test_what_a_caller_does_to_the_facts_of_a_text_nobody_else_sees(text: str) -> None:
    first = values_in(text)
    first.clear()
    assert [fact.text for fact in values_in(text)] == ["8080"]
