"""What every command knows: the global options."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from host.home import default_home


@dataclass(frozen=True)
class Globals:
    """The options before the command; ``click.pass_obj`` hands them over."""

    config_file: Path | None = None
    home: Path = field(default_factory=default_home)
    verbose: bool = False
    color: bool = True
