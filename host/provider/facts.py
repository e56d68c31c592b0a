"""What is known of a model without asking anybody: the size of its window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

DEFAULT_WINDOW = 128_000
"""Tokens assumed for a model that nobody knows (hermes.md 4.7 assumes 256,000; too small only compacts early)."""

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


@lru_cache(maxsize=256)
def window_of(model: str, provider: str = "") -> int | None:
    """How many tokens the model's window holds, None where nobody knows; never touches the network.

    Names may carry vendors ("openrouter/anthropic/claude-sonnet-4.5"), dates and tags (":free").
    """
    name, vendor = model.strip().lower(), provider.strip().lower()
    if not name:
        return None
    if vendor == CODEX or name.startswith(f"{CODEX}/"):
        return next(window for part, window in CODEX_WINDOWS.items() if part in name)
    return _listed_window(name, vendor) or _family_window(name)


def _listed_window(name: str, vendor: str) -> int | None:
    """The window in the price list that genai-prices carries with it."""
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    for seller, reference in _spellings(name, vendor):
        try:
            _, model = snapshot.find_provider_model(reference, None, seller, None)
        except LookupError:
            continue
        if model.context_window:
            return model.context_window
    return None


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


def _family_window(name: str) -> int | None:
    hyphened = name.replace(".", "-")
    fitting = [part for part in FAMILIES if part in hyphened]
    return FAMILIES[max(fitting, key=len)] if fitting else None
