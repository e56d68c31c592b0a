"""What every command knows: the global options."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


def default_home() -> Path:
    """The folder for the configuration and the archive, where --home and CTXHOST_HOME name no other."""
    from platformdirs import user_config_path

    return user_config_path("ctxhost")


@dataclass(frozen=True)
class Globals:
    """The options before the command; ``click.pass_obj`` hands them over."""

    config_file: Path | None = None
    home: Path = field(default_factory=default_home)
    verbose: bool = False
    color: bool = True
