"""The host's own tools: the agent finds again what left its window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from host.loop.toolbox import HOST, Owned
from host.recall.boundary import Boundary
from host.recall.recall import TOOLS, Recall
from host.store.protocols import Store

INDEX_SECONDS = 0.2  # what a search may spend on indexing before it begins


@dataclass(frozen=True)
class RecallTool:
    """One of the recall tools (protocol ``host.engine.offers.Tool``)."""

    name: str
    recall: Recall

    @property
    def schema(self) -> Mapping[str, Any]:
        """What the model is shown."""
        return TOOLS[self.name].schema(self.name)

    def call(self, arguments: Mapping[str, Any]) -> str:
        """The answer as JSON text, an error too."""
        return self.recall.call(self.name, dict(arguments)).text


def recall_tools(store: Store, conversation: str, *, everything: bool, count: Callable[[str], int]) -> list[Owned]:
    """The recall tools for an agent: they search its own conversation, and with ``everything`` the others when it asks for them.

    They yield to an engine's or a plugin's of the same name.
    """

    def catch_up() -> tuple[str, ...]:
        store.search.catch_up(seconds=INDEX_SECONDS)
        return ()

    recall = Recall(store, Boundary(conversation=conversation, everything=everything), count=count, catch_up=catch_up)
    return [Owned(HOST, RecallTool(name, recall), yields=True) for name in TOOLS]
