"""What tokens cost, in dollars per million."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

MILLION = 1_000_000
CONFIGURED, LISTED = "model.price", "listed"


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens, None where unknown; ``cached`` is for input that the provider has in its cache.

    ``tiers``: a call with more input tokens than the number costs that much per million for all of its input.
    """

    input: float | None = None
    output: float | None = None
    cached: float | None = None
    tiers: tuple[tuple[int, float], ...] = ()  # rising
    source: str = CONFIGURED

    @classmethod
    def listed(cls, price: ModelPrice) -> Price | None:
        """A price of genai-prices; None where it says nothing of input tokens."""
        tiers = sorted((int(tier.start), float(tier.price)) for tier in getattr(price.input_mtok, "tiers", ()))
        base, output, cached = (_base(asked) for asked in (price.input_mtok, price.output_mtok, price.cache_read_mtok))
        return None if base is None else cls(base, output, cached, tuple(tiers), LISTED)

    def over(self, listed: Price | None) -> Price:
        """What is said here, and the list's word where nothing is said.

        Where the price of input is said here, the list's tiers and its price of cached input do not go with it.
        """
        if listed is None:
            return self
        output = listed.output if self.output is None else self.output
        if self.input is not None:
            return replace(self, output=output)
        cached = listed.cached if self.cached is None else self.cached
        return replace(self, input=listed.input, output=output, cached=cached, tiers=listed.tiers)

    def of_input(self, tokens: int) -> float | None:
        """Dollars for the input of one call, nothing of it cached."""
        if self.input is None:
            return None
        reached = [rate for start, rate in self.tiers if tokens > start]
        return tokens * (reached[-1] if reached else self.input) / MILLION


def _base(price: Any) -> float | None:
    """The lowest tier's price."""
    base = getattr(price, "base", price)
    return float(base) if isinstance(base, Decimal | int | float) else None
