"""What holds, kept up row by row: the same as all at once, at a bounded size."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from host.formats import read
from host.messages.facts import Fact, FactKind, Live, Told, current, facts_of, told
from host.messages.facts.holding import Holding
from host.messages.facts.likeness import go_together
from host.messages.facts.said import Key, Said
from host.messages.searchable import searchable
from tests.messages.test_facts_labels import LABELS

CONVERSATIONS = sorted((LABELS / "conversations").glob("*.jsonl"))
MESSAGES = [message for path in CONVERSATIONS for message in read(path)[0].messages if message.get("role") != "system"]


def heard(messages: list[Any]) -> list[Told]:
    return [
        one for row, message in enumerate(messages) for one in told(facts_of(message), searchable(message), row=row, role=message["role"])
    ]


def in_pieces(facts: list[Told], cuts: list[int]) -> Live:
    live = Live()
    for start, end in pairwise([0, *sorted(cuts), len(facts)]):
        live.hear(facts[start:end])
        live.holding()
    return live


@given(st.lists(st.sampled_from(MESSAGES), max_size=30), st.data())
def test_heard_in_pieces_or_at_once_the_same_holds(messages: list[Any], data: st.DataObject) -> None:
    facts = heard(messages)
    cuts = data.draw(st.lists(st.integers(0, len(facts)), max_size=4))
    assert in_pieces(facts, cuts).holding() == current(facts)


def test_a_row_heard_again_in_a_new_version_counts_as_said_later() -> None:
    live = Live()
    for row, content in enumerate(["The port is 8443.", "Port 9443 instead of 8443, please.", "The port is 9443."], 1):
        message: Any = {"role": "user", "content": content}
        live.hear(told(facts_of(message), content, row=row, role="user"))
    assert [(one.row, one.fact.text) for one in live.holding()] == [(3, "9443")]


# --- against a plain list ----------------------------------------------------------------------------------------

REACH, KEPT = 3, 2
TEXTS = ["8443", "9443", "a.example", "a.example:80", "https://a.example/x", "img:2.1.0", "2.1.0", "SHOP-1", "12 ms"]
KINDS = [FactKind.address] * 4 + [FactKind.url, FactKind.path, FactKind.version, FactKind.id, FactKind.quantity]


def said(place: int, row: int, role: str) -> Said:
    text = TEXTS[place]
    return Said(Told(Fact(KINDS[place], 0, len(text), text), row, role, text))


class Plain:
    """What ``Holding`` does, by looking through a list each time."""

    def __init__(self) -> None:
        self.held: list[tuple[Said, bool]] = []

    def add(self, one: Said, *, is_of_people: bool) -> None:
        self.pop(one.key)
        self.held.append((one, is_of_people))
        older = [that for that, by_people in self.held[:-REACH] if not by_people]
        for that in older[:-KEPT]:
            self.pop(that.key)

    def pop(self, key: Key) -> None:
        self.held = [pair for pair in self.held if pair[0].key != key]

    def newest(self) -> list[Key]:
        return [one.key for one, _ in self.held[: -REACH - 1 : -1]]


# what is done, to which text, in which row, by whom
deeds = st.tuples(
    st.sampled_from(["add", "add", "add", "pop"]),
    st.integers(0, len(TEXTS) - 1),
    st.integers(1, 3),
    st.sampled_from(["user", "tool", "tool"]),
)


@given(st.lists(deeds, max_size=60))
def test_what_is_at_hand_and_what_is_kept_are_those_of_a_plain_list(done: list[tuple[str, int, int, str]]) -> None:
    holding, plain = Holding(REACH, KEPT), Plain()
    for verb, place, row, role in done:
        one = said(place, row, role)
        if verb == "add":
            holding.add(one, None, is_of_people=role == "user")
            plain.add(one, is_of_people=role == "user")
        else:
            holding.pop(one.key)
            plain.pop(one.key)
        assert [held.newest.key for held in holding.newest()] == plain.newest()
        assert holding.told() == [that.told for that, _ in plain.held]


@given(st.lists(deeds, max_size=30), st.integers(0, len(TEXTS) - 1))
def test_what_goes_with_a_dropped_value_is_found_without_looking_at_all(done: list[tuple[str, int, int, str]], place: int) -> None:
    holding = Holding()
    for _, at, row, role in done:
        holding.add(said(at, row, role), None, is_of_people=False)
    dropped = said(place, 2, "tool")
    looked_through = {held.newest.key for held in holding.newest() if go_together(held.newest, dropped)}
    assert set(holding.parts_of(dropped)) == looked_through


def test_logs_without_end_are_let_go_and_the_user_is_not() -> None:
    live = Live()
    first: list[Any] = [
        {"role": "user", "content": "Never push. The port is 8443."},
        {"role": "assistant", "content": "See SHOP-771 first."},
    ]
    live.hear(heard(first))
    for row in range(2, 140):
        content = "\n".join(f"job-{row}-{line} took" for line in range(100))
        message: Any = {"role": "tool", "content": content}
        live.hear(told(facts_of(message), content, row=row, role="tool"))
    holding = live.holding()
    assert {"Never push.", "8443", "SHOP-771", "job-139-99"} <= {one.fact.text for one in holding}
    assert len(holding) == 3 + 10_000 + 400
