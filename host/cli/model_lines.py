"""A model's window and price as they are shown, and what a replay's tokens cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from host.app import Model
    from host.config import Loaded
    from host.loop.replay import Replayed
    from host.provider.prices import Price

NO_PRICE = "price              unknown; set model.price"


def price_line(model: Model) -> str:
    """What a million tokens cost, as ``config show`` prints it."""
    price = model.price
    if price is None:
        return NO_PRICE
    sides = [("in", price.input), ("out", price.output), ("in from the cache", price.cached)]
    known = [f"{dollars(asked)} {side}" for side, asked in sides if asked is not None]
    tiers = [f"{dollars(asked)} in over {start:,} tokens" for start, asked in price.tiers]
    return f"price              {', '.join([*known, *tiers])}; per million tokens, {price.source}"


def summary_model_lines(loaded: Loaded, model: Model) -> list[str]:
    """The models that summaries are asked of, in their order, with their windows or what they lack."""
    from host.app import summary_endpoints, window_of_endpoint
    from host.config.reading import printable

    lines = []
    for endpoint in summary_endpoints(loaded):
        window, guessed = window_of_endpoint(endpoint, model)
        size = f"window {window:,}" + (f" (guessed; set {endpoint.window_key(model)})" if guessed else "")
        told = f"{endpoint.model}, {size}" if not endpoint.missing else f"{endpoint.model or 'nobody'} cannot be asked: {endpoint.missing}"
        lines.append(f"summaries by       {printable(told)}")
    return lines


def model_as_json(model: Model) -> dict[str, Any]:
    """Name, window and price of the main model."""
    return {
        "name": model.name or None,
        "window": model.window,
        "window_source": model.source,
        "window_is_guessed": model.window_is_guessed,
        "price": price_as_json(model.price),
    }


def summary_models_as_json(loaded: Loaded, model: Model) -> list[dict[str, Any]]:
    """The same lines for a script; ``missing`` says why one cannot be asked."""
    from host.app import summary_endpoints, window_of_endpoint

    found = [(endpoint, window_of_endpoint(endpoint, model)) for endpoint in summary_endpoints(loaded)]
    return [
        {"name": endpoint.model or None, "window": window, "window_is_guessed": guessed, "missing": endpoint.missing or None}
        for endpoint, (window, guessed) in found
    ]


def price_as_json(price: Price | None) -> dict[str, Any] | None:
    """Dollars per million tokens, null where unknown."""
    if price is None:
        return None
    return {"input": price.input, "output": price.output, "cached": price.cached, "source": price.source}


def cost_of(price: Price | None, result: Replayed) -> tuple[float, float] | None:
    """Dollars for the input tokens of all calls, with and without the engine; None where the price is not known."""
    if price is None or price.input is None:
        return None
    return _sum(price, (call.tokens for call in result.calls)), _sum(price, (call.recorded_tokens for call in result.calls))


def cost_as_json(price: Price | None, result: Replayed) -> dict[str, Any] | None:
    """The same for a script."""
    cost = cost_of(price, result)
    if cost is None:
        return None
    return {"input": round(cost[0], 6), "input_without_engine": round(cost[1], 6), "per_million": price_as_json(price)}


def dollars(amount: float) -> str:
    """An amount with as many places as it takes to tell it from nothing."""
    return f"${amount:,.2f}" if amount >= 1 or round(amount, 2) == amount else f"${amount:.4g}"


def _sum(price: Price, tokens: Iterable[int]) -> float:
    return sum(price.of_input(count) or 0.0 for count in tokens)
