"""What the model sees, and what in the archive it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from host.messages.ledger import Ledger
from host.messages.types import JSON, Message
from host.pipeline.settle import Receipt, Settled


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


def receipt_of(kept: JSON) -> Receipt | None:
    """A receipt as it was kept; None for a view that no compaction made."""
    if "before" not in kept:
        return None
    spans = {key: tuple(range(first, last + 1) for first, last in kept[key]) for key in ("covered", "lost")}
    return Receipt(kept["before"], kept["after"], kept["kept"], spans["covered"], spans["lost"], tuple(kept["repairs"]))


def published(view: View, settled: Settled) -> View:
    """The next version of a view."""
    return replace(view, ledger=settled.ledger, version=view.version + 1, receipt=settled.receipt)
