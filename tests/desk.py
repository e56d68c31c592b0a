"""A store with one conversation in it, for tests."""

from __future__ import annotations

from typing import Any

from host.conversation.conversation import Conversation
from host.conversation.shelf import Shelf
from host.engine.contract import ContextEngine
from host.messages.types import Message
from host.store.protocols import Archive, Store
from host.store.values import Session
from host.testing.engines import services
from host.testing.messages import system, tool_session
from tests.engines_for_tests import compressor

WINDOW = 8_000


class Faulty:
    """An archive that raises what it is told to, where it is written."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.error: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archive, name)

    def append(self, message: Message, **keywords: Any) -> int:
        if self.error is not None:
            raise self.error
        return self._archive.append(message, **keywords)


class Desk:
    """A store with one conversation in it, and what was said about it."""

    def __init__(self, store: Store, **settings: object) -> None:
        self.store = store
        self.warnings: list[str] = []
        self.kept: Session = store.sessions.create(title="work", settings=dict(settings))

    def shelf(self, *, in_place: bool = False) -> Shelf:
        return Shelf.of(self.store, self.kept.conversation, "compressor", in_place=in_place)

    def open(self, engine: ContextEngine | None = None, shelf: Shelf | None = None, **more: Any) -> Conversation:
        engine = engine or compressor(WINDOW)
        given = getattr(engine, "services", None) or services(WINDOW)
        shelf = shelf or self.shelf()
        shelf.state.belong_to(engine.name)
        return Conversation(engine, given, shelf, warn=self.warnings.append, **more)


def fed(conversation: Conversation, messages: list[Message]) -> Conversation:
    for message in messages:
        conversation.add(message)
    return conversation


def long_session(n: int = 120, seed: int = 3) -> list[Message]:
    return [system("You are an agent."), *tool_session(n, seed=seed)]
