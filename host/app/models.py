"""The main model as this configuration has it: its window, where that is known from, what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from host.config import Loaded
    from host.provider.prices import Price


@dataclass(frozen=True)
class Model:
    """The main model. ``source`` says where its window comes from, ``price`` is None where nobody knows it."""

    name: str
    window: int
    source: str
    window_is_guessed: bool = False
    price: Price | None = None


def main_model(
    loaded: Loaded,
    window: int | None = None,
    recorded: str | None = None,
    recorded_window: int | None = None,
    *,
    home: Path | None = None,
) -> Model:
    """The model and its window: as asked, as configured, as its service stated it, as known by name, as recorded, else a guess.

    ``home`` is where it was remembered what services stated, None not to look there.
    """
    from host.provider.facts import ModelInfo, facts_of
    from host.provider.learnt_windows import learnt_window

    section = loaded.config.model
    name = section.name or recorded or ""
    learnt = learnt_window(home, section.name, section.base_url) if home is not None and section.context_length is None else None
    own = facts_of(name, section.provider, base_url=section.base_url, context_length=section.context_length, price=configured_price(loaded))
    if recorded and not section.name and not own.window_is_guessed and section.context_length is None:
        own = replace(own, source=f"{own.source}, the recorded model")
    tries = [
        ModelInfo(window, source="as asked") if window else None,
        ModelInfo(learnt, source="as the service stated") if learnt else None,
        own if section.name or section.context_length else None,
        ModelInfo(recorded_window, source="as recorded") if recorded_window else None,
        own,
    ]
    found = next((known for known in tries if known is not None and not known.window_is_guessed), own)
    return Model(name, found.window, found.source, found.window_is_guessed, own.price)


def configured_price(loaded: Loaded) -> Price | None:
    """What the user says that the model costs, None where they say nothing."""
    from host.provider.prices import Price

    price = loaded.config.model.price
    return Price(price.input, price.output) if price.input is not None or price.output is not None else None
