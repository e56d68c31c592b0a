"""What receipts explain: rows whose content was erased on purpose, and rows that damage took before a repair."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from host.messages.types import JSON
from host.store.sqlite.bodies import chained
from host.store.sqlite.receipts import FORGET, REPAIR

Erased = dict[str, frozenset[int]]


@dataclass(frozen=True)
class Holes:
    """All that the receipts of a store explain. Messages are named by conversation and position."""

    erased: Erased = field(default_factory=dict)  # message -> receipts of the erasure
    lost: frozenset[str] = frozenset()  # messages whose place a repair kept
    resumed: dict[str, bytes] = field(default_factory=dict)  # message after a lost one -> what a repair found it to be
    changed: dict[str, frozenset[bytes]] = field(default_factory=dict)  # message that is not as it was archived -> the same
    blobs: frozenset[str] = frozenset()  # digests of large strings that a repair replaced by a note, or found changed
    views: frozenset[str] = frozenset()  # "conversation version"
    ids: tuple[range, ...] = ()  # rows of the table that were deleted or lost
    repairs: dict[int, JSON] = field(default_factory=dict)  # number -> receipt

    def ids_left(self, gap: range) -> list[range]:
        """What no receipt explains of a gap in the ids."""
        left = [gap]
        for known in self.ids:
            left = [part for whole in left for part in without(whole, known)]
        return left


def holes_of(connection: sqlite3.Connection) -> Holes:
    """Read the receipts. One that cannot be read explains nothing; the check of the documents names it."""
    holes = Holes()
    for number, kind, receipt in _receipts(connection):
        with suppress(ValueError, TypeError, AttributeError):
            holes = _with(holes, number, kind, receipt)
    return holes


def _with(holes: Holes, number: int, kind: str, receipt: JSON) -> Holes:
    """What is explained, with one more receipt."""
    ids = (*holes.ids, *(range(first, last + 1) for first, last in receipt.get("ids", ())))
    if kind == FORGET:
        erased = {message: holes.erased.get(message, frozenset()) | {number} for message in receipt.get("messages", ())}
        return replace(holes, ids=ids, erased={**holes.erased, **erased})
    if kind != REPAIR:
        return replace(holes, ids=ids)
    changed = {
        message: holes.changed.get(message, frozenset()) | {seal}
        for kept in ("changed", "sealed")
        for message, seal in _seals(receipt, kept)
    }
    return replace(
        holes,
        ids=ids,
        lost=holes.lost.union(receipt.get("lost", ()), receipt.get("erased", ())),
        blobs=holes.blobs.union(receipt.get("blobs", ())),
        views=holes.views.union(receipt.get("views", ())),
        resumed={**holes.resumed, **dict(_seals(receipt, "resumed"))},
        changed={**holes.changed, **changed},
        repairs={**holes.repairs, number: receipt},
    )


def _seals(receipt: JSON, kind: str) -> Iterator[tuple[str, bytes]]:
    return ((message, bytes.fromhex(seal)) for message, seal in receipt.get(kind, {}).items())


def resumed_seal(key: bytes, canonical: bytes) -> bytes:
    """By what a message is known whose predecessor is lost, so that the chain cannot speak for it."""
    return chained(key, b"resumed", canonical)


def changed_seal(key: bytes, canonical: bytes) -> bytes:
    """By what a message is known that is not as it was archived: as a repair found it, and no other way."""
    return chained(key, b"changed", canonical)


def without(whole: range, part: range) -> list[range]:
    """What is left of a range when another is taken out."""
    kept = (range(whole.start, min(whole.stop, part.start)), range(max(whole.start, part.stop), whole.stop))
    return [span for span in kept if span] if part.start < whole.stop and whole.start < part.stop else [whole]


def _receipts(connection: sqlite3.Connection) -> Iterator[tuple[int, str, JSON]]:
    for number, kind, text in connection.execute("SELECT id, kind, receipt FROM receipts ORDER BY id").fetchall():
        try:
            receipt = json.loads(text)
        except ValueError:
            continue
        if isinstance(receipt, dict):
            yield number, kind, receipt
