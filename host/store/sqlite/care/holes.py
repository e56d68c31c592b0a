"""What receipts explain: rows whose content was erased on purpose, and rows that damage took before a repair."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from host.messages.types import JSON
from host.store.sqlite.bodies import chained
from host.store.sqlite.receipts import FORGET, REPAIR

Erased = dict[str, frozenset[int]]


@dataclass(frozen=True)
class Holes:
    """All that the receipts of a store explain. Messages are named by conversation and position."""

    erased: Erased  # message -> receipts of the erasure
    lost: frozenset[str]  # messages whose place a repair kept
    resumed: dict[str, bytes]  # message after a lost one -> what a repair found it to be
    blobs: frozenset[str]  # digests of large strings that a repair replaced by a note
    views: frozenset[str]  # "conversation version"
    ids: tuple[range, ...]  # rows of the table that were deleted or lost

    def ids_left(self, gap: range) -> list[range]:
        """What no receipt explains of a gap in the ids."""
        left = [gap]
        for known in self.ids:
            left = [part for whole in left for part in without(whole, known)]
        return left


def holes_of(connection: sqlite3.Connection) -> Holes:
    """Read the receipts. One that cannot be read explains nothing; the check of the documents names it."""
    erased: dict[str, set[int]] = {}
    lost: set[str] = set()
    resumed: dict[str, bytes] = {}
    blobs: set[str] = set()
    views: set[str] = set()
    ids: list[range] = []
    for number, kind, receipt in _receipts(connection):
        ids += [range(first, last + 1) for first, last in receipt.get("ids", ())]
        if kind == FORGET:
            for message in receipt.get("messages", ()):
                erased.setdefault(message, set()).add(number)
        elif kind == REPAIR:
            lost.update(receipt.get("lost", ()))
            blobs.update(receipt.get("blobs", ()))
            views.update(receipt.get("views", ()))
            resumed.update({message: bytes.fromhex(seal) for message, seal in receipt.get("resumed", {}).items()})
    frozen = {message: frozenset(numbers) for message, numbers in erased.items()}
    return Holes(frozen, frozenset(lost), resumed, frozenset(blobs), frozenset(views), tuple(ids))


def resumed_seal(key: bytes, canonical: bytes) -> bytes:
    """By what a message is known whose predecessor is lost, so that the chain cannot speak for it."""
    return chained(key, b"resumed", canonical)


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
