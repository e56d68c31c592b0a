"""The part of a window that an engine gets to compact, and the newest exchanges that are kept from it (hermes.md 12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from host.messages.ledger import Entry, Kind, Ledger
from host.messages.types import Message
from host.pipeline.settle import render
from host.transforms.bridges import bridge
from host.transforms.exchanges import rejoin, split_exchanges
from host.transforms.handoff import is_handoff

TOLD = (Kind.ORIGINAL, Kind.DIGEST)
SUMMARIES = (Kind.SUMMARY, Kind.MERGED)


@dataclass(frozen=True)
class Part:
    """``given`` goes to the engine; ``kept`` stays as it is behind what comes back, and is empty where all is given."""

    given: list[Message]
    kept: list[Message]

    @property
    def whole(self) -> list[Message]:
        """The window, the very objects of both."""
        return [*self.given, *self.kept]

    def with_rewritten(self, returned: object) -> object:
        """What the engine made of its part with the rest behind it; what is no list of messages as it is.

        No message of either is changed: a summary that would meet a message of its role is merged by ``settle``, anything else is
        kept apart by a turn.
        """
        if not self.kept or not isinstance(returned, list) or not returned:
            return returned
        last = returned[-1]
        met_before = last == self.given[-1] or not isinstance(last, dict)
        return [*returned, *self.kept] if met_before or is_handoff(last) else rejoin(returned, self.kept, merging=False, turn=bridge)


def part_of(ledger: Ledger, messages: Sequence[Message], keep: int | None) -> Part | None:
    """The part before the last ``keep`` exchanges; the whole window where nothing is to be kept or nothing stands before them.

    None where the exchanges that are to be kept hold the summary: another one in front of it would be a second.
    """
    before, kept = split_exchanges(ledger, keep or 0, _is_request)
    if not kept:
        return Part(list(messages), [])
    if any(entry.kind in SUMMARIES for entry in kept):
        return None
    if before[-1].kind is Kind.MERGED:  # the message that it was merged into is kept: it stands alone again
        before[-1] = replace(before[-1], kind=Kind.SUMMARY)
    return Part(render(Ledger(before)), render(Ledger(kept)))


def _is_request(entry: Entry) -> bool:
    """Something that the user said, whole or in short; not what an engine or the host put into the user's mouth."""
    return entry.kind in TOLD and entry.message.get("role") == "user" and not is_handoff(entry.message)
