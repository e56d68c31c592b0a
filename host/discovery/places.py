"""Where engines are looked for: the folders, the names that the user listed, and the installed distributions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import host
from host.engine.contract import EngineFactory
from host.hookspecs import PROJECT

BUILT_IN = "compressor"
"""The engine that is used unless the user names another; no plugin can take its name."""


PATHS_SOURCE = "plugins.paths"


class EntryPoint(Protocol):
    """What is read of an ``importlib.metadata.EntryPoint``; its name is the engine's name."""

    @property
    def name(self) -> str:
        """The engine's name."""

    @property
    def value(self) -> str:
        """``module`` or ``module:object``."""

    @property
    def dist(self) -> Any:
        """The distribution that declares it."""

    def load(self) -> Any:
        """Import the plugin."""


def installed_entry_points() -> list[EntryPoint]:
    """The entry points of group ``ctxhost`` in this environment; nothing of them is imported."""
    from importlib.metadata import distributions

    found: dict[tuple[str, str], EntryPoint] = {}
    for distribution in distributions():
        try:
            ours = [entry for entry in distribution.entry_points if entry.group == PROJECT]
            for entry in ours:  # the first of a name on sys.path is the one that an import would find
                found.setdefault((distribution.name, entry.name), entry)
        except Exception:  # noqa: BLE001 the plugin door: metadata that nobody can read belongs to no engine
            continue
    return list(found.values())


def bundled_engines() -> Path | None:
    """The folder of the engines that ship with ctxhost: in the wheel, else in the checkout."""
    package = Path(host.__file__).parent
    shipped, checkout = package / "_bundled" / "plugins", package.parent
    if shipped.is_dir():
        return shipped / "context_engine"
    # a top-level `plugins` beside an installed package belongs to another product
    return checkout / "plugins" / "context_engine" if (checkout / "pyproject.toml").is_file() else None


@dataclass(frozen=True)
class Places:
    """All that finding an engine depends on. Folders hold one folder per engine, named like it."""

    built_ins: Mapping[str, EngineFactory]
    configured: str = BUILT_IN  # what `context.engine` says
    bundled: Path | None = None
    home: Path | None = None
    paths: tuple[Path, ...] = ()  # `plugins.paths`
    project: Path | None = None  # only if the project is trusted
    untrusted: Path | None = None  # named in messages, never looked into
    enabled: frozenset[str] = frozenset()  # plugins, or distributions, that are imported whatever engine is named
    disabled: frozenset[str] = frozenset()
    entry_points: Callable[[], Iterable[EntryPoint]] = installed_entry_points
    registered: Mapping[str, object] = field(default_factory=dict)  # plugins handed over in this process, by a label

    def folders(self) -> list[tuple[str, Path]]:
        """The search folders in their order, each with what it is called in a listing."""
        listed = [("bundled", self.bundled), ("home", self.home), *((PATHS_SOURCE, p) for p in self.paths), ("project", self.project)]
        return [(source, folder) for source, folder in listed if folder is not None]

    def disables(self, name: str, owner: str) -> bool:
        """Whether ``plugins.disabled`` holds a plugin's name or that of its distribution."""
        return _lists(self.disabled, name, owner)

    def imports(self, name: str, owner: str) -> bool:
        """Whether ``plugins.enabled`` has a plugin imported although another engine is wanted."""
        return _lists(self.enabled, name, owner) and not self.disables(name, owner)


def _lists(listed: Iterable[str], name: str, owner: str) -> bool:
    return any(entry == name or _canonical(entry) == _canonical(owner) for entry in listed)


def _canonical(distribution: str) -> str:
    """Distributions are the same whatever their case and separators, as package indexes have it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
