"""The receipt of a compaction, read off archive and views when it is asked for: what was erased since is gone from it too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from host.conversation.heard import ROWS
from host.conversation.restoring import TOLD, extended
from host.conversation.triggers import TRIGGERS
from host.errors import UsageError
from host.messages.facts import FactKind, Live, Told
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.searchable import searchable
from host.messages.types import Message
from host.pipeline.pinned import ranges
from host.pipeline.receipts import Listed, listed
from host.recall.leaving import is_of_the_client, taken_back, told_in
from host.store.protocols import Archive
from host.store.values import Published, Row
from host.transforms.handoff import is_handoff

WHOLE = 2_000  # rows, the newest, that are heard whoever spoke; before them the user alone, whose rules hold for long
COMPACTIONS = frozenset(trigger.name for trigger in TRIGGERS)
"""What triggers the versions of a window that have a receipt."""


@dataclass(frozen=True)
class ReceiptPage:
    """What one compaction took out of the window. Tokens are None where nothing tells them."""

    version: int
    trigger: str
    engine: str
    time: datetime
    before: int | None  # tokens
    after: int | None  # tokens
    left: tuple[range, ...]  # rows that the window does not show any more
    shortened: tuple[range, ...]  # rows that it shows in brief: what they lost is listed too
    listed: tuple[Listed, ...]
    undone_by: int | None = None  # the version that took the compaction back

    @property
    def lost(self) -> tuple[Listed, ...]:
        """What still holds and the window does not say."""
        return tuple(one for one in self.listed if one.is_lost)


def compactions(history: Sequence[Published]) -> list[Published]:
    """The versions of a window that a compaction made, oldest first."""
    return [version for version in history if version.undoes is None and version.trigger in COMPACTIONS]


def receipt_at(archive: Archive, history: Sequence[Published], version: int | None = None) -> ReceiptPage:
    """The exact values and the user's rules that left the window with the compaction that made a version, the newest for None.

    UsageError where no compaction made it. Whether something is visible is told of the window as it was published; what was
    replaced until then, of the newest 20,000 rows.
    """
    published = _chosen(history, version)
    known = [each for each in history if each.version <= published.version]
    change = _Change.to(published, _before(archive, known))
    left, live = _read(archive, change, published.upto, taken_back(known))
    window = "\n".join(searchable(entry.message) for entry in published.ledger)
    tokens = [count if isinstance(count := published.receipt.get(key), int) else None for key in ("before", "after")]
    return ReceiptPage(
        version=published.version,
        trigger=published.trigger,
        engine=published.engine,
        time=published.time,
        before=tokens[0],
        after=tokens[1],
        left=ranges(sorted(row for row, (_, after) in change.rows.items() if after is None)),
        shortened=ranges(sorted(row for row, (_, after) in change.rows.items() if after is not None)),
        listed=tuple(listed(left, live.replaced(), window.__contains__)),
        undone_by=next((each.version for each in history if each.undoes == published.version), None),
    )


def _chosen(history: Sequence[Published], version: int | None) -> Published:
    """The version that is asked for; UsageError where no compaction made it."""
    made = compactions(history)
    chosen = [each for each in made if version in (None, each.version)]
    if chosen:
        return chosen[-1]
    advice = f"versions made by one: {', '.join(str(each.version) for each in made)}" if made else "`sessions compress` compacts it"
    if version is None:
        raise UsageError("nothing left the window: it was never compacted", advice)
    found = next((each for each in history if each.version == version), None)
    if found is None:
        raise UsageError(f"there is no version {version} of the window", advice)
    made_by = "undo" if found.undoes is not None else found.trigger or "an unnamed trigger"
    raise UsageError(f"version {version} was made by {made_by}, not by a compaction: it has no receipt", advice)


def _before(archive: Archive, known: Sequence[Published]) -> Ledger:
    """The window that the last of these versions was made from: the version before it with the rows that had come since."""
    earlier = known[-2] if len(known) > 1 else None
    entries, upto = (Ledger(earlier.ledger), earlier.upto) if earlier is not None else (Ledger(), 0)
    return extended(entries, archive.rows(upto + 1, known[-1].upto), archive.places())


@dataclass(frozen=True)
class _Change:
    """The rows that a window shows less of than before: each with its entry in both, None where it left."""

    rows: dict[int, tuple[Entry, Entry | None]]

    @classmethod
    def to(cls, published: Published, before: Ledger) -> _Change:
        """From the window before to the one that was published."""
        shown, after = dict(_told_by(before)), dict(_told_by(published.ledger))
        gone = {row: (entry, after.get(row)) for row, entry in shown.items()}
        return cls({row: (old, new) for row, (old, new) in gone.items() if new is None or _is_shorter(new, old)})

    def of(self, row: int, told: Sequence[Told]) -> Iterator[Told]:
        """What was told in a row and left: of a digest, what only the earlier form of it said."""
        if row not in self.rows:
            return
        old, new = self.rows[row]
        said = searchable(old.message) if old.kind is Kind.DIGEST else None
        still = searchable(new.message) if new is not None else ""
        yield from (one for one in told if (said is None or one.fact.text in said) and one.fact.text not in still)


def _told_by(ledger: Ledger) -> Iterator[tuple[int, Entry]]:
    return ((entry.row, entry) for entry in ledger if entry.row is not None and entry.kind in TOLD)


def _is_shorter(new: Entry, old: Entry) -> bool:
    return new.kind is Kind.DIGEST and new.message != old.message and searchable(old.message) not in searchable(new.message)


def _read(archive: Archive, change: _Change, upto: int, gone: frozenset[int]) -> tuple[list[Told], Live]:
    """What was told in the rows that left, and what holds of all that was heard up to a row; each row is read once."""
    left, live = list[Told](), Live()
    if not change.rows:
        return left, live
    for row in archive.rows(max(1, min(upto - ROWS + 1, *change.rows)), upto):
        is_heard = not row.superseded and row.position > upto - ROWS and (row.role == "user" or row.position > upto - WHOLE)
        is_heard = is_heard and not {row.position, row.place} <= gone
        if row.message is not None and (is_heard or row.position in change.rows):
            told = _told(row, row.message)
            left += change.of(row.position, told)
            live.hear(told if is_heard else ())
    return left, live


def _told(row: Row, message: Message) -> list[Told]:
    """The facts of a row; what a client or an engine wrote in the user's name is no rule of the user."""
    told = told_in(row, message)
    is_of_user = row.role == "user" and not is_of_the_client(row) and not is_handoff(message)
    return told if is_of_user else [one for one in told if one.fact.kind not in (FactKind.constraint, FactKind.release)]
