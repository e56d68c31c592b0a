"""A machine with plugins on it, in one folder: home, configuration file, distributions."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from host.app import make_engine, places_of
from host.config import load
from host.discovery import BUILT_IN, Places, Resolution, resolve
from tests.cases.watched import services

DEEP = ("a", "b", "c", "d", "e")  # folders above the home folder: a path with a few ".." stays below the world's own
TELLTALE = "from pathlib import Path\nPath(__file__).with_suffix('.imported').touch()\n"

_numbers = itertools.count()


@dataclass(frozen=True)
class Entry:
    """An entry point of a distribution that need not be installed (protocol EntryPoint)."""

    name: str
    owner: str
    target: Callable[[], object]
    value: str = "a_plugin"

    @property
    def dist(self) -> Any:
        return SimpleNamespace(name=self.owner)

    def load(self) -> Any:
        return self.target()


@dataclass
class World:
    """``config`` is what config.yaml holds; where a case gives none, ``default`` is the engine, if it is given."""

    root: Path
    config: Mapping[str, Any] | str | None = None
    default: str = ""
    entries: list[Entry] = field(default_factory=list)
    registered: dict[str, object] = field(default_factory=dict)
    enabled: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.config is None:
            self.config = {"context": {"engine": self.default}} if self.default else {}
        self.home.mkdir(parents=True)
        text = self.config if isinstance(self.config, str) else json.dumps(self.config)
        (self.home / "config.yaml").write_text(text, encoding="utf-8")

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.root.joinpath(*DEEP, "home")

    @property
    def engine(self) -> str:
        """The engine that the configuration names."""
        if isinstance(self.config, str):
            found = re.search(r"^\s+engine:\s*['\"]?([^'\"\s]+)", self.config, re.MULTILINE)
            return found[1] if found else BUILT_IN
        context = (self.config or {}).get("context") or {}
        return str(context.get("engine") or BUILT_IN)

    def plant(self, name: str, source: str) -> None:
        """Put a plugin where engines are looked for."""
        self.write(f"plugins/context_engine/{name}/__init__.py", source)

    def write(self, place: str, source: str) -> None:
        """Put a file somewhere below the home folder."""
        path = self.home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8", errors="surrogatepass")

    def entry_point(self, name: str, source: str, owner: str = "a-distribution") -> None:
        """Install a distribution with an entry point."""
        self.entries.append(Entry(name, owner, cache(lambda: module(source))))

    def offer(self, way: str, name: str, source: str) -> None:
        """Put a plugin at one of the doors."""
        doors: dict[str, Callable[[], None]] = {
            "directory": lambda: self.plant(name, source),
            "entry point": lambda: self.entry_point(name, source),
            "enabled entry point": lambda: self.entry_point("another-name", source),
            "handed over": lambda: self.registered.update({"a-label": module(source)}),
        }
        doors[way]()
        if way == "enabled entry point":
            self.enabled.add("another-name")

    def places(self) -> Places:
        """Where the product looks under this configuration; nothing of this machine's own."""
        loaded = load(config_file=None, home=self.home, cwd=self.home, environ={})
        found = places_of(loaded, self.home)
        return replace(
            found,
            bundled=None,
            entry_points=lambda: self.entries,
            registered=self.registered,
            enabled=found.enabled | self.enabled,
        )

    def start(self) -> Resolution:
        """Begin as an agent does: read the configuration, find and make its engine."""
        loaded = load(config_file=None, home=self.home, cwd=self.home, environ={})
        context = loaded.config.context
        return resolve(
            context.engine,
            self.places(),
            lambda factory: make_engine(factory, context.engine, loaded, services()),
            on_missing=context.on_missing,
            on_error=context.on_error,
        )

    def searched(self) -> list[str]:
        """The folders in which an engine could have been."""
        return [str(folder) for _, folder in self.places().folders()]

    def lie_in_wait(self) -> int:
        """A plugin that tells when it is imported, wherever the name leads as a path inside this world; gives how many there are."""
        name, root = self.engine.replace("\\", "/").replace("\0", ""), self.root.resolve()
        targets = {(folder / name).resolve() for folder in (self.home, self.root, *map(Path, self.searched()))}
        inside = [target for target in targets if target.is_relative_to(root) and not root.is_relative_to(target)]
        with suppress(OSError):  # a name that no file can have leads nowhere
            for target in inside:
                target.mkdir(parents=True, exist_ok=True)
                (target / "__init__.py").write_text(TELLTALE, encoding="utf-8")
                target.with_name(f"{target.name}.py").write_text(TELLTALE, encoding="utf-8")
        return len(inside)

    def caught(self) -> int:
        """How many of those were imported from outside the plugin folders."""
        inside = [Path(place).resolve() for place in self.searched()]
        told = [path for path in self.root.rglob("*.imported") if not any(path.parents[1] == folder for folder in inside)]
        return len(told)


def module(source: str) -> ModuleType:
    """A module of this source, imported anew."""
    made = ModuleType(f"a_plugin_{next(_numbers)}")
    made.__file__ = __file__
    sys.modules[made.__name__] = made
    try:
        exec(compile(source, f"<{made.__name__}>", "exec"), vars(made))
    finally:
        del sys.modules[made.__name__]
    return made
