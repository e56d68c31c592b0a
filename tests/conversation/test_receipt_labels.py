"""How much of the hand labels (tests/given/facts) the receipt of a compaction that drops everything lists."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from host.conversation.receipts import ReceiptPage, receipt_at
from host.formats import read
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.searchable import searchable
from host.messages.types import Message
from host.pipeline.receipts import Listed
from host.store.memory import MemoryStore
from host.store.values import Publication

ROOT = Path(__file__).parents[2]
LABELS = ROOT / "tests" / "given" / "facts"
Label = dict[str, Any]


def labelled(name: str) -> list[Label]:
    return [json.loads(line) for line in (LABELS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def messages_of(conversation: str) -> Sequence[Message]:
    return read(ROOT / conversation)[0].messages


@cache
def receipt_of(conversation: str) -> ReceiptPage:
    """The receipt of a compaction that leaves nothing but a summary that says nothing."""
    store = MemoryStore()
    name = store.sessions.create().conversation
    archive, views, messages = store.archive(name), store.views(name), messages_of(conversation)
    archive.extend(list(messages))
    summary = Entry({"role": "user", "content": "It went on for a while."}, None, Kind.SUMMARY, (range(1, len(messages) + 1),))
    views.publish(Publication(Ledger([summary]), len(messages), "e", "manual", {"before": 9, "after": 1}), expected=0)
    return receipt_at(archive, views.history())


def text_of(label: Label) -> str:
    return searchable(messages_of(label["conversation"])[label["index"]])


def is_told(text: str, one: Listed) -> bool:
    """Whether what is listed is a labelled text, or most of it, or holds it."""
    return text in one.text or (one.text in text and 2 * len(one.text) >= len(text))


def is_listed(label: Label, *, rules: bool) -> bool:
    return any(is_told(label["text"], one) for one in receipt_of(label["conversation"]).listed if one.is_rule is rules)


def share_listed(name: str, *, rules: bool) -> float:
    labels = labelled(name)
    share = sum(is_listed(label, rules=rules) for label in labels) / len(labels)
    print(f"{name}: {share:.1%} of {len(labels)} listed")
    return share


def test_the_receipt_lists_the_values_that_a_person_labelled() -> None:
    assert share_listed("values", rules=False) >= 0.95


def test_the_receipt_lists_the_rules_that_a_person_labelled() -> None:
    assert share_listed("constraints", rules=True) >= 0.97


def spans(text: str, parts: Iterable[str]) -> list[range]:
    """Where the parts stand in a text."""
    found = []
    for part in parts:
        start = text.find(part)
        while start >= 0:
            found.append(range(start, start + len(part)))
            start = text.find(part, start + 1)
    return found


def overlap(some: Sequence[range], others: Sequence[range]) -> bool:
    return any(max(one.start, other.start) < min(one.stop, other.stop) for one in some for other in others)


def labels_at(name: str) -> dict[tuple[str, int], list[str]]:
    found: dict[tuple[str, int], list[str]] = {}
    for label in labelled(name):
        found.setdefault((label["conversation"], label["index"]), []).append(label["text"])
    return found


def test_what_the_receipt_lists_is_a_value_or_a_rule_that_a_person_labelled() -> None:
    values, rules, optional = labels_at("values"), labels_at("constraints"), labels_at("optional")
    right = wrong = 0
    for label in labelled("chosen"):
        place, text = (label["conversation"], label["index"]), text_of(label)
        for one in (one for one in receipt_of(label["conversation"]).listed if one.row == label["index"] + 1):
            stands = spans(text, [one.text])
            is_one = overlap(stands, spans(text, (rules if one.is_rule else values).get(place, [])))
            right += is_one
            wrong += not is_one and not overlap(stands, spans(text, optional.get(place, [])))
    print(f"{right} of {right + wrong} listed are labelled ({right / (right + wrong):.1%})")
    assert right / (right + wrong) >= 0.95


def test_no_rule_is_taken_from_what_a_tool_or_the_assistant_said() -> None:
    conversations = {label["conversation"] for label in labelled("chosen")}
    rules = [(conversation, one) for conversation in conversations for one in receipt_of(conversation).listed if one.is_rule]
    assert rules and {one.role for _, one in rules} == {"user"}
    for conversation, one in rules:
        assert messages_of(conversation)[one.row - 1]["role"] == "user"
        assert one.text in searchable(messages_of(conversation)[one.row - 1])


def test_sentences_that_bind_nothing_are_hardly_ever_listed() -> None:
    labels = labelled("unconstrained")
    taken = [label for label in labels if is_listed(label, rules=True)]
    print(f"unconstrained: {len(taken)} of {len(labels)} listed")
    assert len(taken) / len(labels) <= 0.06


def test_what_was_replaced_is_marked_with_what_replaced_it() -> None:
    labels, named = labelled("supersessions"), 0
    marked = 0
    for label in labels:
        page = receipt_of(label["conversation"])
        old = [one for one in page.listed if is_told(label["old"]["text"], one) and one.replaced_by is not None]
        marked += bool(old)
        named += any(one.replaced_by is not None and one.replaced_by.row == label["new"]["index"] + 1 for one in old)
    print(f"supersessions: {marked} of {len(labels)} marked, {named} with the row of the new one")
    assert (marked / len(labels), named / len(labels)) >= (0.8, 0.7)
