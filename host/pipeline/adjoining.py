"""Summaries that stand side by side: a window has one handoff there, never two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from host.messages.ledger import Entry, Kind
from host.pipeline.pinned import ranges
from host.transforms.handoff import as_one


def adjoined(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with neighbouring summaries as one: it stands for the rows of all, and for what left now where one is new."""
    joined: list[Entry] = []
    for entry in entries:
        if joined and _is_text(joined[-1]) and _is_text(entry):
            entry = _as_one(joined.pop(), entry)
        joined.append(entry)
    return joined


def _is_text(entry: Entry) -> bool:
    return entry.kind is Kind.SUMMARY and isinstance(entry.message.get("content"), str)


def _as_one(first: Entry, second: Entry) -> Entry:
    rows = {row for entry in (first, second) for span in entry.covers for row in span}
    covers = ranges(sorted(rows)) if first.covers and second.covers else ()
    return replace(first, message=as_one(first.message, second.message), covers=covers)
