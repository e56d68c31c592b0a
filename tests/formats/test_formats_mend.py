"""Mending: a table of what recordings break, and the promise that whatever goes in can be sent."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.formats import NO_RESULT, mend, mended_text
from host.formats.mend import MENDED
from host.messages.violations import violations


def call(key: Any, name: Any = "run", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: Any, content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(key: Any, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": content, **more}


def user(text: str = "go") -> dict[str, Any]:
    return {"role": "user", "content": text}


def stub(key: str) -> dict[str, Any]:
    return result(key, NO_RESULT)


CASES: dict[str, tuple[list[Any], list[Any], dict[str, int]]] = {
    "unanswered at the end": ([user(), calling(call("a"))], [user(), calling(call("a")), stub("a")], {"unanswered calls": 1}),
    "stub follows the group's own results": (
        [calling(call("a"), call("b")), result("b"), user()],
        [calling(call("a"), call("b")), result("b"), stub("a"), user()],
        {"unanswered calls": 1},
    ),
    "orphan": ([user(), result("zz")], [user()], {"orphan results": 1}),
    "second result": ([calling(call("a")), result("a"), result("a", "again")], [calling(call("a")), result("a")], {"repeated results": 1}),
    "result behind a user turn": (
        [calling(call("a")), user(), result("a")],
        [calling(call("a")), result("a"), user()],
        {"results out of place": 1},
    ),
    "same call twice in a message": (
        [calling(call("a"), call("a")), result("a")],
        [calling(call("a")), result("a")],
        {"repeated calls": 1},
    ),
    "one id for two calls of a message": (
        [calling(call("a", "x"), call("a", "y")), result("a", "1"), result("a", "2")],
        [calling(call("a", "x"), call("a_1", "y")), result("a", "1"), result("a_1", "2")],
        {"call ids used twice": 1},
    ),
    "the same call block in two messages": (
        [calling(call("a")), calling(call("a")), result("a")],
        [calling(call("a")), result("a")],
        {"repeated calls": 1},
    ),
    "an id used again while an older call waits": (
        [calling(call("a")), user(), calling(call("a", "y")), result("a")],
        [calling(call("a")), stub("a"), user(), calling(call("a", "y")), result("a")],
        {"unanswered calls": 1},
    ),
    "blank ids are paired by tool": (
        [calling(call("", "x"), call(None, "y")), {"role": "tool", "name": "y", "content": "2"}, result("", "1")],
        [calling(call("call_0", "x"), call("call_1", "y")), result("call_1", "2", name="y"), result("call_0", "1")],
        {"blank call ids": 4},
    ),
    "numbers as ids": ([calling(call(7)), result(7)], [calling(call("7")), result("7")], {"call ids that were no text": 1}),
    "blank names": (
        [{**user(), "name": " "}, calling(call("a", "")), result("a")],
        [user(), calling(call("a", "unnamed_tool")), result("a")],
        {"blank names": 2},
    ),
    "broken argument text": (
        [calling(call("a", arguments='{"x": ')), result("a")],
        [calling(call("a", arguments='{"_raw": "{\\"x\\": "}')), result("a")],
        {"arguments that were not JSON": 1},
    ),
    "arguments as an object": (
        [calling(call("a", arguments={"城": "北京"})), result("a")],
        [calling(call("a", arguments='{"城": "北京"}')), result("a")],
        {"arguments that were not JSON": 1},
    ),
    "no arguments": (
        [calling(call("a", arguments="")), result("a")],
        [calling(call("a")), result("a")],
        {"arguments that were not JSON": 1},
    ),
    "roles of other recorders": (
        [{"role": "Human", "content": "a"}, {"role": "ai", "content": "b"}, {"role": 5, "content": "c"}, {"content": "d"}],
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, user("c"), {"role": "user", "content": "d"}],
        {"unknown roles": 4},
    ),
    "legacy calls": (
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "1"},
        ],
        [calling(call("call_0", "f")), result("call_0", "1", name="f")],
        {"legacy function calls": 1},
    ),
    "empty call list": (
        [{"role": "assistant", "content": "a", "tool_calls": []}],
        [{"role": "assistant", "content": "a"}],
        {"empty call lists": 1},
    ),
    "calls that are none": (
        [calling(None, call("a"), "x"), result("a")],
        [calling(call("a")), result("a")],
        {"malformed calls": 2},
    ),
    "entries that are none": ([user(), None, "hello", 3], [user()], {"entries that are no messages": 3}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_recordings_break_is_mended_and_counted(name: str) -> None:
    recorded, expected, counted = CASES[name]
    before = copy.deepcopy(recorded)
    mended, counts = mend(recorded)
    assert _same(mended, expected)
    assert counts == counted
    assert recorded == before
    assert violations(mended) == []


def _same(mended: list[Any], expected: list[Any]) -> bool:
    """Equal, but for results that gained the id of their call at the end of their keys."""
    assert json.loads(json.dumps(mended)) == json.loads(json.dumps(expected))
    return True


def test_a_call_id_used_again_after_its_result_is_left_alone() -> None:
    recorded: list[Any] = [calling(call("call_0")), result("call_0"), user(), calling(call("call_0")), result("call_0")]
    mended, counts = mend(recorded)
    assert counts == {}
    assert all(new is old for new, old in zip(mended, recorded, strict=True))


def test_null_calls_and_null_content_are_left_alone() -> None:
    recorded: list[Any] = [user(), {"role": "assistant", "content": None, "tool_calls": None, "refusal": None}]
    mended, counts = mend(recorded)
    assert counts == {} and mended[1] is recorded[1]


def test_counts_are_told_in_plain_english() -> None:
    assert mended_text({"unanswered calls": 2, "orphan results": 1}) == "2 unanswered calls, 1 orphan result"
    assert mended_text({}) == ""


@pytest.mark.parametrize("name", CASES)
def test_every_count_has_a_name_for_one(name: str) -> None:
    assert CASES[name][2].keys() <= MENDED.keys()


keys = st.sampled_from(["a", "b", "a_1", "", " ", None, 3])
texts = st.one_of(st.none(), st.text(max_size=4), st.just([{"type": "text", "text": "x"}]))
calls = st.one_of(
    st.none(),
    st.builds(call, keys, st.sampled_from(["x", "y", "", None]), st.sampled_from(["{}", "", "{", None, {"k": 1}, "NaN"])),
    st.builds(lambda key: {"id": key, "call_id": "b", "function": None}, keys),
)
entries: Any = st.one_of(
    st.builds(
        lambda role, content: {"role": role, "content": content}, st.sampled_from(["user", "system", "assistant", "Human", "", None]), texts
    ),
    st.builds(lambda found, content: calling(*found, content=content), st.lists(calls, max_size=3), texts),
    st.builds(result, keys, texts),
    st.builds(lambda name: {"role": "function", "name": name, "content": "r"}, st.sampled_from(["x", ""])),
    st.just({"role": "assistant", "content": None, "function_call": {"name": "x", "arguments": "{}"}}),
    st.sampled_from([None, 1, "text"]),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(entries, max_size=12))
def test_whatever_goes_in_a_provider_would_accept_what_comes_out(recorded: list[Any]) -> None:
    before = copy.deepcopy(recorded)
    mended, counts = mend(recorded)
    assert recorded == before
    assert not mended or violations(mended) == []
    assert counts.keys() <= MENDED.keys()
    again, nothing = mend(mended)
    assert nothing == {}
    assert all(new is old for new, old in zip(again, mended, strict=True))


@settings(max_examples=100, deadline=None)
@given(st.lists(entries, max_size=12))
def test_a_list_without_violation_is_not_touched(recorded: list[Any]) -> None:
    legal, _ = mend(recorded)
    assert mend(legal)[0] == legal


def test_a_long_recording_with_reused_ids_is_mended_in_linear_time() -> None:
    recorded: list[Any] = []
    for _ in range(30_000):
        recorded += [calling(call("call_0")), user()]
    mended, counts = mend(recorded)
    assert (len(mended), counts) == (90_000, {"unanswered calls": 30_000})
