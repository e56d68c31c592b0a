"""One run of ``ctxhost archive forget``: what was found, what was agreed to, what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from host.cli.globals import Globals
from host.cli.store_care import in_replays
from host.cli.store_opening import confirmed, watched
from host.cli.store_text import plain
from host.messages.types import JSON

if TYPE_CHECKING:
    from host.store.care import Erasure
    from host.store.sqlite.everywhere import Everywhere


@dataclass(frozen=True)
class Forgetting:
    """``unfinished`` are earlier erasures whose bytes are still in the files, ``left`` what is in them after this run."""

    erasure: Erasure
    replays: JSON
    found: bool
    agreed: bool
    unfinished: tuple[str, ...] = ()
    finishes: bool = False
    left: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether no bytes are left of this erasure or of an earlier one."""
        return self.erasure.is_finished and not self.left

    def status(self, *, asked: bool) -> int:
        """The exit status; where nobody was ``asked``, finding it is an answer too."""
        return 0 if (self.finishes or (self.agreed if asked else self.found)) and self.is_complete else 1

    def as_json(self) -> JSON:
        """For scripts."""
        rest = {"in_replays": self.replays, "unfinished_before": list(self.unfinished), "left_of_it": list(self.left)}
        return {**self.erasure.as_json(), **rest}

    def lines(self) -> Iterator[str]:
        """What was done."""
        ends = "it is finished now" if self.finishes and not self.left else "it still is not"
        yield from (f"{plain(line)}; {ends}" for line in self.unfinished)
        if self.agreed:
            yield f"erased; receipt {self.erasure.receipt}"

    def complaints(self) -> Iterator[str]:
        """What was not done."""
        if self.found and not self.agreed:
            yield "nothing was erased"
        copies = self.erasure.may_hold_copies if self.agreed else ()
        yield from (f"a copy may be left: {plain(place)}" for place in (*copies, *self.left))
        if self.agreed and not self.erasure.is_finished:
            yield "not finished: run it again, or `ctxhost archive repair`, once that is put right"


def carried_out(settings: Globals, planned: Everywhere, *, yes: bool, asks: bool) -> Forgetting:
    """Erase what is planned, if that is agreed to, and finish earlier erasures; without ``yes`` and ``asks`` nothing is written."""
    found = not planned.erasure.is_empty
    agreed = found and (yes or (asks and confirmed("erase it for good?", yes=False)))
    unfinished = tuple(planned.unfinished())
    finishes = bool(unfinished) and (agreed or (not found and (asks or yes)))
    with watched(settings) as progress:
        erasure = planned.applied(progress).erasure if agreed else planned.erasure
        left = planned.finished(progress) if finishes else ()
    return Forgetting(erasure, in_replays(planned), found, agreed, unfinished, finishes, tuple(left))
