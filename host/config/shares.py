"""At which share of its window a model's conversation is compacted: the configured one, or one that the model needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from host.config.models import Config


@dataclass(frozen=True)
class ModelShare:
    """A model that needs a share of its own (hermes.md 4.1)."""

    name: str  # pattern for the whole name, lower case, without the vendor
    share: float
    provider: str = ""  # empty: any
    only_raises: bool = True
    switch: bool = False  # only while compression.codex_gpt55_autoraise is on


MODEL_SHARES = (
    ModelShare(r"trinity-large-thinking", 0.75, only_raises=False),
    ModelShare(r"gpt-5\.3-codex-spark", 0.70, provider="openai-codex"),
    ModelShare(r"gpt-5\.[456]([-.].*)?", 0.85, provider="openai-codex", switch=True),
)


@dataclass(frozen=True)
class StartingShare:
    """The share in force, what decided it, and what was configured; ``raised``: by the switch that a user can turn off."""

    share: float
    because: str
    configured: float
    model: str = ""
    raised: bool = False


def model_share(name: str, provider: str, *, autoraise: bool) -> ModelShare | None:
    """What this model needs, None where it needs nothing of its own."""
    bare, seller = bare_name(name), provider.lower()
    fitting = (model for model in MODEL_SHARES if re.fullmatch(model.name, bare) and model.provider in {"", seller})
    return next((model for model in fitting if autoraise or not model.switch), None)


def resolved_share(configured: float, own: ModelShare | None, name: str = "") -> StartingShare:
    """The configured share, or the model's own where that may be used."""
    if own is None or (own.only_raises and own.share <= configured):
        return StartingShare(configured, "compression.threshold", configured)
    bare = bare_name(name)
    because = f"{bare} needs {own.share}" + (" (codex_gpt55_autoraise)" if own.switch else "")
    return StartingShare(own.share, because, configured, bare, raised=own.switch)


def starting_share(config: Config) -> StartingShare:
    """The share for the configured model."""
    model, wanted = config.model, config.compression
    return resolved_share(wanted.threshold, model_share(model.name, model.provider, autoraise=wanted.codex_gpt55_autoraise), model.name)


def bare_name(name: str) -> str:
    """A model's name in lower case, without its vendor."""
    return name.lower().rpartition("/")[2]
