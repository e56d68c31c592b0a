"""What must never be wrong with a window that has pins, and with the account of a compaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from host.conversation.conversation import Conversation
from host.conversation.view import View
from host.messages.canonical import canonical
from host.messages.ledger import Kind
from host.messages.types import Message
from host.messages.violations import violations
from host.transforms.handoff import is_handoff


def rows_shown(view: View) -> list[int]:
    """The rows that a window shows as they were said."""
    return [entry.row for entry in view.ledger if entry.kind is Kind.ORIGINAL and entry.row is not None]


def bytes_of(conversation: Conversation, row: int) -> bytes:
    """A message as it is archived."""
    return canonical(conversation.archive.read(row, row)[0])


def faults(conversation: Conversation, rows: Sequence[int]) -> Iterator[str]:
    """What a window with these pinned rows must not be."""
    view = conversation.view
    window = [canonical(message) for message in view.messages]
    shown = [entry for entry in view.ledger if entry.kind is Kind.ORIGINAL and entry.row in rows]
    if [entry.row for entry in shown] != sorted(rows):
        yield f"pinned rows are {[entry.row for entry in shown]}"
    at = 0
    for row in sorted(rows):
        if bytes_of(conversation, row) not in window[at:]:
            yield f"row {row} is not sent as it was said, behind the pins before it"
            return
        at += window[at:].index(bytes_of(conversation, row)) + 1
    yield from map(str, violations(view.messages))
    requests = [entry for entry in view.ledger if entry.message.get("role") == "user" and entry.kind is Kind.ORIGINAL]
    asked = [row.position for row in conversation.archive.current() if row.role == "user" and not is_handoff(cast(Message, row.message))]
    if asked and (not requests or requests[-1].row != asked[-1]):
        yield f"the newest request is row {asked[-1]}"
    covered = [row for entry in view.ledger for span in entry.covers for row in span]
    if len(covered) != len(set(covered)) or set(covered) & {entry.row for entry in view.ledger}:
        yield "covers and rows overlap"


def faults_of_receipt(view: View) -> Iterator[str]:
    """What is wrong with the account of a compaction, right after it."""
    receipt = view.receipt
    assert receipt is not None
    if receipt.kept != len(rows_shown(view)):
        yield f"{receipt.kept} kept of {len(rows_shown(view))}"
    if [row for span in receipt.covered for row in span] != sorted(row for entry in view.ledger for span in entry.covers for row in span):
        yield "covered is not what summaries cover"
    if {row for span in receipt.lost for row in span} & set(rows_shown(view)):
        yield "a row is lost and shown"


def group(history: Sequence[Message], position: int) -> set[int]:
    """The positions of a message's tool group, its own where it has none."""
    first = position
    while history[first - 1]["role"] == "tool":
        first -= 1
    if not history[first - 1].get("tool_calls"):
        return {position}
    last = first
    while last < len(history) and history[last]["role"] == "tool":
        last += 1
    return set(range(first, last + 1))
