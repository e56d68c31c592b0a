"""The implicit focus: what the newest requests are about."""

from __future__ import annotations

from hypothesis import given

from host.compressor.focus import EACH, HEADING, TOTAL, implicit_focus
from host.messages.redact import redact
from host.messages.types import Message
from host.testing.histories import histories
from host.testing.messages import assistant, user
from host.transforms.handoff import handoff_text, merged_in_front


def test_the_three_newest_requests_oldest_first() -> None:
    said = [user("one"), assistant("x"), user("two"), user(""), user("  three\n lines "), user("four")]
    assert implicit_focus(said, redact) == f"{HEADING}\n- two\n- three lines\n- four"


def test_a_summary_is_no_request_but_what_it_was_merged_into_is() -> None:
    merged = merged_in_front(handoff_text("old notes"), user("the real one"))
    assert implicit_focus([user(handoff_text("old notes")), merged], redact) == f"{HEADING}\n- the real one"
    assert implicit_focus([user(handoff_text("old notes")), assistant("x")], redact) is None


def test_long_requests_are_cut_and_so_is_the_whole() -> None:
    found = implicit_focus([user(letter * 900) for letter in "abc"], redact)
    assert found is not None and len(found) == TOTAL and found.endswith("…")
    assert all(len(line) <= EACH + 2 for line in found.splitlines())


def test_secrets_and_pictures_stay_out() -> None:
    picture: Message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}
    assert implicit_focus([picture], redact) is None
    found = implicit_focus([user("use sk-proj-AAAABBBBCCCCDDDDEEEEFFFF and data:image/png;base64,AAAA")], redact)
    assert found is not None and "BBBB" not in found and "base64" not in found


@given(histories())
def test_any_history_gives_a_short_focus_or_none(history: list[Message]) -> None:
    found = implicit_focus(history, redact)
    assert found is None or (found.startswith(HEADING) and len(found) <= TOTAL)
