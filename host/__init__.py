"""ctxhost: a plugin host for the context of LLM agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from host.app.host import Host

__version__ = "0.1.0"
__all__ = ["Host"]


def __getattr__(name: str) -> object:
    if name == "Host":  # imported when it is asked for: the command line starts without it
        from host.app.host import Host

        return Host
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
