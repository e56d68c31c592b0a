"""Receipts: what was taken out of the store on purpose, or lost, so that a check knows why it is not there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from host.messages.types import JSON
from host.store.times import microseconds

FORGET, EXPIRE, DELETE, REPAIR = "forget", "expire", "delete", "repair"  # kinds


def keep_receipt(connection: sqlite3.Connection, kind: str, receipt: JSON) -> int:
    """Write a receipt; returns its number."""
    values = (microseconds(), kind, json.dumps(receipt))
    return connection.execute("INSERT INTO receipts (time, kind, receipt) VALUES (?, ?, ?)", values).lastrowid or 0


def runs(numbers: Iterable[int]) -> tuple[range, ...]:
    """Rising numbers as ranges."""
    found: list[range] = []
    for number in numbers:
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return tuple(found)


def merged(ranges: Iterable[range]) -> tuple[range, ...]:
    """Ranges in rising order, those that adjoin as one."""
    found: list[range] = []
    for span in sorted(ranges, key=lambda span: span.start):
        if found and span.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, span.stop))
        else:
            found.append(span)
    return tuple(found)


def as_pairs(ranges: Sequence[range]) -> list[list[int]]:
    """Ranges as a receipt holds them: first and last."""
    return [[span.start, span.stop - 1] for span in ranges]
