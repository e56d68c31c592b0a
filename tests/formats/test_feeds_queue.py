"""Prompts that were typed while Claude Code worked: each that the model was told is said once, whatever the client wrote of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from host.formats import read
from host.formats.feeds import FEEDS, Said, TakenBack
from host.formats.feeds.events import MAIN
from host.formats.queued import HANDED_OVER, WAITING
from host.messages.violations import violations
from tests.formats.feeding import CLAUDE, DATA, SHEET, Sheet, drafts_of, fed, in_place, rows_of, shape, text, use

Story = Callable[[Sheet], object]


def working() -> Sheet:
    """A turn in the middle of a call."""
    sheet = Sheet()
    sheet.user("go")
    sheet.answer("m1", use("a"))
    return sheet


def going_on(sheet: Sheet) -> None:
    sheet.result("a")
    sheet.answer("m2", text("done"))


def typed(sheet: Sheet, *operations: str) -> list[int]:
    """Operations one after another; one that begins with + is a prompt that is typed."""
    return [sheet.queue("enqueue", name[1:]) if name.startswith("+") else sheet.queue(name) for name in operations]


def named(sheet: Sheet, words: str, reason: str = "absorbed_mid_turn") -> int:
    return sheet.queue("remove", words, reason=reason)


STORIES: dict[str, tuple[Story, list[str]]] = {
    "handed over": (lambda s: typed(s, "+more", "remove"), ["more"]),
    "two, the oldest first": (lambda s: typed(s, "+one", "+two", "remove", "remove"), ["one", "two"]),
    "the same words twice": (lambda s: typed(s, "+more", "remove", "+more", "remove"), ["more", "more"]),
    "still waiting": (lambda s: typed(s, "+one", "+two", "remove"), ["one"]),
    "taken back to go on writing": (lambda s: typed(s, "+one", "+two", "popAll", "+one and two", "remove"), ["one and two"]),
    "sent as a prompt": (lambda s: (typed(s, "+one", "+two", "dequeue"), s.user("one"), typed(s, "remove")), ["one", "two"]),
    "of the same words one sent": (lambda s: (typed(s, "+one", "+one", "remove", "dequeue"), s.user("one")), ["one", "one"]),
    "nothing waits": (lambda s: typed(s, "remove", "dequeue", "popAll"), []),
    "an unknown operation": (lambda s: typed(s, "+one", "shuffle", "remove"), ["one"]),
    "without words": (lambda s: (s.queue("enqueue"), s.queue("enqueue", " \n"), s.queue("enqueue", 7), typed(s, *["remove"] * 3)), []),
    "words as blocks": (lambda s: (s.queue("enqueue", [text("one")]), typed(s, "remove")), ["one"]),
    "an attachment before": (lambda s: (typed(s, "+one"), s.attach("one"), typed(s, "remove")), ["one"]),
    "an attachment after": (lambda s: (typed(s, "+one", "remove"), s.attach("one")), ["one"]),
    "an attachment with blocks": (lambda s: (typed(s, "+one", "remove"), s.attach([text("one ")])), ["one"]),
    "an attachment behind the answer": (lambda s: (typed(s, "+one", "remove"), s.answer("m9", text("well")), s.attach("one")), ["one"]),
    "two attachments": (lambda s: (typed(s, "+one", "+two", "remove", "remove"), s.attach("one"), s.attach("two")), ["one", "two"]),
    "one attachment for the same words twice": (
        lambda s: (typed(s, "+one", "remove"), s.attach("one"), typed(s, "+one"), s.attach("one"), typed(s, "remove")),
        ["one", "one"],
    ),
    "two attachments of the same words": (
        lambda s: (typed(s, "+one", "remove", "+one", "remove"), s.attach("one"), s.attach("one")),
        ["one", "one"],
    ),
    "two attachments of the same words before": (
        lambda s: (typed(s, "+one", "+one"), s.attach("one"), s.attach("one"), typed(s, "remove", "remove")),
        ["one", "one"],
    ),
    "an attachment of other words": (lambda s: (typed(s, "+one", "remove"), s.attach("two")), ["one", "two"]),
    "a note of the client with the same words": (lambda s: (typed(s, "+one", "remove"), s.user("one", isMeta=True)), ["one", "one"]),
    "a prompt of the same words at once": (lambda s: (typed(s, "+one", "remove"), s.user("one")), ["one"]),
    "a prompt of the same words twice": (lambda s: (typed(s, "+one", "remove"), s.user("one"), s.user("one")), ["one", "one"]),
    "a prompt of the same words later": (
        lambda s: (typed(s, "+one", "remove"), s.answer("m9", text("well")), s.user("one")),
        ["one", "one"],
    ),
    "a prompt of the same words behind another": (
        lambda s: (typed(s, "+one", "remove"), s.user("two"), s.user("one")),
        ["one", "two", "one"],
    ),
    "named, not the oldest": (lambda s: (typed(s, "+one", "+two"), named(s, "two"), named(s, "one")), ["two", "one"]),
    "an attachment of one that is not the oldest": (
        lambda s: (typed(s, "+one", "+two"), s.attach("two"), typed(s, "remove", "remove")),
        ["two", "one"],
    ),
    "an attachment of one, and the oldest still waits": (
        lambda s: (typed(s, "+one", "+two"), s.attach("two"), typed(s, "remove")),
        ["two"],
    ),
    "attachments in another order": (
        lambda s: (typed(s, "+one", "+two", "remove"), s.attach("two"), typed(s, "remove"), s.answer("m9", text("well")), s.attach("one")),
        ["one", "two"],
    ),
    "dropped": (lambda s: (typed(s, "+one", "+two"), named(s, "one", "cancelled"), typed(s, "remove")), ["two"]),
    "of an agent": (lambda s: (typed(s, "+one"), named(s, "one", "delivered_to_agent")), []),
    "beside the chain": (lambda s: (s.line("progress"), typed(s, "+one", "remove"), s.result("a", parent="u1")), ["one"]),
    "after an error of the client": (lambda s: (s.answer("e", text("500"), isApiErrorMessage=True), typed(s, "+one", "remove")), ["one"]),
}


def spoken(lines: list[str]) -> list[str]:
    return [line.removeprefix("user:") for line in lines if line.startswith("user:")][1:]


@pytest.mark.parametrize("name", STORIES)
def test_what_was_typed_meanwhile_is_said_once(name: str, tmp_path: Path) -> None:
    story, expected = STORIES[name]
    sheet = working()
    story(sheet)
    going_on(sheet)
    whole = sheet.read()
    assert spoken(shape(whole.window())) == expected
    for cut in range(len(sheet.rows)):
        assert sheet.read((cut,)).outcome == whole.outcome
    assert sheet.read(range(len(sheet.rows))).outcome == whole.outcome
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in sheet.rows))
    transcript = read(path)[0]
    assert spoken(shape(transcript.messages)) == expected
    assert violations(transcript.messages) == []


def test_it_is_said_at_its_time_and_under_its_lines_number() -> None:
    sheet = working()
    number = sheet.queue("enqueue", "more", timestamp="2026-01-07T21:08:38Z")
    sheet.queue("remove", timestamp="2026-01-07T21:09:20Z")
    said = sheet.read().events[-1]
    assert isinstance(said, Said) and said.time is not None
    assert (said.chain, said.key, said.message) == (MAIN, f"queued {number}", {"role": "user", "content": "more"})
    assert said.time.isoformat() == "2026-01-07T21:09:20+00:00"


def test_the_answer_goes_on_around_it(tmp_path: Path) -> None:
    sheet = working()
    typed(sheet, "+more", "remove")
    sheet.answer("m1", use("b"))
    sheet.result("a")
    sheet.result("b")
    sheet.answer("m2", text("done"))
    for cuts in ((), range(len(sheet.rows))):
        assert shape(sheet.read(cuts).window()) == ["user:go", "assistant+a+b:", "user:more", "tool:a", "tool:b", "assistant:done"]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in sheet.rows))
    [transcript] = read(path)
    assert shape(transcript.messages) == ["user:go", "assistant+a+b:", "tool:a", "tool:b", "user:more", "assistant:done"]
    assert transcript.mended == {}


def test_what_an_agent_is_told_repeats_nothing(tmp_path: Path) -> None:
    sheet = working()
    typed(sheet, "+one", "remove")
    sheet.user("look around", isSidechain=True, agentId="ag")
    sheet.attach("one", isSidechain=True, agentId="ag")
    told = sheet.read()
    assert (spoken(shape(told.window())), spoken(shape(told.window("ag")))) == (["one"], ["one"])
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in sheet.rows))
    assert [spoken(shape(draft)) for draft in drafts_of(path)] == [["one"], ["one"]]


def test_who_goes_back_before_it_takes_it_back_first() -> None:
    sheet = Sheet()
    sheet.user("go")
    fork = sheet.answer("m1", text("yes?"))
    typed(sheet, "+more", "remove")
    sheet.line("system", subtype="turn_duration")
    sheet.user("first try")
    sheet.user("second try", parent=fork)
    assert shape(sheet.read().window()) == ["user:go", "assistant:yes?", "user:second try"]


def test_who_goes_back_takes_it_back_and_may_say_it_again() -> None:
    sheet = Sheet()
    sheet.user("go")
    fork = sheet.answer("m1", text("yes?"))
    sheet.user("first try")
    sheet.answer("m2", use("a"))
    typed(sheet, "+more", "remove")
    sheet.user("second try", parent=fork)
    sheet.attach("more")
    for cuts in ((), range(len(sheet.rows))):
        told = sheet.read(cuts)
        assert [event for event in told.events if isinstance(event, TakenBack)] == [TakenBack(MAIN, "u1")]
        assert shape(told.window()) == ["user:go", "assistant:yes?", "user:second try", "user:more"]


@pytest.mark.parametrize("gone", ["no file", "another line", "a broken line", "too short"])
def test_words_that_an_earlier_reading_met_are_said_only_where_they_still_are(tmp_path: Path, gone: str) -> None:
    sheet = working()
    typed(sheet, "+more", "remove")
    sheet.attach("more")
    path = tmp_path / SHEET.name
    rows = [*sheet.rows[:2], {"content": "other"}, *sheet.rows[3:]] if gone == "another line" else sheet.rows
    lines = [json.dumps(row) for row in rows]
    if gone == "a broken line":
        lines[2] = lines[2][:-3]
    if gone != "no file":
        path.write_text("\n".join(lines[:2] if gone == "too short" else lines))
    feed = FEEDS[CLAUDE].start(path, {}, lambda chain, key: None)
    for number, row in enumerate(sheet.rows[:3], 1):
        feed.take(number, row)
    feed = FEEDS[CLAUDE].start(path, json.loads(json.dumps(feed.state())), lambda chain, key: None)
    assert feed.take(4, sheet.rows[3]) == []
    assert len(feed.take(5, sheet.rows[4])) == 1  # the attachment is nobody's echo


def test_what_is_remembered_is_bounded_and_holds_no_words() -> None:
    sheet = working()
    for number in range(2 * WAITING):
        sheet.queue("enqueue", f"OPEN SESAME {number}")
    waiting = len(json.dumps(sheet.read().state))
    for _ in range(2 * WAITING):
        sheet.queue("remove")
    told = sheet.read((WAITING, 3 * WAITING))
    assert spoken(shape(told.window())) == [f"OPEN SESAME {number}" for number in range(WAITING, 2 * WAITING)]
    written = json.dumps(told.state)
    assert "SESAME" not in written and waiting < 60 * WAITING and len(written) < 40 * (WAITING + HANDED_OVER)


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")
REAL = {
    "session-624a4a58": ["no, add conversationId field, but set value from sessionId"],
    "session-3fe1b6bc": ["check 019b7f07-4a68-7d10-a8ef-8454269f439d and event_msg type"],
    "session-196820da": [],
}


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_the_prompts_of_real_sessions_that_no_line_repeats(name: str) -> None:
    path = DATA / "claude-code" / f"{name}.jsonl"
    told = fed(CLAUDE, rows_of(path), path=path)
    said = {key: message["content"] for key, message in told.messages[MAIN].items() if key.startswith("queued ")}
    assert list(said.values()) == REAL[name]
    [transcript] = read(path)
    assert in_place(told.window()) == transcript.messages
    assert transcript.mended == {}
