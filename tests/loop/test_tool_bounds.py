"""The result of a call is never larger than its share of the window."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from host.loop.bounds import bounded, room_for
from host.loop.events import Returned
from host.messages.reading import text_of
from host.messages.violations import violations
from host.tokens import Counter
from tests.agents_for_tests import WINDOW, Bench, Echo, calling, plugin

COUNT = Counter("", sampled=False).text


@given(st.text(max_size=400), st.integers(1, 60))
def test_what_has_room_stays_and_the_rest_is_a_beginning_of_it(text: str, room: int) -> None:
    shown = bounded(text, room, COUNT)
    if shown != text:
        kept = shown[: shown.rindex("\n[cut here: ")]
        assert text.startswith(kept) and COUNT(kept) <= room < max(COUNT(text), room + 1)
        assert f"{len(kept):,} of {len(text):,} characters" in shown
    else:
        assert COUNT(text) <= room or len(text) <= room


def test_results_of_one_reply_share_half_of_the_window() -> None:
    assert [room_for(8_000, calls) for calls in (1, 2, 4, 100)] == [2_000, 2_000, 1_000, 40]


def test_a_huge_result_is_cut_and_says_so() -> None:
    bench = Bench()
    huge = Echo(behave=lambda arguments: "so much to read " * 100_000)
    assert bench.agent([calling("a", "b"), "Too much."], tools=[plugin(huge)]).turn("Go").calls == 2
    first, second = (text_of(message) for message in bench.archived()[2:4])
    assert first == second == bench.told(Returned)[0].result and first.endswith("Ask for a smaller part of it.]")
    assert COUNT(first) < WINDOW // 3 and "of 1,600,000 characters" in first
    assert violations(list(bench.main.requests[1].messages)) == []


def test_fifty_results_of_one_reply_fit_a_small_window() -> None:
    room = room_for(8_000, 50)
    assert 50 * COUNT(bounded("line after line of a log\n" * 10_000, room, COUNT)) <= 8_000 // 2
