"""What plugins offer besides engines: tools for the agent, commands for the user, a memory for the system prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Place:
    """Where an agent works: its ``workspace``, and a ``folder`` in which a plugin may keep what it wants to find again."""

    workspace: Path
    folder: Path


class Tool(Protocol):
    """Something that the agent may call."""

    @property
    def name(self) -> str:
        """Its name, the same as in the schema."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The function schema: name, description, parameters as JSON schema."""

    def call(self, arguments: Mapping[str, Any]) -> str:
        """The result as text. What it raises becomes a result that says so."""


class Command(Protocol):
    """Something that the user may type in a chat, as ``/name words``."""

    @property
    def name(self) -> str:
        """The word after the slash."""

    @property
    def summary(self) -> str:
        """One line for ``/help``."""

    def run(self, words: str) -> str:
        """What is shown; ``words`` is what stands behind the name."""


class Memory(Protocol):
    """Something that is remembered from session to session."""

    @property
    def name(self) -> str:
        """What it is called in the system prompt and in messages about it."""

    def block(self) -> str:
        """What goes into the system prompt of a session that starts now; blank for nothing."""


@dataclass(frozen=True)
class SessionCompress:
    """The event ``session:compress``: a compaction was published. ``old_session`` is empty where the session goes on in place."""

    platform: str
    session: str
    old_session: str
    in_place: bool
    count: int  # compactions of this conversation so far
