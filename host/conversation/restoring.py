"""The window that a view and the rows of the archive make: as after a restart, and as others change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from host.messages.ledger import Entry, Kind, Ledger
from host.store.protocols import Archive
from host.store.values import Published, Row


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
    """The window with a new version of a message, where the old one was shown.

    Where a summary stands for the old one, a new version by the user follows the summary: it is news to the model. What
    others said stays in the archive alone.
    """
    place = places.get(entry.row or 0, entry.row)
    versions = {place, *(row for row, of in places.items() if of == place)} - {entry.row}
    shown = next((i for i, known in enumerate(ledger) if known.kind is Kind.ORIGINAL and known.row in versions), None)
    if shown is not None:
        return Ledger([entry if i == shown else known for i, known in enumerate(ledger)])
    covering = [i for i, known in enumerate(ledger) if any(row in span for row in versions if row for span in known.covers)]
    if not covering or entry.message.get("role") != "user":
        return ledger
    return Ledger([*ledger[: covering[-1] + 1], entry, *ledger[covering[-1] + 1 :]])


def without_rows(ledger: Ledger, rows: Sequence[int]) -> Ledger:
    """The window without the messages of these rows."""
    gone = set(rows)
    return Ledger(entry for entry in ledger if entry.kind is not Kind.ORIGINAL or entry.row not in gone)
