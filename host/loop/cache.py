"""What the provider's cache did for a conversation, and what a compaction cost there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from host.messages.types import Usage
from host.provider.prices import Price

CENT = 0.01


@dataclass(frozen=True)
class CompactionCost:
    """What the first call after a compaction had to send anew: ``tokens``, and ``dollars`` where the price is known."""

    tokens: int
    dollars: float | None = None


@dataclass(frozen=True)
class CacheTally:
    """The counts of a conversation's calls so far, in tokens where they are not calls.

    A hit is a call of which the provider had read something before, whether it was told by markers what to keep or does
    so of its own (OpenAI, DeepSeek). ``prompt`` counts everything that was sent, ``read`` what of it came out of the
    cache, ``written`` what was put there. ``price`` is the model's; for another model: ``replace(tally, price=...)``.
    """

    price: Price | None = None
    hits: int = 0
    misses: int = 0
    prompt: int = 0
    read: int = 0
    written: int = 0
    last_compaction: CompactionCost | None = None

    @property
    def calls(self) -> int:
        """The calls of which the provider gave counts."""
        return self.hits + self.misses

    @property
    def share(self) -> float:
        """The share of all that was sent that came out of the cache, 0 to 1."""
        return self.read / self.prompt if self.prompt else 0.0

    def after(self, usage: Usage | None, prompt_is_new_after_compaction: bool = False) -> CacheTally:
        """The tally with one more call. ``prompt_is_new_after_compaction``: it is the first since the window was compacted.

        A call without usage counts for nothing; then the next one is the first after the compaction.
        """
        if usage is None:
            return self
        return replace(
            self,
            hits=self.hits + (usage.cached > 0),
            misses=self.misses + (usage.cached == 0),
            prompt=self.prompt + usage.prompt,
            read=self.read + usage.cached,
            written=self.written + usage.written,
            last_compaction=self._cost(usage) if prompt_is_new_after_compaction else self.last_compaction,
        )

    def line(self) -> str:
        """The tally for a status line, ``cache 83 % of 41k read, 5 hits, 1 miss``; empty where no provider has spoken of a cache."""
        if not (self.read or self.written or self.last_compaction):
            return ""
        said = f"cache {self.share:.0%} of {_short(self.prompt)} read".replace("%", " %")
        counts = f"{_counted(self.hits, 'hit', 'hits')}, {_counted(self.misses, 'miss', 'misses')}"
        return f"{said}, {counts}{self._told_cost()}"

    def _cost(self, usage: Usage) -> CompactionCost:
        return CompactionCost(max(0, usage.prompt - usage.cached), self.price.of_unread(usage) if self.price else None)

    def _told_cost(self) -> str:
        cost = self.last_compaction
        if cost is None:
            return ""
        return f"; last compaction cost {_short(cost.tokens)} tokens" + ("" if cost.dollars is None else f", {_dollars(cost.dollars)}")


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _short(tokens: int) -> str:
    """Tokens as a status line has room for them: 940, 12k, 1.3M."""
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1_000:.0f}k" if tokens < 999_500 else f"{tokens / 1_000_000:.1f}M"


def _dollars(amount: float) -> str:
    """Whole cents, and below a cent what can be read of it."""
    return f"${amount:,.2f}" if amount >= CENT or not amount else f"${amount:.1g}"
