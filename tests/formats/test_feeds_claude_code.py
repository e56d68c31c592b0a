"""Claude Code sessions line by line: grown answers, side chains, what was taken back, and what is remembered over a restart."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.formats.feeds import FEEDS, Said, TakenBack
from host.formats.feeds.events import MAIN
from host.formats.feeds.trail import LINES, MESSAGES, PROMPTS
from host.messages.types import JSON
from tests.formats.feeding import CLAUDE, DATA, SHEET, Sheet, drafts_of, fed, in_place, rows_of, shape, text, use


def told_of(event: object) -> str:
    assert isinstance(event, Said | TakenBack)
    return f"{event.key}: {shape([event.message])[0]}" if isinstance(event, Said) else f"back to {event.after}"


def test_an_answer_in_pieces_is_said_again_grown_under_its_first_key() -> None:
    sheet = Sheet()
    sheet.user("go")
    sheet.answer("m1", {"type": "thinking", "thinking": "two"})
    sheet.answer("m1", text("yes"))
    sheet.answer("m1", use("a"))
    sheet.result("a")
    sheet.answer("m1", use("b"))
    sheet.result("b")
    sheet.answer("m2", text("done"))
    told = sheet.read()
    assert [told_of(event) for event in told.events] == [
        "u0: user:go",
        "u1: assistant:",
        "u1: assistant:yes",
        "u1: assistant+a:yes",
        "u4: tool:a",
        "u1: assistant+a+b:yes",
        "u6: tool:b",
        "u7: assistant:done",
    ]
    assert told.messages[MAIN]["u1"]["reasoning_content"] == "two"


def test_what_was_said_does_not_change_when_the_answer_grows() -> None:
    feed = FEEDS[CLAUDE].start(SHEET, {}, lambda chain, key: None)
    sheet = Sheet()
    for block in (text("one"), text("two"), text("three")):
        sheet.answer("m1", block)
    said = [event for number, row in enumerate(sheet.rows, 1) for event in feed.take(number, row)]
    assert [len(event.message["content"] or "") for event in said if isinstance(event, Said)] == [3, 2, 3]
    assert [event.message["content"] for event in said if isinstance(event, Said)][1] == [text("one"), text("two")]


def test_a_prompt_and_another_answer_close_an_answer() -> None:
    sheet = Sheet()
    sheet.answer("m1", text("a"))
    sheet.answer("m2", text("b"))
    sheet.answer("m1", text("c"))
    sheet.user("hm")
    sheet.answer("m1", text("d"))
    assert list(sheet.read().messages[MAIN]) == ["u0", "u1", "u2", "u3", "u4"]


def test_a_first_piece_of_which_nothing_is_readable_gives_its_key_only() -> None:
    sheet = Sheet()
    sheet.answer("m1", {"type": "redacted_thinking", "data": "x"})
    sheet.answer("m1", text("yes"))
    for cuts in ((), (1,)):
        told = sheet.read(cuts)
        assert [told_of(event) for event in told.events] == ["u0: assistant:yes"]


def test_an_empty_text_is_a_piece_over_a_restart_too() -> None:
    sheet = Sheet()
    sheet.answer("m1", text(""))
    sheet.answer("m1", text("yes"))
    assert sheet.read((1,)).outcome == sheet.read().outcome


def test_after_a_restart_an_answer_that_is_not_known_any_more_goes_on_as_a_message_of_its_own() -> None:
    sheet = Sheet()
    sheet.answer("m1", text("erased"))
    sheet.answer("m1", text("more"))
    sheet.answer("m1", text("and more"))
    feed = FEEDS[CLAUDE].start(SHEET, {}, lambda chain, key: None)
    feed.take(1, sheet.rows[0])
    feed = FEEDS[CLAUDE].start(SHEET, feed.state(), lambda chain, key: None)
    events = [*feed.take(2, sheet.rows[1]), *feed.take(3, sheet.rows[2])]
    assert [told_of(event) for event in events] == ["u1: assistant:more", "u1: assistant:more\nand more"]


def test_results_of_one_line_are_messages_before_its_text() -> None:
    sheet = Sheet()
    sheet.answer("m1", use("a"), use("b"))
    sheet.user(
        [
            text("also"),
            {"type": "tool_result", "tool_use_id": "a", "content": "1"},
            {"type": "tool_result", "tool_use_id": "b", "content": "2"},
        ]
    )
    told = sheet.read()
    assert list(told.messages[MAIN]) == ["u0", "u1", "u1#2", "u1#3"]
    assert shape(told.window())[1:] == ["tool:a", "tool:b", "user:also"]


def test_a_line_written_twice_is_said_once_over_a_restart_too() -> None:
    sheet = Sheet()
    sheet.user("once")
    sheet.answer("m1", text("yes"))
    sheet.rows += sheet.rows
    for cuts in ((), (2,), (3,)):
        assert shape(sheet.read(cuts).window()) == ["user:once", "assistant:yes"]


def test_lines_without_an_id_are_named_by_their_number() -> None:
    told = fed(CLAUDE, [{"type": "user", "message": {"content": "a"}}] * 2)
    assert list(told.messages[MAIN]) == ["line 1", "line 2"]


def test_side_chains_are_chains_of_their_own() -> None:
    sheet = Sheet()
    sheet.user("ask the agent", cwd="/w", version="2.1", gitBranch="main")
    main = sheet.answer("m1", use("t"))
    sheet.user("look around", parent=None, isSidechain=True, agentId="ag-7", cwd="/w/sub")
    sheet.answer("s1", text("found"), isSidechain=True, agentId="ag-7", cwd="/elsewhere")
    old = sheet.user("older kind", parent=None, isSidechain=True)
    sheet.answer("s2", text("found"), parent=old, isSidechain=True)
    sheet.answer("m1", use("t2"), parent=main)
    sheet.answer("s2", text("too"), isSidechain=True, parent="u5")
    for cuts in ((), range(1, 8)):
        told = sheet.read(cuts)
        assert {chain: shape(told.window(chain)) for chain in told.messages} == {
            "": ["user:ask the agent", "assistant+t+t2:"],
            "ag-7": ["user:look around", "assistant:found"],
            "u4": ["user:older kind", "assistant:found\ntoo"],
        }
        assert told.abouts["ag-7"] == {"working_directory": "/w/sub", "side_chain_of": "s-1", "agent": "ag-7", "model": "claude-x"}
        assert told.abouts["u4"] == {"side_chain_of": "s-1", "model": "claude-x"}
        assert told.abouts[MAIN] == {
            "session": SHEET.stem,
            "working_directory": "/w",
            "client_version": "2.1",
            "branch": "main",
            "model": "claude-x",
        }


@pytest.mark.parametrize(
    ("stem", "rows", "session"),
    [
        (SHEET.stem, [{"type": "queue-operation", "sessionId": "s-1"}], SHEET.stem),
        ("copy", [{"type": "queue-operation", "sessionId": "s-1"}, {"type": "last-prompt", "sessionId": "s-2"}], "s-1"),
        ("copy", [{"type": "last-prompt"}], "copy"),
    ],
)
def test_a_session_is_named_by_its_file_else_by_its_lines(stem: str, rows: list[JSON], session: str) -> None:
    assert fed(CLAUDE, rows, (1,), Path(f"{stem}.jsonl")).abouts[MAIN]["session"] == session


def title(kind: str, words: str, **more: Any) -> JSON:
    return {"type": kind, {"custom-title": "customTitle", "ai-title": "aiTitle"}.get(kind, "summary"): words, **more}


LINE = {"type": "user", "uuid": "u0", "message": {"role": "user", "content": "hi"}}
TITLES: dict[str, tuple[list[JSON], str | None]] = {
    "the newest": ([title("ai-title", "a"), title("ai-title", "b")], "b"),
    "the user's own before the client's": ([title("custom-title", "mine"), title("ai-title", "b")], "mine"),
    "the user's newest": ([title("custom-title", "mine"), title("custom-title", "mine too")], "mine too"),
    "a summary of a line read before": ([LINE, title("summary", "talk", leafUuid="u0")], "talk"),
    "a summary of a line to come": ([title("summary", "talk", leafUuid="u0"), LINE], "talk"),
    "a summary of another session": ([title("summary", "other", leafUuid="x"), LINE], None),
    "a summary that names no line": ([title("summary", "other"), LINE], None),
    "no title": ([title("custom-title", ""), {"type": "ai-title", "aiTitle": 5}], None),
}


@pytest.mark.parametrize("name", TITLES)
def test_the_title_is(name: str) -> None:
    rows, expected = TITLES[name]
    assert fed(CLAUDE, rows).abouts[MAIN].get("title") == expected


def test_a_title_is_not_remembered_but_its_rank_is() -> None:
    rows = [title("custom-title", "mine"), title("ai-title", "the client's")]
    told = fed(CLAUDE, rows, (1,))
    assert "title" not in told.abouts[MAIN]
    assert "mine" not in json.dumps(told.state)


def test_a_compaction_is_marked_and_its_boundary_adds_nothing() -> None:
    sheet = Sheet()
    sheet.user("long work")
    last = sheet.answer("m1", text("much"))
    sheet.line("system", parent=None, subtype="compact_boundary", logicalParentUuid=last)
    sheet.user("summary of it", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    sheet.answer("m2", text("on"))
    sheet.user("summary without a boundary", parent=None, isCompactSummary=True)
    told = sheet.read()
    assert told.compactions == ["u3", "u5"]
    assert shape(told.window()) == [
        "user:long work",
        "assistant:much",
        "user:summary of it",
        "assistant:on",
        "user:summary without a boundary",
    ]


def test_what_the_client_showed_to_the_eye_only_is_kept_out_and_its_errors_stay() -> None:
    sheet = Sheet()
    sheet.user("note", isMeta=True)
    sheet.user("for the eye", isVisibleInTranscriptOnly=True)
    sheet.line("system", subtype="local_command")
    sheet.rows[-1]["content"] = "3"
    sheet.line("attachment", attachment={"type": "queued_command", "prompt": "and quickly"})
    sheet.line("attachment", attachment={"type": "todo_reminder"})
    sheet.answer("e1", text("API Error: 500"), isApiErrorMessage=True)
    sheet.rows[-1]["message"]["model"] = "<synthetic>"
    told = sheet.read()
    assert shape(told.window()) == ["user:note", "user:3", "user:and quickly", "assistant:API Error: 500"]
    assert "model" not in told.abouts[MAIN]


TIMES = {
    "2026-01-07T20:58:27.907Z": datetime(2026, 1, 7, 20, 58, 27, 907_000, UTC),
    "2026-01-07T20:58:27+02:00": datetime(2026, 1, 7, 18, 58, 27, tzinfo=UTC),
    "2026-01-07T20:58:27": datetime(2026, 1, 7, 20, 58, 27, tzinfo=UTC),
    "0001-01-01T00:00:00+14:00": None,
    "yesterday": None,
    "": None,
    7: None,
}


@pytest.mark.parametrize("recorded", TIMES)
def test_the_time_of_a_message_is_its_lines(recorded: object) -> None:
    [event] = fed(CLAUDE, [{**LINE, "timestamp": recorded}]).events
    assert isinstance(event, Said)
    assert event.time == TIMES[recorded]


def talk() -> tuple[Sheet, str]:
    """A prompt, its answer in two lines, a line of the client's: and the answer's last line."""
    sheet = Sheet()
    sheet.user("start")
    sheet.answer("m1", {"type": "thinking", "thinking": "hm"})
    fork = sheet.answer("m1", text("yes?"))
    sheet.line("system", subtype="turn_duration")
    return sheet, fork


def test_a_prompt_that_is_tried_again_takes_the_earlier_one_back() -> None:
    sheet, _ = talk()
    for words in ("first try", "second try", "third try"):
        sheet.user(words, parent="u3")
        sheet.answer(words, text(f"answer to {words}"))
    for cuts in ((), range(1, 10)):
        told = sheet.read(cuts)
        assert shape(told.window()) == ["user:start", "assistant:yes?", "user:third try", "assistant:answer to third try"]
        assert [told_of(event) for event in told.events if isinstance(event, TakenBack)] == ["back to u1", "back to u1"]
        assert len(told.messages[MAIN]) == 8


def test_who_goes_back_behind_a_prompt_takes_back_all_that_follows_the_line() -> None:
    sheet, fork = talk()
    sheet.user("the client's note", isMeta=True)
    sheet.user("first try")
    sheet.answer("m2", text("wrong way"))
    sheet.user("more of it")
    sheet.user("second try", parent=fork)
    for cuts in ((), range(1, 9)):
        told = sheet.read(cuts)
        assert shape(told.window()) == ["user:start", "assistant:yes?", "user:second try"]
        assert TakenBack(MAIN, "u1") in told.events


def test_results_beside_the_line_that_a_prompt_is_tried_again_after_stay() -> None:
    sheet, _ = talk()
    first, second = sheet.answer("m2", use("a")), sheet.answer("m2", use("b"))
    early = sheet.result("a", parent=first)
    sheet.result("b", parent=second)
    sheet.user("first try", parent=early)
    sheet.user("second try", parent=early)
    assert shape(sheet.read().window())[2:] == ["assistant+a+b:", "tool:a", "tool:b", "user:second try"]


def test_a_prompt_of_long_ago_can_be_tried_again() -> None:
    sheet, fork = talk()
    sheet.user("first try", parent=fork)
    for number in range(LINES):
        sheet.answer(f"a{number}", text("on"))
    sheet.user("second try", parent=fork)
    assert shape(sheet.read((LINES,)).window()) == ["user:start", "assistant:yes?", "user:second try"]


def test_after_going_back_the_new_line_is_the_live_one() -> None:
    sheet, fork = talk()
    sheet.user("first try")
    sheet.user("second try", parent=fork)
    sheet.answer("m2", text("right"))
    sheet.user("on")
    sheet.user("other", parent="u6")
    assert shape(sheet.read().window()) == ["user:start", "assistant:yes?", "user:second try", "assistant:right", "user:other"]


def going_on(sheet: Sheet, parent: str | None, **more: Any) -> str:
    return sheet.user("on", parent=parent, **more)


def parallel(sheet: Sheet, fork: str) -> None:
    first, second = sheet.answer("m2", use("a")), sheet.answer("m2", use("b"))
    early = sheet.result("a", parent=first)
    sheet.result("b", parent=second)
    going_on(sheet, early)


def interrupted(sheet: Sheet, fork: str) -> None:
    first, second = sheet.answer("m2", use("a")), sheet.answer("m2", use("b"))
    for key, parent in (("a", first), ("b", second)):
        sheet.result(key, parent=parent)
        sheet.rows[-1]["message"]["content"].append(text("[interrupted]"))


def compacted(sheet: Sheet, fork: str) -> None:
    sheet.user("before")
    sheet.line("system", parent=None, subtype="compact_boundary", compactMetadata={"preservedSegment": {"tailUuid": fork}})
    sheet.user("summary", isCompactSummary=True)
    sheet.user("after")
    going_on(sheet, fork)


NO_WAY_BACK: dict[str, Any] = {
    "parallel results fork the chain": parallel,
    "results with words on an interruption": interrupted,
    "an unknown parent": lambda sheet, fork: (sheet.user("first"), going_on(sheet, "of another file")),
    "a note of the client": lambda sheet, fork: (sheet.user("first"), going_on(sheet, fork, isMeta=True)),
    "no prompt between": lambda sheet, fork: (sheet.answer("m2", text("more")), going_on(sheet, fork)),
    "a line from before a compaction that kept it": compacted,
    "a side chain": lambda sheet, fork: (sheet.user("first"), going_on(sheet, fork, isSidechain=True, agentId="a")),
    "a retried answer": lambda sheet, fork: (sheet.user("first"), sheet.answer("m3", text("x"), parent=fork)),
}


@pytest.mark.parametrize("name", NO_WAY_BACK)
def test_nothing_is_taken_back_by(name: str) -> None:
    sheet, fork = talk()
    NO_WAY_BACK[name](sheet, fork)
    for cuts in ((), range(len(sheet.rows))):
        assert not [event for event in sheet.read(cuts).events if isinstance(event, TakenBack)]


def test_a_branch_that_was_taken_back_can_be_taken_up_again() -> None:
    sheet, fork = talk()
    sheet.user("first way", parent=fork)
    end = sheet.answer("m2", text("on the first"))
    sheet.user("second way", parent=fork)
    sheet.answer("m3", text("on the second"))
    sheet.user("on with the first", parent=end)
    for cuts in ((), range(len(sheet.rows))):
        told = sheet.read(cuts)
        assert shape(told.window())[2:] == ["user:first way", "assistant:on the first", "user:on with the first"]


def test_a_prompt_that_follows_nothing_begins_anew() -> None:
    sheet, _ = talk()
    sheet.user("first", parent=None)
    assert shape(sheet.read().window()) == ["user:first"]


def test_who_goes_back_behind_a_compaction_has_what_was_before_it() -> None:
    sheet, fork = talk()
    sheet.user("before")
    sheet.line("system", parent=None, subtype="compact_boundary")
    sheet.user("summary", isCompactSummary=True)
    sheet.user("after")
    sheet.user("another way", parent=fork)
    for cuts in ((), range(len(sheet.rows))):
        assert shape(sheet.read(cuts).window()) == ["user:start", "assistant:yes?", "user:another way"]


def test_another_line_under_the_same_id_is_a_message_of_its_own() -> None:
    sheet = Sheet()
    sheet.user("one")
    sheet.answer("m1", text("two"))
    repeated = {**sheet.rows[0], "parentUuid": "u1"}
    for cuts in ((), range(5)):
        told = fed(CLAUDE, [*sheet.rows, repeated, {**repeated, "message": {"role": "user", "content": "other words"}}], cuts)
        assert shape(told.window()) == ["user:one", "assistant:two", "user:other words"]


def test_the_prompts_of_the_made_up_session_that_were_taken_back() -> None:
    path = Path(__file__).parents[1] / "given" / "recall" / "conversations" / "tool-library.jsonl"
    rows = rows_of(path)
    for cuts in ((), range(len(rows))):
        told = fed(CLAUDE, rows, cuts, path)
        keys = {index + 1: row.get("uuid") for index, row in enumerate(rows)}
        assert [event.after for event in told.events if isinstance(event, TakenBack)] == [keys[21]]
        assert told.compactions == [keys[12], keys[39]]
        assert len(told.messages) == 2


def test_the_state_is_small_and_holds_no_word_that_was_said() -> None:
    sheet = Sheet()
    for number in range(2_000):
        sheet.user("OPEN SESAME")
        sheet.answer(f"m{number}", text("OPEN"), use(f"c{number}", secret="SESAME"))
        sheet.result(f"c{number}")
    sheet.answer("last", text("OPEN SESAME"))
    state = sheet.read().state
    written = json.dumps(state)
    assert "OPEN" not in written and "SESAME" not in written
    assert len(written) < 40 * (LINES + MESSAGES + PROMPTS)


class Move(NamedTuple):
    """One line of a random session; ``back`` also chooses among blocks, agents and older lines."""

    kind: str
    words: str
    back: int

    def blocks(self, place: int) -> list[JSON]:
        return [{"type": "thinking", "thinking": self.words}, text(self.words), use(f"c{place}")]

    def older(self, sheet: Sheet, branches: bool) -> str:
        return str(sheet.rows[-self.back].get("uuid", "")) if branches and 0 < self.back <= len(sheet.rows) else ""

    def write(self, sheet: Sheet, *, branches: bool) -> None:
        place, parent = len(sheet.rows), self.older(sheet, branches)
        answer = sum(row.get("first", False) for row in sheet.rows)
        block = self.blocks(place)[self.back % 3]
        side: JSON = {"isSidechain": True, "parent": parent or None}
        match self.kind:
            case "user":
                sheet.user(f"p {self.words}", parent=parent)
            case "piece":
                sheet.answer(f"m{answer}", block, parent=parent)
            case "next":
                sheet.answer(f"m{answer + 1}", *self.blocks(place)[self.back % 3 :], first=True)
            case "result":
                sheet.result(f"c{place - self.back}")
            case "results":
                sheet.result(f"c{place - self.back}", f"c{place}")
            case "note":
                sheet.user(self.words, isMeta=True)
            case "agent":
                sheet.answer(f"s{self.back}", block, agentId=f"a{self.back}", **side)
            case "older":
                sheet.user(self.words, **side)
            case "queue":
                sheet.queue(("enqueue", "enqueue", "remove", "remove", "remove", "dequeue", "popAll")[self.back], self.words or None)
            case "attach":
                sheet.attach(self.words)
            case "system":
                sheet.line("system", subtype="turn_duration")
            case "again":
                sheet.rows.extend(sheet.rows[-1 - self.back :][:1])
            case "compact":
                sheet.user(self.words, parent=None, isCompactSummary=True)
            case "error":
                sheet.answer(f"e{place}", text(self.words), isApiErrorMessage=True)


KINDS = ["user", "user", "piece", "piece", "piece", "next", "result", "results", "note", "agent", "older", "system", "again", "compact"]
QUEUE = ["queue", "queue", "queue", "attach"]
MOVES = st.builds(Move, st.sampled_from([*KINDS, *QUEUE, "error"]), st.sampled_from(["a", "b", ""]), st.integers(0, 6))


def sheet_of(moves: list[Move], *, branches: bool) -> Sheet:
    """A session of random moves; with ``branches`` prompts and pieces also follow older lines."""
    sheet = Sheet()
    for move in moves:
        move.write(sheet, branches=branches)
    return sheet


@given(st.lists(MOVES, max_size=30), st.sets(st.integers(0, 29)))
def test_every_cut_gives_the_same(moves: list[Move], cuts: set[int]) -> None:
    sheet = sheet_of(moves, branches=True)
    whole = sheet.read().outcome
    assert sheet.read(cuts).outcome == whole
    assert sheet.read(range(len(sheet.rows))).outcome == whole


# left out: errors, which only the feed keeps, and thoughts without words, which take no place until a word follows
@given(st.lists(MOVES.filter(lambda move: move.kind != "error" and bool(move.words)), max_size=30))
def test_without_branches_it_is_what_the_whole_file_gives(tmp_path_factory: pytest.TempPathFactory, moves: list[Move]) -> None:
    sheet = sheet_of([Move("user", "go", 0), *moves], branches=False)
    path = tmp_path_factory.mktemp("sheet") / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in sheet.rows))
    told = sheet.read()
    chains = [told.window(chain) for chain in sorted(told.messages, key=bool)]
    assert sorted(map(json.dumps, map(in_place, chains))) == sorted(map(json.dumps, map(in_place, drafts_of(path))))


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")
FILES = sorted((DATA / "claude-code").glob("*.jsonl")) if DATA.is_dir() else []


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_real_sessions_are_told_as_the_whole_file_is_read(path: Path) -> None:
    told = fed(CLAUDE, rows_of(path), path=path)
    assert [in_place(told.window(chain)) for chain in told.messages] == [in_place(draft) for draft in drafts_of(path)]
    assert not [event for event in told.events if isinstance(event, TakenBack)]
    assert all(isinstance(event, Said) and event.time for event in told.events)


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_real_sessions_are_told_the_same_with_every_cut(path: Path) -> None:
    rows = rows_of(path)
    whole = fed(CLAUDE, rows, path=path).outcome
    assert fed(CLAUDE, rows, range(len(rows)), path).outcome == whole
    for cut in range(0, len(rows), 25):
        assert fed(CLAUDE, rows, (cut,), path).outcome == whole


@needs_data
def test_the_real_compaction_and_a_real_agents_file() -> None:
    path = DATA / "claude-code" / "session-624a4a58.jsonl"
    told = fed(CLAUDE, rows_of(path), path=path)
    assert [rows_of(path)[158]["uuid"]] == told.compactions
    assert told.abouts[MAIN]["session"] == "624a4a58-b34c-462d-a70d-13421c8125a8"
    path = DATA / "claude-code" / "agent-a485154.jsonl"
    told = fed(CLAUDE, rows_of(path), path=path)
    assert list(told.messages) == ["a485154"]
    assert told.abouts["a485154"]["agent"] == "a485154"
