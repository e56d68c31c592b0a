"""Agents in a store of their own, with a model that speaks its script word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from host.conversation.conversation import Conversation
from host.engine.services import ModelFacts
from host.loop.agent import Agent
from host.loop.events import Event
from host.loop.models import AgentModel, Models
from host.loop.toolbox import Owned, Toolbox
from host.messages.reading import text_of
from host.messages.types import Message, Reply, ToolSchema
from host.provider.provider import Delta, OnDelta
from host.provider.scripted import Scripted, ScriptedProvider
from host.store.memory import MemoryStore
from host.store.protocols import Store
from host.testing.messages import assistant, call
from tests.desk import Desk

WINDOW = 8_000


class Speaking(ScriptedProvider):
    """Gives its replies in order; where somebody listens, word by word."""

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        reply = super().ask(messages, tools=tools, max_tokens=max_tokens, timeout=timeout)
        if on_delta is not None:
            for word in text_of(reply.message).split(" "):
                on_delta(Delta(text=f"{word} "))
        return reply


@dataclass
class Echo:
    """A tool that gives back its words; ``behave`` is called first."""

    name: str = "echo"
    behave: Callable[[Mapping[str, Any]], object] = lambda arguments: arguments.get("words", "")
    required: tuple[str, ...] = ()
    calls: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def schema(self) -> Mapping[str, Any]:
        properties = {"words": {"type": "string"}}
        parameters = {"type": "object", "properties": properties, "required": list(self.required)}
        return {"name": self.name, "description": "Say it back.", "parameters": parameters}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        self.calls.append(arguments)
        return self.behave(arguments)


def plugin(tool: Any, owner: str = "plugin test", timeout: float = 20.0) -> Owned:
    return Owned(owner, tool, timeout)


class Bench:
    """A conversation, a tool, and what was told; ``agent`` makes one with these replies."""

    def __init__(self, store: Store | None = None) -> None:
        self.desk = Desk(store or MemoryStore())
        self.events: list[Event] = []
        self.echo = Echo()
        self.conversation: Conversation = self.desk.open()
        self.main = Speaking([])
        self.spares: list[Speaking] = []

    def agent(self, replies: Iterable[Scripted], *spares: Iterable[Scripted], **more: Any) -> Agent:
        self.main, self.spares = Speaking(replies), [Speaking(each) for each in spares]
        models = [AgentModel(f"model {n}", each, ModelFacts(f"model {n}", WINDOW - n)) for n, each in enumerate([self.main, *self.spares])]
        tools = more.pop("tools", None) or [plugin(self.echo)]
        more.setdefault("tell", self.events.append)
        return Agent(self.conversation, Models(*models), Toolbox(self.conversation, tools, warn=self.desk.warnings.append), **more)

    def archived(self) -> list[Message]:
        return [row.message for row in self.conversation.archive.rows() if row.message is not None]

    def roles(self) -> list[str]:
        return [message["role"] for message in self.archived()]

    def told(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def calling(*words: str, text: str | None = None, tool: str = "echo") -> Message:
    """A reply that calls the tool once for each of the words."""
    return assistant(text, [call(f"c-{each}", tool, {"words": each}) for each in words])
