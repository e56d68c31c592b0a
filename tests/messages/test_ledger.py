"""Which message of a list that came back is which."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.messages import ledger as module
from host.messages.ledger import Entry, Kind, Ledger, align

SHORT = ["yes", "no", "go on", "a", "b"]  # few contents, so that repeats are the rule

contents = st.lists(st.sampled_from(SHORT), max_size=12)


def said(content: str, **more: Any) -> Any:
    return {"role": "user", "content": content, **more}


def of(messages: list[Any]) -> Ledger:
    return Ledger(Entry(message, row) for row, message in enumerate(messages, 1))


def rebuilt(messages: list[Any]) -> list[Any]:
    return [json.loads(json.dumps(message)) for message in messages]


def aligned(ours: str, theirs: str) -> list[int | None]:
    return align(of([said(word) for word in ours.split()]), [said(word) for word in theirs.split()])


# --- the value ---------------------------------------------------------------------------------------------------


def test_appending_leaves_the_shorter_ledgers_as_they_were() -> None:
    empty = Ledger()
    one = empty.append(Entry(said("1"), 1))
    two = one.append(Entry(said("2"), 2, Kind.SUMMARY, (range(1, 3),)))
    other = one.append(Entry(said("3"), None))
    assert [len(each) for each in (empty, one, two, other)] == [0, 1, 2, 2]
    assert two.messages() == [said("1"), said("2")]
    assert other.messages() == [said("1"), said("3")]
    assert (two.rows(), other.rows()) == ([1, 2], [1, None])
    assert two.entries == tuple(two) == (two[0], two[-1])
    assert two[:1] == list(one)
    assert one != two == Ledger(two.entries)
    with pytest.raises(IndexError):
        one[1]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers()), max_size=20))
def test_any_tree_of_appends_reads_like_tuples(steps: list[tuple[int, int]]) -> None:
    model: list[tuple[int, ...]] = [()]
    real = [Ledger()]
    for base, row in steps:
        at = base % len(real)
        model.append((*model[at], row))
        real.append(real[at].append(Entry(said("x"), row)))
    assert [tuple(each.rows()) for each in real] == model


# --- align: objects ----------------------------------------------------------------------------------------------


@given(contents, st.randoms(use_true_random=False))
def test_same_objects_are_found_wherever_they_were_moved(words: list[str], random: Any) -> None:
    messages = [said(word) for word in words]
    order = list(range(len(words)))
    random.shuffle(order)
    assert align(of(messages), [messages[index] for index in order]) == order


def test_same_objects_are_never_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [said("same") for _ in range(50)]
    monkeypatch.setattr(module, "identity", None)
    assert align(of(messages), messages) == list(range(50))
    assert align(of(messages), messages[10:]) == list(range(10, 50))
    assert align(of(messages), [*messages, said("new")]) == [*range(50), None]


def test_one_object_twice_keeps_its_occurrences() -> None:
    yes, other = said("yes"), said("other")
    assert align(of([yes, other, yes]), [yes, other, yes]) == [0, 1, 2]
    assert align(of([yes, other, yes]), [other, yes]) == [1, 2]
    assert align(of([yes]), [yes, yes]) == [0, None]


def test_an_edited_copy_between_the_same_objects_is_made() -> None:
    messages = [said(word) for word in ("a", "yes", "b", "yes", "c")]
    edited = [*messages[:3], said("edited"), messages[4]]
    assert align(of(messages), edited) == [0, 1, 2, None, 4]


def test_copies_keep_their_place_among_the_same_objects() -> None:
    messages = [said(word) for word in ("yes", "a", "yes", "b", "yes")]
    mixed = [messages[1], said("yes"), messages[3]]
    assert align(of(messages), mixed) == [1, 2, 3]


# --- align: contents ---------------------------------------------------------------------------------------------


@given(contents)
def test_a_rebuilt_list_is_the_list(words: list[str]) -> None:
    messages = [said(word) for word in words]
    for copied in (messages, copy.deepcopy(messages), rebuilt(messages)):
        assert align(of(messages), copied) == list(range(len(words)))


@given(contents, st.data())
def test_a_list_cut_at_either_end_resumes(words: list[str], data: st.DataObject) -> None:
    numbered = [f"{word} {number}" for number, word in enumerate(words)]
    start = data.draw(st.integers(0, len(words)))
    until = data.draw(st.integers(start, len(words)))
    messages = [said(word) for word in numbered]
    assert align(of(messages), rebuilt(messages[start:until])) == list(range(start, until))


CUTS = [
    ("yes a yes b", "yes b", [2, 3]),
    ("yes a yes b", "yes a", [0, 1]),
    ("yes a yes b", "yes b new yes", [2, 3, None, None]),
    ("yes ok yes ok yes", "ok yes", [3, 4]),
    ("yes ok yes ok no", "yes ok", [0, 1]),
    ("x yes a yes", "x yes", [0, 1]),
]


@pytest.mark.parametrize(("ours", "theirs", "expected"), CUTS)
def test_repeats_of_a_cut_list_stay_beside_their_neighbours(ours: str, theirs: str, expected: list[int | None]) -> None:
    assert aligned(ours, theirs) == expected


EDITS = [
    ("", "a", [None]),
    ("a", "", []),
    ("a yes b yes c", "a yes b yes c", [0, 1, 2, 3, 4]),  # nothing changed
    ("a yes b yes c", "a yes yes c", [0, 1, 3, 4]),  # deleted
    ("a yes b yes c", "a yes new b yes c", [0, 1, None, 2, 3, 4]),  # inserted
    ("a yes b yes c", "a yes edited yes c", [0, 1, None, 3, 4]),  # edited
    ("a yes b", "a yes b yes", [0, 1, 2, None]),  # said once more
    ("yes yes", "yes yes yes", [0, 1, None]),
    ("yes yes yes", "yes", [0]),
    ("a b c d", "b c d a", [1, 2, 3, None]),  # moved and rebuilt: order decides
    ("yes x ok yes y ok", "yes p ok yes q ok", [0, None, 2, 3, None, 5]),
]


@pytest.mark.parametrize(("ours", "theirs", "expected"), EDITS)
def test_edits_leave_everything_else_recognised(ours: str, theirs: str, expected: list[int | None]) -> None:
    assert aligned(ours, theirs) == expected


@given(contents, contents)
def test_contents_match_equal_contents_in_order_and_once(ours: list[str], theirs: list[str]) -> None:
    found = align(of([said(word) for word in ours]), [said(word) for word in theirs])
    indices = [index for index in found if index is not None]
    assert indices == sorted(set(indices))
    assert all(ours[index] == word for index, word in zip(found, theirs, strict=True) if index is not None)


@given(contents, st.data())
def test_one_deletion_insertion_or_edit_costs_no_other_message(words: list[str], data: st.DataObject) -> None:
    messages = [said(word) for word in words]
    at = data.draw(st.integers(0, len(words)))
    copied = rebuilt(messages)
    assert align(of(messages), [*copied[:at], said("new"), *copied[at:]]) == [*range(at), None, *range(at, len(words))]
    if at < len(words):
        edited = align(of(messages), [*copied[:at], said("new"), *copied[at + 1 :]])
        assert edited == [*range(at), None, *range(at + 1, len(words))]
        deleted = align(of(messages), [*copied[:at], *copied[at + 1 :]])
        assert None not in deleted


@given(contents, contents)
def test_alignment_changes_nothing(ours: list[str], theirs: list[str]) -> None:
    here, there = [said(word) for word in ours], [said(word) for word in theirs]
    before = copy.deepcopy((here, there))
    align(of(here), there)
    assert (here, there) == before


@pytest.mark.parametrize("word", ["yes", "yes {}"], ids=["all equal", "all different"])
def test_ten_thousand_rebuilt_messages_take_seconds_at_most(word: str) -> None:
    messages = [said(word.format(number)) for number in range(10_000)]
    start = time.perf_counter()
    found = align(of(messages), rebuilt(messages[1:]))
    assert time.perf_counter() - start < 3  # a comparison of all with all takes minutes
    assert len(set(found)) == 9_999
