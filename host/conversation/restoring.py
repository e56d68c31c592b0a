"""The window that a view and the rows of the archive make: as after a restart, and as others change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from host.messages.ledger import Entry, Kind, Ledger
from host.store.protocols import Archive
from host.store.values import Published, Row

TOLD = frozenset({Kind.ORIGINAL, Kind.DIGEST})  # what stands for one message: as it was said, or in short


def restored(archive: Archive, published: Published | None) -> Ledger:
    """The entries of a view with all rows after it."""
    ledger, upto = (published.ledger, published.upto) if published is not None else (Ledger(), 0)
    return extended(ledger, archive.rows(upto + 1), archive.places())


def extended(ledger: Ledger, rows: Iterable[Row], places: Mapping[int, int]) -> Ledger:
    """The window with more rows: messages follow, new versions take the place of the old ones."""
    for row in rows:
        if row.message is None:
            continue
        entry = Entry(row.message, row.position)
        ledger = ledger.append(entry) if row.place == row.position else with_version(ledger, entry, {**places, row.position: row.place})
    return ledger


def with_version(ledger: Ledger, entry: Entry, places: Mapping[int, int]) -> Ledger:
    """The window with a new version of a message, where the old one was shown, whole or as a digest.

    Where a summary stands for the old one, a new version by the user follows the summary: it is news to the model; where
    the old one was erased, it takes its place. What others said stays in the archive alone.
    """
    place = places.get(entry.row or 0, entry.row or 0)
    versions = {place, *(row for row, of in places.items() if of == place)} - {entry.row}
    shown = next((i for i, known in enumerate(ledger) if known.kind in TOLD and known.row in versions), None)
    if shown is not None:
        return Ledger([*ledger[:shown], entry, *ledger[shown + 1 :]])
    if entry.message.get("role") != "user":
        return ledger
    seat = _seat(ledger, versions, place)
    return Ledger([*ledger[:seat], entry, *ledger[seat:]])


def _seat(ledger: Ledger, versions: set[int], place: int) -> int:
    """Behind the summary that stands for an old version, else behind what was said before it."""
    covering = [i for i, known in enumerate(ledger) if any(row in span for span in known.covers for row in versions)]
    before = covering or [i for i, known in enumerate(ledger) if known.kind in TOLD and (known.row or 0) < place]
    return before[-1] + 1 if before else 0


def without_rows(ledger: Ledger, rows: Sequence[int]) -> Ledger:
    """The window without the messages of these rows."""
    gone = set(rows)
    return Ledger(entry for entry in ledger if entry.kind not in TOLD or entry.row not in gone)
