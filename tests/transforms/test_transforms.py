"""Each transform alone: pure, idempotent, nothing touched that need not be."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.redact import redact
from host.messages.types import Message
from host.messages.violations import violations
from host.testing.histories import histories
from host.testing.messages import assistant, call, result, system, user
from host.transforms.assemble import FINISH, Seat, assemble, choose_seat
from host.transforms.boundary import ANCHORS, Cut, choose_cut, newest_request
from host.transforms.digests import DIGEST_LIMIT, DIGESTS, digest
from host.transforms.handoff import END_MARKER, handoff_body, handoff_text, is_handoff, merged_in_front, split_merged, with_note
from host.transforms.plan import Plan
from host.transforms.prune import prune, shrink_json
from host.transforms.sanitize import pair_results, repair_pairs
from tests.reference_cost import tail_cost


def plan(**more: Any) -> Plan:
    return Plan(**{"cost": tail_cost, "tail": 80, "summary": 400, **more})


@given(histories(), st.integers(0, 10), st.integers(0, 500))
def test_prune_is_pure_and_changes_nothing_the_second_time(history: list[Message], protect: int, budget: int) -> None:
    before = deepcopy(history)
    once = list(prune(history, cost=tail_cost, protect_last=protect, tail_budget=budget))
    assert history == before
    assert len(once) == len(history) and violations(once) == []
    again = list(prune(once, cost=tail_cost, protect_last=protect, tail_budget=budget))
    assert again == once


@pytest.mark.parametrize("step", FINISH, ids=lambda step: step.__name__)
@given(history=histories())
def test_each_finishing_step_is_pure_and_changes_nothing_the_second_time(step: Any, history: list[Message]) -> None:
    before = deepcopy(history)
    once = step(history)
    assert history == before
    assert step(once) == once


@given(histories(), st.data())
def test_pairs_are_whole_whatever_is_torn_out(history: list[Message], data: st.DataObject) -> None:
    kept = [m for m in history if data.draw(st.booleans())]
    repaired = repair_pairs(kept)
    pair_rules = {"orphan-result", "misplaced-result", "missing-result", "duplicate-call"}
    assert not {v.rule.value for v in violations(repaired)} & pair_rules


@given(histories())
def test_whole_pairs_come_back_as_the_same_list(history: list[Message]) -> None:
    assert repair_pairs(history) is history


def test_a_stub_follows_the_results_that_are_there() -> None:
    torn = [user("x"), assistant(None, [call("a", "f"), call("b", "f")]), result("b", "r"), user("y")]
    repaired = pair_results(torn)
    assert [m.get("tool_call_id") for m in repaired.messages] == [None, None, "b", "a", None]
    assert repaired.stubbed == 1


def test_a_call_id_is_used_again_after_its_result() -> None:
    fine = [user("x"), assistant(None, [call("a", "f")]), result("a", "1"), assistant(None, [call("a", "f")]), result("a", "2")]
    assert repair_pairs(fine) is fine


@given(histories(), st.integers(0, 400), st.integers(0, 6), st.integers(1, 25), st.sampled_from([None, 400, 2_000]))
def test_a_cut_splits_no_group_and_keeps_the_request_out_of_the_middle(
    history: list[Message], tail: int, first: int, last: int, threshold: int | None
) -> None:
    cut = choose_cut(history, plan(tail=tail, protect_first_n=first, protect_last_n=last, threshold=threshold))
    assert 0 <= cut.start <= len(history) and cut.end <= len(history)
    for edge in (cut.start, max(cut.start, cut.end)):
        assert edge >= len(history) or history[edge]["role"] != "tool"
    middle = cut.middle(history)
    request = newest_request(history)
    assert request < 0 or all(m is not history[request] for m in middle)


@pytest.mark.parametrize("last_head", ["none", "system", "user", "assistant", "tool"])
@pytest.mark.parametrize("first_tail", ["none", "user", "assistant", "tool"])
@pytest.mark.parametrize("survives", [True, False])
def test_the_handoff_meets_no_equal_role_and_the_first_speaker_is_the_user(last_head: str, first_tail: str, survives: bool) -> None:
    seat = choose_seat(last_head, first_tail, user_survives=survives or "user" in (last_head, first_tail))
    if not seat.merged:
        assert seat.role not in (last_head, first_tail)
        assert last_head not in ("none", "system") or seat.role == "user"
    else:
        assert seat.role == first_tail or last_head == "user"


def test_a_pinned_message_is_no_merge_target() -> None:
    pin = user("pinned")
    messages = [system("s"), assistant("a"), pin]
    window = assemble(messages, Cut(1, 2), handoff_text("notes"), plan(pins=(pin,)))
    assert window[-1] is pin
    assert [m["role"] for m in window] == ["system", "user", "assistant", "user"]
    assert violations(window, strict=True) == []


@pytest.mark.parametrize(
    "content",
    ["go on", "", None, [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,"}}], "\n\n x", [], "\n"],
)
@pytest.mark.parametrize("more", [{"role": "user"}, {"role": "assistant", "tool_calls": [call("a", "f")]}])
def test_what_was_merged_comes_apart_as_it_was(content: Any, more: Any) -> None:
    original = cast(Message, {**more, "content": content})
    merged = merged_in_front(handoff_text("notes"), original)
    assert is_handoff(merged)
    summary, again = split_merged(merged)
    assert again == original
    assert handoff_body(summary) == handoff_body(merged) == "notes"


def test_a_user_who_quotes_the_tag_has_written_no_handoff() -> None:
    assert not is_handoff(user("[CONTEXT COMPACTION — REFERENCE ONLY] what does this mean?"))
    assert not is_handoff(user(f"it said {END_MARKER}"))


def test_the_note_is_added_once() -> None:
    once = with_note(system("Be brief."))
    assert with_note(once) is once
    assert str(once["content"]).startswith("Be brief.\n\n[Note: Some earlier conversation turns have been compacted")


@pytest.mark.parametrize("name", [*DIGESTS, "some_other_tool"])
@pytest.mark.parametrize("arguments", [{}, {"path": "x" * 900, "command": "a\nb" * 300, "urls": [None, {"href": 1}], "code": 7}])
def test_every_digest_is_one_short_line_that_names_its_tool(name: str, arguments: dict[str, Any]) -> None:
    line = digest(name, arguments, "output\n" * 400)
    assert line.startswith(f"[{name}]") and "\n" not in line and len(line) <= DIGEST_LIMIT


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [('{"exit_code": -1}', "-1"), ("Exit code: 2\nWall time: 1", "2"), ("Process exited with code 0\n", "0"), ("fine", "?")],
)
def test_exit_codes_are_found_as_clients_write_them(text: str, exit_code: str) -> None:
    assert f"exit {exit_code}," in digest("shell", {"command": ["bash", "-lc", "make"]}, text)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=600), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
def test_shrunk_arguments_are_json_of_the_same_shape(value: Any) -> None:
    text = json.dumps(value)
    short = json.loads(shrink_json(text))
    assert type(short) is type(value)
    assert json.loads(shrink_json(shrink_json(text))) == short


@pytest.mark.parametrize("text", ["{oops", '{"a": 1e999, "b": "%s"}' % ("x" * 600), "[" * 100_000])
def test_arguments_that_cannot_be_written_again_stay_as_they_are(text: str) -> None:
    assert shrink_json(text) == text


@pytest.mark.parametrize("anchor", ANCHORS, ids=lambda anchor: anchor.__name__)
@given(history=histories())
def test_an_anchor_only_moves_the_cut_earlier(anchor: Any, history: list[Message]) -> None:
    for end in range(1, len(history)):
        assert anchor(history, 0, end) <= end


def test_seats_of_the_seed() -> None:
    assert choose_seat("user", "assistant", user_survives=True) == Seat("assistant", merged=True)
    assert choose_seat("system", "user", user_survives=True) == Seat("user", merged=True)


def test_what_pruning_cuts_holds_no_part_of_a_secret() -> None:
    key = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow+IBAAK\nkq3Zr7Lm5bN8Qp\n-----END RSA PRIVATE " + "KEY-----"
    arguments = {"command": f"cat > a.pem <<'E'\n{key}\nE\n" + "ls\n" * 90, "note": "x" * 180 + f" {key} " + "y" * 400}
    history = [user("go"), assistant(None, [call("a", "terminal", arguments)]), result("a", "z" * 300), user("on"), user("and on")]
    pruned = list(prune(history, cost=tail_cost, protect_last=1, mask=redact))
    assert pruned[1] is not history[1] and pruned[2] is not history[2]
    assert not any(part in str(pruned[1:3]) for part in ("MIIEow", "kq3Zr7"))
