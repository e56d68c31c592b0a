"""Where ctxhost keeps its own files, and which configuration counts alone."""

from __future__ import annotations

import os
from pathlib import Path


def default_home() -> Path:
    """The folder for configuration and archive, where ``--home`` names no other: CTXHOST_HOME, else the system's place."""
    from platformdirs import user_config_path

    named = os.environ.get("CTXHOST_HOME")
    return Path(named) if named else user_config_path("ctxhost")


def named_config() -> Path | None:
    """The configuration file of CTXHOST_CONFIG, where ``--config`` names no other; None where neither does."""
    named = os.environ.get("CTXHOST_CONFIG")
    return Path(named) if named else None
