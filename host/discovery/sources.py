"""Where the plugins of ``plugins.enabled`` come from: folders, entry points, and what was handed over in this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from host.discovery.claims import HANDED_OVER, distribution_of
from host.discovery.foreign import foreign
from host.discovery.loading import INIT, load_directory
from host.discovery.names import is_safe, printable
from host.discovery.places import Places

ENGINES = "context_engine"  # a search folder of this name lies in one for plugins of any kind

Load = Callable[[], object]


def sources(places: Places) -> list[tuple[str, Load]]:
    """Every plugin that the user named or handed over: what it is called in warnings, and how it is imported."""
    return [*_named(places), *_handed_over(places)]


def nobodys(places: Places) -> list[str]:
    """The names in ``plugins.enabled`` that no folder, no entry point and no distribution has: most are misspelt."""
    wanted = {name for name in places.enabled if not places.disables(name, name) and _folder_of(name, places) is None}
    for entry in places.entry_points() if wanted else ():
        owner = distribution_of(entry)
        wanted = {
            name for name in wanted if not replace(places, enabled=frozenset({name}), disabled=frozenset()).imports(entry.name, owner)
        }
    return sorted(wanted)


def _named(places: Places) -> Iterator[tuple[str, Load]]:
    """Directory plugins and entry points that the user listed, and did not disable; of one name the folder counts."""
    if not places.enabled:
        return
    folders = {name: folder for name in sorted(places.enabled) if (folder := _folder_of(name, places)) is not None}
    for name, folder in folders.items():
        yield f"{printable(name)} ({printable(str(folder))})", partial(load_directory, folder)
    for entry in places.entry_points():
        owner = distribution_of(entry)
        if places.imports(entry.name, owner) and entry.name not in folders:
            yield f"{printable(entry.name)} (entry point of {printable(owner)})", partial(_loaded, entry.load)


def _handed_over(places: Places) -> Iterator[tuple[str, Load]]:
    for label, plugin in places.registered.items():
        yield f"{printable(label)} ({HANDED_OVER})", partial(_itself, plugin)


def _folder_of(name: str, places: Places) -> Path | None:
    """The folder of a plugin, beside the engines or one above them, in the order of the search folders."""
    if not is_safe(name) or places.disables(name, name):
        return None
    searched = [search for _, folder in places.folders() for search in _with_parent(folder)]
    return next((search / name for search in searched if os.path.isfile(search / name / INIT)), None)  # noqa: PTH113 never raises


def _with_parent(folder: Path) -> list[Path]:
    return [folder, folder.parent] if folder.name == ENGINES else [folder]


def _itself(plugin: object) -> object:
    return plugin


def _loaded(load: Load) -> object:
    with foreign("its import"):
        return load()
