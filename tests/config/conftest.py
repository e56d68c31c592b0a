"""A home folder and a project folder, and a short way to load from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from host.config import Loaded, load
from host.errors import ConfigError


@dataclass(frozen=True)
class Desk:
    """Where a user sits: their home folder, the current folder, their environment."""

    home: Path
    project: Path
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, text: str | bytes, *, project: bool = False) -> Path:
        path = (self.project if project else self.home) / "config.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def load(self, config_file: Path | None = None) -> Loaded:
        return load(config_file=config_file, home=self.home, cwd=self.project, environ=self.environ)

    def problems(self, config_file: Path | None = None) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            self.load(config_file)
        return [str(problem).replace(f"{self.home}/", "").replace(f"{self.project}/", "./") for problem in caught.value.problems]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Desk(tmp_path / "home", tmp_path / "project")


@pytest.fixture
def plugin(desk: Desk) -> Callable[[str, str], Path]:
    """Put a file into the project's folder of engines."""

    def put(name: str, text: str) -> Path:
        path = desk.project / "plugins" / "context_engine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return put
