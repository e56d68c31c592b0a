"""What tokens cost, in dollars per million."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from host.messages.types import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

MILLION = 1_000_000
CONFIGURED, LISTED = "model.price", "listed"


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens, None where unknown.

    ``cached``: input that the provider has in its cache. ``cache_write``: input that it puts there, for five minutes.
    ``tiers``: a call with more input tokens than the number costs that much per million for all of its input.
    """

    input: float | None = None
    output: float | None = None
    cached: float | None = None
    tiers: tuple[tuple[int, float], ...] = ()  # rising
    source: str = CONFIGURED
    cache_write: float | None = None

    @classmethod
    def listed(cls, price: ModelPrice) -> Price | None:
        """A price of genai-prices; None where it says nothing of input tokens."""
        tiers = sorted((int(tier.start), float(tier.price)) for tier in getattr(price.input_mtok, "tiers", ()))
        asked = (price.input_mtok, price.output_mtok, price.cache_read_mtok, price.cache_write_mtok)
        base, output, cached, written = map(_base, asked)
        return None if base is None else cls(base, output, cached, tuple(tiers), LISTED, written)

    def over(self, listed: Price | None) -> Price:
        """What is said here, and the list's word where nothing is said.

        Where the price of input is said here, the list's tiers and its prices of the cache do not go with it.
        """
        if listed is None:
            return self
        output = listed.output if self.output is None else self.output
        if self.input is not None:
            return replace(self, output=output)
        cached = listed.cached if self.cached is None else self.cached
        written = listed.cache_write if self.cache_write is None else self.cache_write
        return replace(self, input=listed.input, output=output, cached=cached, tiers=listed.tiers, cache_write=written)

    def of_input(self, tokens: int) -> float | None:
        """Dollars for the input of one call, nothing of it cached."""
        rate = self._rate(tokens)
        return None if rate is None else tokens * rate / MILLION

    def of_call(self, usage: Usage) -> float | None:
        """Dollars for a whole call: input, what was read from and put into the provider's cache, output. None where input is unknown."""
        unread, rate = self.of_unread(usage), self._rate(usage.prompt)
        if unread is None or rate is None:
            return None
        read = usage.cached * (rate if self.cached is None else self.cached)
        return unread + (read + usage.completion * (self.output or 0.0)) / MILLION

    def of_unread(self, usage: Usage) -> float | None:
        """Dollars for what of a call's input did not come out of the provider's cache; what was put there at its own price."""
        rate = self._rate(usage.prompt)
        if rate is None:
            return None
        fresh = max(0, usage.prompt - usage.cached - usage.written)
        return (fresh * rate + usage.written * (rate if self.cache_write is None else self.cache_write)) / MILLION

    def _rate(self, tokens: int) -> float | None:
        """What a million tokens cost in a call with so many of them."""
        reached = [rate for start, rate in self.tiers if tokens > start]
        return self.input if self.input is None or not reached else reached[-1]


def _base(price: Any) -> float | None:
    """The lowest tier's price."""
    base = getattr(price, "base", price)
    return float(base) if isinstance(base, Decimal | int | float) else None
