"""What an engine is made with in a test: services in memory, no model, no files."""

from __future__ import annotations

from typing import Any

from host.engine.services import Ask, ModelFacts, Services, Thresholds
from host.store.memory import MemoryArchive, MemoryState
from host.tokens import Estimator


def services(window: int = 8_000, *, ask: Ask | None = None, count: Any = None, settings: Any = None, **thresholds: Any) -> Services:
    """Services for one engine; ``thresholds`` are the fields of ``Thresholds``, ``count`` a counter of your own."""
    return Services(
        settings=settings,
        facts=ModelFacts("test-model", window),
        count=count or Estimator(),
        archive=MemoryArchive(),
        state=MemoryState(),
        ask=ask,
        thresholds=Thresholds(**thresholds),
    )
