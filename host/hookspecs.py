"""Every hook that a plugin may implement: its signature and what it is for, nothing else."""

from __future__ import annotations

import pluggy

from host.engine.contract import EngineFactory

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
