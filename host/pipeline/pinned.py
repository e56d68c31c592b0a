"""Pinned messages in a window: there as they were said, in archive order, and merged with nothing (design, settle)."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, pairwise

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import is_system
from host.pipeline.exact import SUMMARIES
from host.transforms.boundary import align_forward
from host.transforms.bridges import bridges, is_bridge

HANDOFFS = SUMMARIES | {Kind.FACTS}


@dataclass(frozen=True)
class Pinned:
    """The entries that stay, whole groups, and the place of each row that is a newer version of a message."""

    entries: Sequence[Entry] = ()
    places: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def rows(self) -> frozenset[int | None]:
        """Their rows in the archive."""
        return frozenset(entry.row for entry in self.entries)

    def place(self, entry: Entry) -> int:
        """Where an entry stands in the conversation: a new version where the first one did; 0 for what is not archived."""
        row = entry.row or 0
        return self.places.get(row, row)

    def among(self, rows: Container[int | None]) -> Pinned:
        """Those of them that are of these rows."""
        return replace(self, entries=[entry for entry in self.entries if entry.row in rows])

    def shown_in(self, entries: Sequence[Entry]) -> Pinned:
        """Those of them that a window shows as they were said, or in the very form that they have here."""
        forms = {entry.row: entry for entry in self.entries}
        return self.among({entry.row for entry in entries if entry.kind is Kind.ORIGINAL or entry == forms.get(entry.row)})


def joined(ledger: Ledger, pinned: Pinned) -> Ledger:
    """The window with all pins in it; the same object where it has them already.

    A summary that was merged into one stands alone again, and stands for those that it covered no longer.
    """
    if not pinned.entries:
        return ledger
    entries = [replace(entry, kind=Kind.SUMMARY) if entry.kind is Kind.MERGED else entry for entry in unbridged(ledger)]
    for wanted in pinned.entries:
        entries = restored(entries, wanted, pinned)
    entries = with_bridges(with_merges(uncovered(group_of_their_own(entries, pinned)), pinned), pinned)
    return ledger if is_same_window(entries, ledger) else Ledger(entries)


def is_same_window(entries: Sequence[Entry], ledger: Ledger) -> bool:
    """Whether the entries are those of a window: the same objects, or equal turns that were made."""
    return len(entries) == len(ledger) and all(map(_is_same, entries, ledger))


def restored(entries: list[Entry], wanted: Entry, pinned: Pinned) -> list[Entry]:
    """The entries with this one, in full where only a digest of it is there."""
    at = next((i for i, entry in enumerate(entries) if entry.row == wanted.row), None)
    if at is None:
        return inserted(entries, wanted, pinned)
    if entries[at].kind is Kind.ORIGINAL:
        return entries
    return [*entries[:at], wanted, *entries[at + 1 :]]


def inserted(entries: list[Entry], wanted: Entry, pinned: Pinned) -> list[Entry]:
    """The entries with one more, behind the last one that was said earlier and behind a summary, never inside a tool group."""
    place = pinned.place(wanted)
    older = [i for i, entry in enumerate(entries) if entry.row is not None and pinned.place(entry) < place]
    seat = older[-1] + 1 if older else 0
    if not is_system(wanted.message):
        while seat < len(entries) and (is_system(entries[seat].message) or entries[seat].kind in HANDOFFS):
            seat += 1
    seat = align_forward([entry.message for entry in entries], seat)
    return [*entries[:seat], wanted, *entries[seat:]]


def group_of_their_own(entries: list[Entry], pinned: Pinned) -> list[Entry]:
    """Pinned calls are answered by their own results: what stood in for them goes. An archived one answers another call."""
    kept: list[Entry] = []
    owner: int | None = None
    for entry in entries:
        if entry.message.get("role") != "tool":
            owner = entry.row
        elif owner is not None and owner in pinned.rows and entry.row not in pinned.rows and entry.kind is not Kind.ORIGINAL:
            continue
        kept.append(entry)
    return kept


def in_order(entries: list[Entry], covering: Sequence[Entry], fixed: Container[int | None], pinned: Pinned) -> list[Entry]:
    """The entries as they are; in archive order where an engine put archived ones, or those of ``fixed`` rows, into another.

    What is no message of the archive stays behind the one that it follows; a summary stands where the first row stood that it
    is to cover, as ``covering`` tells of the same entries.
    """
    is_archived = (entry.row is not None and (entry.kind is Kind.ORIGINAL or entry.row in fixed) for entry in entries)
    standing = [pinned.place(entry) for entry in compress(entries, is_archived)]
    if all(left < right for left, right in pairwise(standing)):
        return entries
    ranked: list[tuple[int, Entry]] = []
    for entry, judged in zip(entries, covering, strict=True):
        covered = min((span.start for span in judged.covers), default=0)
        ranked.append((pinned.place(entry) or covered or (ranked[-1][0] if ranked else 0), entry))
    return [entry for _, entry in sorted(ranked, key=lambda one: one[0])]


def uncovered(entries: Sequence[Entry]) -> list[Entry]:
    """Summaries stand for no row that is shown."""
    shown = {entry.row for entry in entries if entry.row is not None}
    return [replace(entry, covers=_without(entry.covers, shown)) if entry.covers else entry for entry in entries]


def with_merges(entries: Sequence[Entry], pinned: Pinned) -> list[Entry]:
    """A summary whose role is that of the message after it is merged in front of it, unless that is pinned."""
    following: list[Entry | None] = [*entries[1:], None]
    return [
        replace(entry, kind=Kind.MERGED)
        if entry.kind is Kind.SUMMARY
        and after is not None
        and after.row not in pinned.rows
        and after.message.get("role") == entry.message.get("role")
        else entry
        for entry, after in zip(entries, following, strict=True)
    ]


def with_bridges(entries: Sequence[Entry], pinned: Pinned) -> list[Entry]:
    """The entries with the turns that keep roles apart around pinned messages; done twice is done once."""
    bare = unbridged(entries)
    if not pinned.entries:
        return bare
    first = next((i for i, entry in enumerate(bare) if not is_system(entry.message)), len(bare))
    seams = {i for i, (left, right) in enumerate(pairwise(bare), 1) if _is_seam(left, right, pinned)}
    if first < len(bare) and bare[first].row in pinned.rows:
        seams.add(first)
    missing = bridges([entry.message for entry in bare], seams)
    made = {i: Entry(message, None, Kind.FOREIGN) for i, message in missing.items()}
    return [part for i, entry in enumerate(bare) for part in ((made[i], entry) if i in made else (entry,))]


def unbridged(entries: Sequence[Entry]) -> list[Entry]:
    """The entries without turns that only keep a pinned message apart; what is no summary is merged with nothing, and keeps its own."""
    kept: list[Entry] = []
    for entry, after in zip(entries, [*entries[1:], None], strict=True):
        is_made = entry.kind is Kind.FOREIGN and is_bridge(entry.message)
        if not is_made or (kept and after is not None and _keeps_apart(kept[-1], entry, after)):
            kept.append(entry)
    return kept


def ranges(rows: Sequence[int]) -> tuple[range, ...]:
    """Rising rows as ranges."""
    spans: list[range] = []
    for row in rows:
        if spans and spans[-1].stop == row:
            spans[-1] = range(spans[-1].start, row + 1)
        else:
            spans.append(range(row, row + 1))
    return tuple(spans)


def _keeps_apart(left: Entry, between: Entry, right: Entry) -> bool:
    """Whether two of one role would meet without the turn between them, of which the first is no summary that could be merged."""
    role = left.message.get("role")
    return left.kind not in HANDOFFS and role == right.message.get("role") != between.message.get("role")


def _is_seam(left: Entry, right: Entry, pinned: Pinned) -> bool:
    """Whether a pinned message meets one that it did not meet when it was said."""
    if left.row not in pinned.rows and right.row not in pinned.rows:
        return False
    return left.row is None or right.row is None or pinned.place(right) != pinned.place(left) + 1


def _is_same(entry: Entry, known: Entry) -> bool:
    if entry.message is known.message:
        return entry.row == known.row
    return entry.row is known.row is None and entry.message == known.message


def _without(covers: tuple[range, ...], shown: set[int]) -> tuple[range, ...]:
    if not any(row in shown for span in covers for row in span):
        return covers
    return ranges([row for span in covers for row in span if row not in shown])
