"""What is known of a model without asking anybody: the size of its window, and what its tokens cost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from host.provider.prices import Price

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo as Listed

DEFAULT_WINDOW = 128_000
"""Tokens assumed for a model that nobody knows (hermes.md 4.7 assumes 256,000; too small only compacts early)."""

GUESSED = "guessed; set model.context_length"
"""What is said of a window that nobody knows, wherever it is shown."""

CODEX = "openai-codex"
CODEX_WINDOWS = {"spark": 128_000, "": 272_000}
"""Codex cuts the windows of all its models (hermes.md 4.7): part of a name -> tokens, first match wins."""

FAMILIES = {
    "claude": 200_000,
    "claude-opus-4-6": 1_000_000,
    "claude-opus-4-7": 1_000_000,
    "claude-sonnet-4-6": 1_000_000,
    "gpt": 128_000,
    "gpt-5": 400_000,
    "gpt-5-4": 1_050_000,
    "gpt-5-5": 1_050_000,
    "gemini": 1_048_576,
    "qwen": 131_072,
    "deepseek": 128_000,
    "deepseek-chat": 1_000_000,
    "deepseek-v4": 1_000_000,
    "glm": 202_752,
    "kimi": 262_144,
    "llama": 131_072,
    "gemma": 8_192,
}
"""Part of a model's name, dots as hyphens -> tokens; the longest that fits wins (hermes.md 4.7)."""

DATED = re.compile(r"[-@]20\d\d-?[01]\d-?[0-3]\d(?=$|[-:])|:.*$")
"""A release date (-20250929, -2024-08-06, @20250929) and what follows a colon (:free, :0)."""


@dataclass(frozen=True)
class ModelInfo:
    """A model's window in tokens, where that is known from, and its price, None where nobody knows it."""

    window: int
    window_is_guessed: bool = False
    source: str = ""
    price: Price | None = None


def facts_of(
    model: str, provider: str = "", *, base_url: str = "", context_length: int | None = None, price: Price | None = None
) -> ModelInfo:
    """Window and price of a model; never touches the network. What the user configured wins over what is listed.

    At a ``base_url`` that the price list does not know the model may cost anything, so it has no price there.
    """
    if context_length is not None:
        window = ModelInfo(context_length, source="model.context_length")
    else:
        window = _known_window(model, provider) or ModelInfo(DEFAULT_WINDOW, window_is_guessed=True, source=GUESSED)
    return replace(window, price=_over(price, _listed_price(model, provider, base_url)))


def window_of(model: str, provider: str = "") -> int | None:
    """How many tokens the model's window holds, None where nobody knows; never touches the network.

    Names may carry vendors ("openrouter/anthropic/claude-sonnet-4.5"), dates and tags (":free").
    """
    known = _known_window(model, provider)
    return known.window if known else None


@lru_cache(maxsize=256)
def _known_window(model: str, provider: str) -> ModelInfo | None:
    """The window where it is listed, else that of the model's family."""
    name, vendor = _spelt(model, provider)
    if not name:
        return None
    if _is_codex(name, vendor):
        return ModelInfo(next(window for part, window in CODEX_WINDOWS.items() if part in name), source=f"of {model} at Codex")
    listed = next((found.context_window for found in _listings(name, vendor) if found.context_window), None)
    if listed:
        return ModelInfo(listed, source=f"of {model}")
    family = _family(name)
    return ModelInfo(FAMILIES[family], source=f"of the {family} family") if family else None


@lru_cache(maxsize=256)
def _listed_price(model: str, provider: str, base_url: str) -> Price | None:
    """What the list says of today; None for what is not paid by the token, or not listed."""
    name, vendor = _spelt(model, provider)
    if not name or _is_codex(name, vendor):
        return None
    now = datetime.now(UTC)
    asked = (Price.listed(found.get_prices(now)) for found in _listings(name, vendor, base_url))
    return next((price for price in asked if price is not None), None)


def _listings(name: str, vendor: str, base_url: str = "") -> Iterator[Listed]:
    """The model in the list that genai-prices carries with it, by every spelling; at an address, only what its owner sells."""
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    spellings = [*_spellings(name, vendor)]
    if base_url:
        spellings = [(None, reference) for _, reference in [(None, name), *spellings]]
    for seller, reference in spellings:
        try:
            _, found = snapshot.find_provider_model(reference, None, seller, base_url or None)
        except LookupError:
            continue
        yield found


def _spelt(model: str, provider: str) -> tuple[str, str]:
    return model.strip().lower(), provider.strip().lower()


def _is_codex(name: str, vendor: str) -> bool:
    return vendor == CODEX or name.startswith(f"{CODEX}/")


def _spellings(name: str, vendor: str) -> Iterator[tuple[str | None, str]]:
    """Seller and name to look for, the most telling first: as given, by each prefix, bare; then without its date."""
    plain = DATED.sub("", name)
    for spelling in dict.fromkeys((name, plain)):
        if vendor:
            yield vendor, spelling
        rest = spelling
        while "/" in rest:
            seller, _, rest = rest.partition("/")
            yield seller, rest
        yield None, rest


def _family(name: str) -> str | None:
    hyphened = name.replace(".", "-")
    return max((part for part in FAMILIES if part in hyphened), key=len, default=None)


def _over(configured: Price | None, listed: Price | None) -> Price | None:
    return configured.over(listed) if configured else listed
