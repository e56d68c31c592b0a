"""Every hook that a plugin may implement: its signature and what it is for, nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

from host.engine.contract import EngineFactory
from host.engine.offers import Command, Memory, Place, SessionCompress, Tool
from host.messages.types import Message

PROJECT = "ctxhost"
"""Project name of the hooks, and the entry-point group in which a distribution offers its plugins."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def ctxhost_engines() -> dict[str, EngineFactory]:
    """Offer engines: each name with the class, or the function, that makes the engine.

    The host calls the one that ``context.engine`` names, once per agent, with ``Services`` of that agent's own.
    The name is the same as the engine's attribute ``name``.
    """
    raise NotImplementedError  # a specification is never called


@hookspec
def on_pre_compress(messages: Sequence[Message], session: str) -> str | None:
    """Say what the summary should know of messages that are about to leave the window; None, or a blank text, for nothing.

    Called before each compaction, and before the preview of one, in the plugins that ``plugins.enabled`` names. ``messages`` are
    copies, oldest first: what is written into them is seen by nobody. ``session`` is the id of the session, empty where nothing is
    kept. The texts of all plugins reach the summary model as source material, without secrets and cut to 6,000 characters. It is a
    good moment to store what a memory wants to keep; an error is told once, and the compaction goes on without that plugin's word.
    """
    raise NotImplementedError


@hookspec
def ctxhost_tools(place: Place) -> list[Tool]:
    """Offer tools to the agent that works at ``place``; ``toolset`` makes them of plain functions.

    Called once per agent. A tool that has no usable name or schema is left out, which is told.
    """
    raise NotImplementedError


@hookspec
def ctxhost_commands() -> list[Command]:
    """Offer commands to the user of a chat, as ``/name words``. The chat's own commands go first where a name is taken."""
    raise NotImplementedError


@hookspec
def ctxhost_memory(place: Place) -> Memory:
    """Offer a memory whose block goes into the system prompt. It is read once, when a conversation begins."""
    raise NotImplementedError


@hookspec
def on_session_switch(session: str, parent: str, reset: bool, reason: str) -> None:
    """Hear that the agent goes on in ``session``, for instance to keep notes apart.

    ``reason`` is "compression", "new" or "resume". After a compaction in place ``session`` is as before and ``parent`` empty.
    ``reset`` says that nothing of what was said before is in the window.
    """
    raise NotImplementedError


@hookspec
def on_session_compress(event: SessionCompress) -> None:
    """Hear that a compaction was published: the event ``session:compress``."""
    raise NotImplementedError
