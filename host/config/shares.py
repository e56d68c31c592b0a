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


def starting_share(config: Config) -> tuple[float, str]:
    """The share for the configured model, and what decided it."""
    configured = config.compression.threshold
    name = config.model.name.lower().rpartition("/")[2]
    for model in MODEL_SHARES:
        fits = re.fullmatch(model.name, name) and model.provider in {"", config.model.provider.lower()}
        applies = model.share > configured if model.only_raises else True
        if fits and applies and (config.compression.codex_gpt55_autoraise or not model.switch):
            return model.share, f"{name} needs {model.share}" + (" (codex_gpt55_autoraise)" if model.switch else "")
    return configured, "compression.threshold"
