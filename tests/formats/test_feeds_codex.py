"""Codex rollouts line by line: items and the events that repeat them, turns taken back, and what is remembered over a restart."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.formats import codex
from host.formats.feeds import FEEDS, Said, TakenBack
from host.formats.feeds.codex import TURNS
from host.formats.feeds.events import MAIN
from host.formats.source import open_source
from host.messages.types import JSON
from tests.formats.feeding import DATA, Told, fed, rows_of, shape

ID = "019e1625-789d-76c0-80ab-3724b5ddb799"


def row(kind: str, payload: JSON) -> JSON:
    return {"timestamp": "2026-05-12T10:00:00.000Z", "type": kind, "payload": payload}


def item(kind: str, **more: Any) -> JSON:
    return row("response_item", {"type": kind, **more})


def event(kind: str, **more: Any) -> JSON:
    return row("event_msg", {"type": kind, **more})


def said(role: str, *texts: str) -> JSON:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def prompt(words: str) -> JSON:
    return event("user_message", message=words)


def answer(words: str) -> JSON:
    return event("agent_message", message=words)


def thought(words: str = "") -> JSON:
    return item("reasoning", summary=[{"type": "summary_text", "text": words}] if words else [], encrypted_content="x")


def called(key: str) -> JSON:
    return item("function_call", name="exec", arguments="{}", call_id=key)


def output(key: str) -> JSON:
    return item("function_call_output", call_id=key, output="ok")


TURN = event("task_started")


def back(turns: object) -> JSON:
    return event("thread_rolled_back", num_turns=turns)


def told(*rows: JSON, cuts: Collection[int] = (), stem: str = "rollout") -> Told:
    return fed("codex", rows, cuts, Path(f"{stem}.jsonl"))


def events_of(found: Told) -> list[str]:
    return [f"{e.key}: {shape([e.message])[0]}" if isinstance(e, Said) else f"back to {e.after}" for e in found.events]


def test_an_answer_grows_under_the_line_of_its_first_item() -> None:
    rows = [said("user", "go"), thought("hm"), said("assistant", "look"), called("a"), called("b"), output("a"), called("c"), output("b")]
    rows += [output("c"), called("d"), output("d"), said("assistant", "one"), said("assistant", "two")]
    found = told(*rows)
    assert events_of(found) == [
        "line 1: user:go",
        "line 2: assistant:",
        "line 2: assistant:look",
        "line 2: assistant+a:look",
        "line 2: assistant+a+b:look",
        "line 6: tool:a",
        "line 2: assistant+a+b+c:look",
        "line 8: tool:b",
        "line 9: tool:c",
        "line 10: assistant+d:",
        "line 11: tool:d",
        "line 12: assistant:one",
        "line 13: assistant:two",
    ]
    assert told(*rows, cuts=range(len(rows))).outcome == found.outcome


EVENTS: dict[str, tuple[list[JSON], list[str]]] = {
    "event after its item": ([said("user", "hi"), prompt("hi")], ["line 1: user:hi"]),
    "event before its item": ([answer("yo"), said("assistant", "yo")], ["line 1: assistant:yo"]),
    "event inside its item": ([said("user", "context", "hi"), prompt("hi\n")], ["line 1: user:context\nhi"]),
    "item that holds more": ([answer("yo"), said("assistant", "yo", "ho")], ["line 1: assistant:yo", "line 1: assistant:yo\nho"]),
    "prompt whose item holds more": ([prompt("hi"), said("user", "context", "hi")], ["line 1: user:hi", "line 1: user:context\nhi"]),
    "only events": ([prompt("hi"), answer("yo")], ["line 1: user:hi", "line 2: assistant:yo"]),
    "the same prompt twice": (
        [said("user", "p"), prompt("p"), said("assistant", "x"), said("user", "p"), prompt("p")],
        ["line 1: user:p", "line 3: assistant:x", "line 4: user:p"],
    ),
    "the same prompt twice, event first": (
        [prompt("p"), said("user", "p"), prompt("p"), said("user", "p")],
        ["line 1: user:p", "line 4: user:p"],
    ),
    "short prompt inside an older one": (
        [said("user", "please"), prompt("please"), prompt("ok"), prompt("p")],
        ["line 1: user:please", "line 3: user:ok", "line 4: user:p"],
    ),
    "items of context": ([said("user", "<context/>"), prompt("hi")], ["line 1: user:<context/>", "line 2: user:hi"]),
    "an item of another role": ([said("assistant", "hi"), prompt("hi")], ["line 1: assistant:hi", "line 2: user:hi"]),
    "a compaction that quotes it": (
        [prompt("fix it"), row("compacted", {"message": "so far: fix it"})],
        ["line 1: user:fix it", "line 2: user:so far: fix it"],
    ),
    "its thought before": (
        [thought(), answer("yo"), said("assistant", "yo"), called("a")],
        ["line 1: assistant:yo", "line 1: assistant+a:yo"],
    ),
    "a call in between": (
        [answer("yo"), called("a"), said("assistant", "yo", "ho")],
        ["line 1: assistant:yo", "line 1: assistant+a:yo", "line 1: assistant+a:yo\nho"],
    ),
    "its item after the answer was closed": (
        [answer("yo"), called("a"), said("developer", "x"), said("assistant", "yo", "ho"), output("a")],
        [
            "line 1: assistant:yo",
            "line 1: assistant+a:yo",
            "line 3: developer:x",
            "line 1: assistant+a:yo\nho",
            "line 5: tool:a",
        ],
    ),
    "an empty event": ([prompt(""), event("user_message"), event("agent_message", message=5)], []),
}


@pytest.mark.parametrize("name", EVENTS)
def test_what_is_told_twice_is_said_once(name: str) -> None:
    rows, expected = EVENTS[name]
    assert events_of(told(*rows)) == expected
    for cut in range(len(rows)):
        assert events_of(told(*rows, cuts=(cut,))) == expected
    assert events_of(told(*rows, cuts=range(len(rows)))) == expected


def test_an_event_whose_items_are_not_known_any_more_is_said() -> None:
    feed = FEEDS["codex"].start(Path("r.jsonl"), {}, lambda chain, key: None)
    feed.take(1, said("user", "hi"))
    feed = FEEDS["codex"].start(Path("r.jsonl"), feed.state(), lambda chain, key: None)
    [event] = feed.take(2, prompt("hi"))
    assert isinstance(event, Said) and event.key == "line 2"


def test_the_first_meta_is_the_sessions_own() -> None:
    meta = {
        "id": ID,
        "cwd": "/w",
        "originator": "codex-tui",
        "cli_version": "0.129.0",
        "git": {"branch": "main"},
        "base_instructions": {"text": "be careful"},
        "source": {"subagent": {"thread_spawn": {"parent_thread_id": "p-1"}}},
    }
    rows = [
        row("session_meta", meta),
        row("session_meta", {**meta, "id": "parent", "cwd": "/p", "base_instructions": {"text": "older"}}),
        row("turn_context", {"model": "m-1", "cwd": "/w/sub"}),
        said("user", "go"),
        row("turn_context", {"model": "m-2"}),
        event("thread_name_updated", thread_name="Careful work"),
    ]
    found = told(*rows)
    assert events_of(found) == ["line 1: system:be careful", "line 4: user:go"]
    facts = {
        "session": ID,
        "working_directory": "/w",
        "model": "m-2",
        "client_version": "0.129.0",
        "branch": "main",
        "originator": "codex-tui",
        "side_chain_of": "p-1",
    }
    assert found.abouts[MAIN] == {**facts, "title": "Careful work"}
    assert told(*rows, said("user", "on"), cuts=range(7)).abouts[MAIN] == facts
    assert "Careful" not in json.dumps(found.state)


@pytest.mark.parametrize(("stem", "session"), [(f"rollout-2026-05-11T11-26-55-{ID}", ID), ("turn-1", "turn-1")])
def test_without_meta_the_file_names_the_session(stem: str, session: str) -> None:
    found = told(row("turn_context", {"cwd": "/w"}), stem=stem).abouts
    assert found == {MAIN: {"session": session, "working_directory": "/w"}}


def test_a_compaction_is_marked_and_what_it_kept_beside_is_ignored() -> None:
    kept = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}]
    found = told(
        said("user", "go"), row("compacted", {"message": "so far: x", "replacement_history": kept}), row("compacted", {"message": ""})
    )
    assert events_of(found) == ["line 1: user:go", "line 2: user:so far: x"]
    assert found.compactions == ["line 2"]


BACK: dict[str, tuple[list[JSON], list[str]]] = {
    "two turns": ([TURN, said("user", "1"), TURN, said("user", "2"), TURN, said("user", "3"), back(2)], ["back to line 2"]),
    "more than there are": ([TURN, said("user", "1"), back(9)], ["back to None"]),
    "a turn without messages": ([said("user", "1"), TURN, back(1)], []),
    "turns that begin with one message": ([TURN, TURN, said("user", "1"), back(1)], ["back to None"]),
    "a turn whose first item only repeats": ([prompt("1"), TURN, said("user", "1"), said("user", "2"), back(1)], ["back to line 1"]),
    "none": ([TURN, said("user", "1"), back(0), back(None), back("1")], []),
    "without turns": ([said("user", "1"), back(1)], []),
    "one after the other": (
        [TURN, said("user", "1"), TURN, said("user", "2"), back(1), TURN, said("user", "3"), back(2)],
        ["back to line 2", "back to None"],
    ),
}


@pytest.mark.parametrize("name", BACK)
def test_turns_taken_back(name: str) -> None:
    rows, expected = BACK[name]
    for cuts in ((), range(len(rows))):
        found = told(*rows, cuts=cuts)
        assert [f"back to {event.after}" for event in found.events if isinstance(event, TakenBack)] == expected


def test_after_turns_were_taken_back_the_same_prompt_is_said_again() -> None:
    found = told(TURN, said("user", "p"), thought("hm"), back(1), TURN, prompt("p"), said("assistant", "x"))
    assert shape(found.window()) == ["user:p", "assistant:x"]
    assert found.live[MAIN] == ["line 6", "line 7"]


def test_an_answer_that_was_taken_back_does_not_grow() -> None:
    found = told(TURN, said("user", "p"), called("a"), back(1), TURN, called("b"))
    assert found.live[MAIN] == ["line 6"]
    assert shape(found.window()) == ["assistant+b:"]


def test_older_rollouts_hold_bare_items() -> None:
    rows = [{"id": "s-1", "timestamp": "2025-06-01T00:00:00Z", "instructions": "x"}, {"record_type": "state"}]
    rows += [payload["payload"] for payload in (said("user", "go"), called("a"), output("a"))]
    found = told(*rows)
    assert events_of(found) == ["line 3: user:go", "line 4: assistant+a:", "line 5: tool:a"]
    assert found.abouts[MAIN]["session"] == "s-1"


def test_the_state_is_small_and_holds_no_word_that_was_said() -> None:
    turn = [TURN, said("user", "OPEN", "SESAME"), prompt("SESAME"), thought("OPEN"), answer("OPEN"), called("a"), output("a")]
    found = told(*(turn * 1_000), row("compacted", {"message": "OPEN"}), prompt("OPEN"), answer("SESAME"))
    written = json.dumps(found.state)
    assert "OPEN" not in written and "SESAME" not in written
    assert len(written) < 20 * TURNS + 2_000


WORDS = st.sampled_from(["a", "b", "ab", "", " "])
KEYS = st.sampled_from(["c1", "c2", "c3"])
ROWS = st.one_of(
    st.builds(said, st.sampled_from(["user", "assistant", "assistant", "developer"]), WORDS),
    st.builds(said, st.sampled_from(["user", "assistant"]), WORDS, WORDS),
    st.builds(prompt, WORDS),
    st.builds(answer, WORDS),
    st.builds(thought, WORDS),
    st.builds(called, KEYS),
    st.builds(output, KEYS),
    st.builds(back, st.integers(0, 3)),
    st.just(TURN),
    st.just(row("compacted", {"message": "a"})),
    st.just(item("message", role="assistant", content="a")),
)


@given(st.lists(ROWS, max_size=30), st.sets(st.integers(0, 29)))
def test_every_cut_gives_the_same(rows: list[JSON], cuts: set[int]) -> None:
    whole = told(*rows).outcome
    assert told(*rows, cuts=cuts).outcome == whole
    assert told(*rows, cuts=range(len(rows))).outcome == whole


def draft_of(path: Path) -> list[Any]:
    with open_source(path) as source:
        [draft] = codex.read(source)
        return draft.messages


PAIRS = st.one_of(
    st.builds(lambda words: [said("user", words), prompt(words)], WORDS.filter(bool)),
    st.builds(lambda words: [answer(words), said("assistant", words)], WORDS.filter(bool)),
    st.builds(lambda words: [said("developer", words)], WORDS),
    st.builds(lambda words: [thought(words + "!")], WORDS),
    st.builds(lambda key: [called(key)], KEYS),
    st.builds(lambda key: [called(key), output(key)], KEYS),
    st.just([TURN]),
)


@given(st.lists(PAIRS, max_size=15))
def test_without_turns_taken_back_it_is_what_the_whole_file_gives(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[list[JSON]]
) -> None:
    rows = [said("user", "go"), *(row for pair in pairs for row in pair)]
    path = tmp_path_factory.mktemp("rollout") / "rollout.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert told(*rows).window() == draft_of(path)


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")
FILES = sorted(path for pattern in ("rollout-*", "turn-*") for path in (DATA / "codex").glob(pattern)) if DATA.is_dir() else []


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_real_rollouts_are_told_as_the_whole_file_is_read(path: Path) -> None:
    found = fed("codex", rows_of(path), path=path)
    assert found.window() == draft_of(path)
    assert all(isinstance(event, Said) and event.time for event in found.events)


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_real_rollouts_are_told_the_same_with_every_cut(path: Path) -> None:
    rows = rows_of(path)
    whole = fed("codex", rows, path=path).outcome
    assert fed("codex", rows, range(len(rows)), path).outcome == whole
    for cut in range(0, len(rows), 25):
        assert fed("codex", rows, (cut,), path).outcome == whole
