"""Receipts and pins as they are printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from host.cli.store_text import aligned, clipped, counted, local, plain, spans
from host.messages.types import JSON

if TYPE_CHECKING:
    from host.conversation.pinning import PinShown
    from host.conversation.receipts import ReceiptPage
    from host.messages.facts import Told
    from host.pipeline.receipts import Listed

HEADINGS = ("KIND", "ROW", "ROLE", "WINDOW", "REPLACED BY", "TEXT")
PIN_HEADINGS = ("ROW", "ROLE", "BY", "TOKENS", "WINDOW", "TEXT")
REPLACEMENT = 48  # cells


def receipt_lines(page: ReceiptPage, shown: Sequence[Listed]) -> Iterator[str]:
    """What made the version, what left, and a line each of what is shown."""
    engine = f" by {plain(page.engine)}" if page.engine else ""
    sizes = f", {page.before:,} -> {page.after:,} tokens" if page.before is not None and page.after is not None else ""
    yield f"version {page.version}: {plain(page.trigger)}{engine}, {local(page.time)}{sizes}"
    if page.undone_by is not None:
        yield f"taken back by version {page.undone_by}"
    yield f"left the window: {_rows(page.left)}" + (f"; shortened: {_rows(page.shortened)}" if page.shortened else "")
    if shown:
        yield ""
        yield from aligned([HEADINGS, *map(_line, shown)], right=[1])
        yield ""
    yield _sums(page)


def receipt_json(page: ReceiptPage, shown: Sequence[Listed]) -> JSON:
    """A receipt for scripts; times are UTC, rows include both ends."""
    return {
        "version": page.version,
        "trigger": page.trigger,
        "engine": page.engine,
        "time": page.time.isoformat(),
        "before": page.before,
        "after": page.after,
        "left": _pairs(page.left),
        "shortened": _pairs(page.shortened),
        "undone_by": page.undone_by,
        "counts": _counts(page),
        "listed": [_object(one) for one in shown],
    }


def pin_lines(pins: Sequence[PinShown]) -> Iterator[str]:
    """A line a pinned message."""
    if not pins:
        yield "no message is pinned"
        return
    yield from aligned([PIN_HEADINGS, *map(_pin_line, pins)], right=[0, 3])


def pins_json(pins: Sequence[PinShown]) -> JSON:
    """The pins for scripts; tokens are those of the whole group of calls and results."""
    return {"pins": [_pin_object(pin) for pin in pins]}


def _line(one: Listed) -> tuple[str, ...]:
    return str(one.kind), f"{one.row}", plain(one.role), _state(one), _replacement(one.replaced_by), plain(one.text)


def _state(one: Listed) -> str:
    if one.is_visible:
        return "visible"
    return "lost" if one.is_lost else "replaced"


def _replacement(by: Told | None) -> str:
    return "-" if by is None else f"{clipped(plain(by.fact.text), REPLACEMENT)} [{by.row}]"


def _object(one: Listed) -> JSON:
    by = one.replaced_by
    return {
        "kind": str(one.kind),
        "text": one.text,
        "position": one.row,
        "role": one.role,
        "visible": one.is_visible,
        "lost": one.is_lost,
        "replaced_by": None if by is None else {"text": by.fact.text, "position": by.row},
    }


def _counts(page: ReceiptPage) -> dict[str, int]:
    rules = sum(one.is_rule for one in page.listed)
    return {
        "values": len(page.listed) - rules,
        "rules": rules,
        "visible": sum(one.is_visible for one in page.listed),
        "replaced": sum(one.is_replaced for one in page.listed),
        "lost": len(page.lost),
    }


def _sums(page: ReceiptPage) -> str:
    counts = _counts(page)
    kinds = f"{counted(counts['values'], 'value')} and {counted(counts['rules'], 'rule')} of the user"
    return f"{kinds}: {counts['visible']:,} still visible, {counts['replaced']:,} replaced, {counts['lost']:,} lost"


def _pin_line(shown: PinShown) -> tuple[str, ...]:
    state = "shown" if shown.in_window else "with the next compaction" if shown.fits else "no room now"
    return f"{shown.row}", plain(shown.role) or "erased", plain(shown.pin.by), f"{shown.tokens:,}", state, plain(shown.words)


def _pin_object(shown: PinShown) -> JSON:
    return {
        "position": shown.row,
        "place": shown.pin.position,
        "role": shown.role or None,
        "by": shown.pin.by,
        "time": shown.pin.time.isoformat(),
        "tokens": shown.tokens,
        "shown": shown.in_window,
        "fits": shown.fits,
        "words": shown.words,
    }


def _rows(ranges: Sequence[range]) -> str:
    return f"{spans(ranges)} ({counted(sum(map(len, ranges)), 'row')})" if ranges else "nothing"


def _pairs(ranges: Sequence[range]) -> list[list[int]]:
    return [[span.start, span.stop - 1] for span in ranges]
