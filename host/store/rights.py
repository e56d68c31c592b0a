"""Who may do what only one may do at a time (hermes.md 9): the same in every store."""

from __future__ import annotations

from typing import NamedTuple

from host.store.times import SECOND, from_microseconds
from host.store.values import Lease


class Right(NamedTuple):
    """A named right as a store holds it; times in microseconds. It outlives its holders, so that fences rise."""

    holder: str | None = None
    fence: int = 0
    expires: int = 0

    def held_by(self, now: int) -> str | None:
        """Who holds it."""
        return self.holder if self.expires >= now else None

    def is_of(self, lease: Lease, now: int) -> bool:
        """Whether a lease has neither run out nor passed to another."""
        return self.held_by(now) == lease.holder and self.fence == lease.fence

    def taken(self, holder: str, seconds: float, now: int) -> Right | None:
        """It once the holder took or prolonged it; None where another has it."""
        if self.held_by(now) not in (None, holder):
            return None
        is_new = self.held_by(now) is None
        return Right(holder, self.fence + is_new, now + int(seconds * SECOND))

    def prolonged(self, lease: Lease, seconds: float, now: int) -> Right | None:
        """It for longer; None where the lease ran out or passed to another."""
        return self._replace(expires=now + int(seconds * SECOND)) if self.is_of(lease, now) else None

    def released(self, lease: Lease) -> Right | None:
        """It once the lease was given back; None where another holds it."""
        return Right(None, self.fence) if (self.holder, self.fence) == (lease.holder, lease.fence) else None

    def lease(self, name: str) -> Lease:
        """The lease of its holder."""
        return Lease(name, self.holder or "", self.fence, from_microseconds(self.expires))


FREE = Right()
