"""What the user should know once, at the start of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from host.app.models import Model
from host.app.summaries import Endpoint, summary_endpoints

if TYPE_CHECKING:
    from host.config import Loaded
    from host.discovery import Resolution
    from host.engine.services import Services

SMALL_WINDOW = 16_000  # tokens; below this a compaction has little to give


def notices_of(loaded: Loaded, model: Model, resolution: Resolution, services: Services) -> list[str]:
    """One line each, not alarming."""
    found = [
        *resolution.notices,
        *_of_window(model),
        *_of_autoraise(loaded),
        *_of_summaries(summary_endpoints(loaded), services, model),
        *_of_small_models(resolution, services),
        "" if loaded.config.compression.enabled else "compression.enabled is false: nothing is compacted by itself",
    ]
    return [notice for notice in found if notice]


def _of_window(model: Model) -> list[str]:
    guessed = f"the window of {model.name or 'the model'} is taken for {model.window:,} tokens: {model.source}"
    small = f"a window of {model.window:,} tokens is small: compactions will be frequent and summaries short"
    return [guessed if model.window_is_guessed else "", small if model.window < SMALL_WINDOW else ""]


def _of_autoraise(loaded: Loaded) -> list[str]:
    """Where a model's conversation is compacted later than configured because its window is cut."""
    from host.config.shares import starting_share
    from host.provider.facts import window_of

    share, model = starting_share(loaded.config), loaded.config.model
    if not share.raised or not loaded.config.compression.codex_gpt55_autoraise_notice:
        return []
    cut = window_of(model.name, model.provider) or 0
    return [
        f"{share.model} is compacted at {share.share:.0%} of its window in place of {share.configured:.0%}, because Codex cuts it to "
        f"{cut:,} tokens; `ctxhost config set compression.codex_gpt55_autoraise false` turns this off"
    ]


def _of_small_models(resolution: Resolution, services: Services) -> list[str]:
    """Summary models that cannot take everything at once; asked of the built-in alone, another engine may need less."""
    from host.compressor.compressor import Compressor
    from host.compressor.feasibility import small_models

    engine = resolution.engine
    return list(small_models(services.summary_models, engine.threshold_tokens)) if isinstance(engine, Compressor) else []


def _of_summaries(endpoints: list[Endpoint], services: Services, main: Model) -> list[str]:
    """Who writes summaries. A configured model that cannot be asked is named, because another one may cost more."""
    wanted = endpoints[0]
    asked = next((endpoint for endpoint in endpoints if not endpoint.missing), None)
    if asked is None or services.ask is None:
        return [f"summaries are made from the text itself: {wanted.missing}"]
    unable = f"{wanted.model} cannot be asked for summaries: {wanted.missing}" if asked is not wanted else ""
    others = [model for model in services.summary_models if model.window_is_guessed and model.name != main.name]
    guessed = [f"{model.name} ({model.window:,})" for model in others]
    window = f"windows of summary models are guessed: {', '.join(guessed)}; set auxiliary.compression.context_length" if guessed else ""
    return [unable, f"summaries are asked of {asked.model} at {asked.address}", window]
