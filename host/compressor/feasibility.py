"""Whether the configured summary models can take what a compaction will give them (seed 4, hermes.md 8.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from host.engine.services import SummaryModel


def small_models(models: Iterable[SummaryModel], threshold: int) -> Iterator[str]:
    """A warning for each model whose window is smaller than what a compaction may have to summarise; nothing is lost by it."""
    for model in models:
        if 0 < model.window < threshold:
            guessed = " (a guess; auxiliary.compression.context_length sets it)" if model.window_is_guessed else ""
            yield (
                f"the summary model {model.name} has a window of {model.window:,} tokens{guessed}, and conversations are compacted at "
                f"{threshold:,}: what does not fit it is summarised in pieces. To have it done at once, set a model with a larger window "
                "as auxiliary.compression.model, or lower compression.threshold"
            )
