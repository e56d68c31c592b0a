"""What every command knows: the global options."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from host.home import default_home


@dataclass(frozen=True)
class Globals:
    """The options before the command; ``click.pass_obj`` hands them over. ``typed`` are those that say where to look, as typed."""

    config_file: Path | None = None
    home: Path = field(default_factory=default_home)
    verbose: bool = False
    color: bool = True
    typed: tuple[str, ...] = ()

    def command(self, *words: str) -> str:
        """A command to type next, that looks where this one did."""
        return shlex.join(["ctxhost", *self.typed, *words])
