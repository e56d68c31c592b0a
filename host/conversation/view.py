"""What the model sees, and what in the archive it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from host.messages.ledger import Ledger
from host.messages.types import JSON, Message
from host.pipeline.settle import Receipt, Settled, ranges, rows_of


@dataclass(frozen=True)
class View:
    """A window as it was accepted and compacted: an entry per message, and one more for a summary merged into its message.

    ``receipt`` tells what the compaction did that made it, None before the first; ``rows`` counts those of the archive.
    """

    ledger: Ledger = field(default_factory=Ledger)
    messages: tuple[Message, ...] = ()
    version: int = 0
    receipt: Receipt | None = None
    rows: int = 0

    @property
    def lost(self) -> tuple[range, ...]:
        """Rows of the archive that nothing in the window stands for, over all compactions."""
        stood_for = {row for entry in self.ledger for row in rows_of(entry)}
        return ranges([row for row in range(1, self.rows + 1) if row not in stood_for])


def as_json(receipt: Receipt) -> JSON:
    """The receipt as it is kept."""
    return {
        "before": receipt.before,
        "after": receipt.after,
        "kept": receipt.kept,
        "covered": [[span.start, span.stop - 1] for span in receipt.covered],
        "lost": [[span.start, span.stop - 1] for span in receipt.lost],
        "repairs": list(receipt.repairs),
    }


def published(view: View, settled: Settled) -> View:
    """The next version of a view."""
    return replace(view, ledger=settled.ledger, version=view.version + 1, receipt=settled.receipt)
