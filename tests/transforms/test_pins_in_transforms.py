"""Pinned messages through prune, cut, assemble and the whole corridor."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages.types import Message
from host.messages.violations import violations
from host.pipeline.compact import Middle, compact
from host.testing.histories import histories
from host.testing.messages import assistant, call, chat, result, system, user
from host.transforms.assemble import assemble
from host.transforms.boundary import Cut, choose_cut, kept_tokens, newest_request, system_end
from host.transforms.bridges import BRIDGE, bridges, is_bridge
from host.transforms.handoff import handoff_text, is_handoff, split_merged
from host.transforms.media import strip_historical_media
from host.transforms.plan import Plan
from host.transforms.prune import prune
from tests.reference_cost import tail_cost

PICTURE: Any = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,a"}}]}


def plan(**more: Any) -> Plan:
    return Plan(**{"cost": tail_cost, "tail": 80, "summary": 400, **more})


def notes(middle: Middle) -> str:
    return "what was said"[: 4 * middle.room]


@st.composite
def pinned_histories(draw: st.DrawFn, strict: bool = False) -> tuple[list[Message], tuple[Message, ...]]:
    """A history and the messages of it that are pinned, as whole groups; the system prompt needs no pin."""
    history = draw(histories(strict=strict, max_turns=6))
    chosen = draw(st.lists(st.integers(system_end(history), len(history) - 1), max_size=4))
    whole = Plan(tail_cost, 0, 0, pins=tuple(history[i] for i in chosen)).pinned(history)
    return history, tuple(history[i] for i in sorted(whole))


@given(pinned_histories(), st.sampled_from([None, 600, 3_000]), st.integers(0, 300))
def test_after_any_compaction_pins_are_the_same_objects_in_their_order(
    drawn: tuple[list[Message], tuple[Message, ...]], threshold: int | None, tail: int
) -> None:
    history, pins = drawn
    before = deepcopy(history)
    budget = plan(pins=pins, threshold=threshold, window=threshold and threshold * 2, tail=tail, protect_first_n=1)
    after = compact(history, budget, notes)
    assert history == before
    assert [m for m in after if any(m is pin for pin in pins)] == list(pins)
    assert violations(after) == []
    assert sum(map(is_handoff, after)) <= 1
    request = newest_request(history)
    if request >= 0:
        said = [
            i for i, m in enumerate(after) if m["role"] == "user" and not is_bridge(m) and (not is_handoff(m) or len(split_merged(m)) > 1)
        ]
        assert split_merged(after[said[-1]])[-1] == history[request]
    again = compact(after, budget, notes)
    assert [m for m in again if any(m is pin for pin in pins)] == list(pins)
    assert sum(map(is_handoff, again)) <= 1


@given(pinned_histories(strict=True))
def test_no_two_equal_roles_meet_around_a_pin(drawn: tuple[list[Message], tuple[Message, ...]]) -> None:
    history, pins = drawn
    assert violations(compact(history, plan(pins=pins, tail=20, protect_first_n=0, protect_last_n=1), notes), strict=True) == []


@given(pinned_histories(), st.integers(0, 6))
def test_prune_leaves_pinned_groups_alone(drawn: tuple[list[Message], tuple[Message, ...]], protect: int) -> None:
    history, pins = drawn
    pinned = plan(pins=pins).pinned(history)
    pruned = prune(history, cost=tail_cost, protect_last=protect, pinned=pinned)
    assert all(pruned[i] is history[i] for i in pinned)


def test_a_pinned_result_is_never_the_older_twin_that_goes() -> None:
    output = "the same long output " * 40
    said = [user("a"), assistant(None, [call("a", "f")]), result("a", output), assistant(None, [call("b", "f")]), result("b", output)]
    pinned = plan(pins=(said[2],)).pinned(said)
    assert pinned == {1, 2}
    assert prune(said, cost=tail_cost, protect_last=2, pinned=pinned)[2] is said[2]
    assert prune(said, cost=tail_cost, protect_last=2)[2] is not said[2]


def test_pinned_pictures_stay() -> None:
    said = [PICTURE, dict(PICTURE), dict(PICTURE)]
    assert [m is old for m, old in zip(strip_historical_media(said, [said[0]]), said, strict=True)] == [True, False, True]


def test_pins_of_the_middle_count_as_kept_and_are_not_covered() -> None:
    said = [system("s"), *chat(12)]
    pins = (said[3], said[6])
    cut = Cut(1, 9, None, frozenset({3, 6}))
    budget = plan(pins=pins)
    assert cut.middle(said) == [said[i] for i in (1, 2, 4, 5, 7, 8)]
    more = kept_tokens(said, cut, budget) - kept_tokens(said, Cut(1, 9), budget)
    assert tail_cost(said[3]) + tail_cost(said[6]) <= more <= tail_cost(said[3]) + tail_cost(said[6]) + 30
    assert choose_cut(said, budget).pinned == {i for i in (3, 6) if choose_cut(said, budget).start <= i < choose_cut(said, budget).end}


@pytest.mark.parametrize("pinned", [(3,), (4,), (3, 5), (4, 6), (3, 4, 7)])
def test_pins_stand_behind_the_handoff_and_before_the_tail(pinned: tuple[int, ...]) -> None:
    said = [system("s"), *chat(12)]
    window = assemble(said, Cut(1, 9, None, frozenset(pinned)), handoff_text("notes"), plan(pins=tuple(said[i] for i in pinned)))
    kept = [m for m in window if not is_bridge(m)]
    assert is_handoff(kept[1]) and len(split_merged(kept[1])) == 1
    assert all(m is said[i] for m, i in zip(kept[2:], [*pinned, *range(9, 13)], strict=True))
    assert violations(window, strict=True) == []


def test_a_lifted_request_stands_among_the_pins_where_it_was_said() -> None:
    said = [system("s"), *chat(4), user("the task"), assistant("a plan"), *[assistant(f"step {i}") for i in range(4)]]
    window = assemble(said, Cut(1, 9, 5, frozenset({2, 6})), handoff_text("notes"), plan(pins=(said[2], said[6])))
    assert [m["content"] for m in window if not is_handoff(m) and not is_bridge(m)][1:] == [
        m["content"] for m in (said[2], said[5], said[6], *said[9:])
    ]


def test_the_summary_is_told_of_a_pin_once() -> None:
    said = [system("s"), *chat(8), user("tail"), assistant("end")]
    budget = plan(pins=(said[3],), tail=0, protect_first_n=0, protect_last_n=1)
    read: list[list[Message]] = []

    def listening(middle: Middle) -> str:
        read.append(middle.originals)
        return "notes"

    after = compact(said, budget, listening)
    assert said[3] in read[0]
    assert compact(after, budget, listening) is after, "pins alone are nothing to compact"
    compact([*after, *chat(6, 100)], budget, listening)
    assert said[3] not in read[-1] and not any(map(is_bridge, read[-1]))


def test_an_unpinned_window_has_no_bridges() -> None:
    said = [system("s"), user("a"), user("b")]
    assert bridges(said, ()) == {} and bridges(said, {2}) == {2: {"role": "assistant", "content": BRIDGE["assistant"]}}
