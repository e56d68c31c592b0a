"""Who claims to have an engine: folders, entry points, plugins handed over, and the host itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from host.discovery.foreign import Unusable, foreign
from host.discovery.loading import INIT, load_directory
from host.discovery.names import printable
from host.discovery.offers import Offers, chosen, offered
from host.discovery.places import PATHS_SOURCE, EntryPoint, Places
from host.engine.contract import EngineFactory

BUILT_IN_SOURCE = "built-in"
ENTRY_POINT_SOURCE = "entry point"
HANDED_OVER = "in process"


@dataclass(frozen=True)
class Claim:
    """One plugin that says it has the engine of this name. ``factory`` imports it, if nothing else has."""

    name: str
    source: str  # "home", "entry point", "built-in", ...
    owner: str  # the folder, or the distribution
    factory: Callable[[], EngineFactory]
    path: Path | None = None  # of a directory plugin
    target: str = ""  # of an entry point: "module:object"
    passed_over: str | None = None  # why it does not count, and leaves the name to the next one

    @property
    def label(self) -> str:
        """What a message calls it."""
        place = self.source if self.source == self.owner else f"{self.source} {self.owner}"
        return f"{place} ({self.target})" if self.target else place


def directory_claims(places: Places, wanted: str | None) -> Iterator[Claim]:
    """The folders in the search folders; one that is reached twice counts once."""
    seen: set[str] = set()
    for source, search in places.folders():
        for path in _candidates(source, search):
            real = os.path.realpath(path)
            if real not in seen:
                seen.add(real)
                yield Claim(path.name, source, printable(str(path)), _in_folder(path), path=path, passed_over=_no_plugin(path))


def registered_claims(places: Places, wanted: str | None) -> Iterator[Claim]:
    """Entry points and plugins handed over in this process, by distribution (or label), then by name.

    An entry point claims the engine of its own name. Once a name is wanted, the plugins of ``plugins.enabled`` are imported and
    asked for it too; one that fails to answer is a claim on its own name, passed over.
    """
    claims = [*_entry_point_claims(places, wanted), *_handed_over_claims(places)]
    yield from sorted(claims, key=lambda claim: (claim.owner, claim.target, claim.name))


def built_in_claims(places: Places, wanted: str | None) -> Iterator[Claim]:
    """The factories that the host brings along."""
    for name, factory in places.built_ins.items():
        yield Claim(name, BUILT_IN_SOURCE, BUILT_IN_SOURCE, _offer_of({name: factory}, name))


def distribution_of(entry: EntryPoint) -> str:
    """The name of the distribution that declares an entry point."""
    name = getattr(entry.dist, "name", None)
    return name if isinstance(name, str) else "of an unknown distribution"


def _candidates(source: str, search: Path) -> list[Path]:
    """What could be meant as an engine. A path of ``plugins.paths`` may be the engine's own folder."""
    try:
        if source == PATHS_SOURCE and (search / INIT).is_file():
            return [search]
        return [child for child in sorted(search.iterdir()) if _is_meant(child)]
    except OSError:
        return []  # a search folder that is not there, or is closed to us, holds nothing


def _is_meant(child: Path) -> bool:
    return child.name[0] not in "._" and (child.suffix == ".py" or not child.is_file())


def _no_plugin(path: Path) -> str | None:
    try:
        if path.is_dir():
            return None if (path / INIT).is_file() else f"there is no {INIT} in it"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return f"it is a file; an engine is a folder with {INIT} in it" if path.is_file() else "it is a link that leads nowhere"


def _in_folder(path: Path) -> Callable[[], EngineFactory]:
    return lambda: chosen(offered(load_directory(path), path.name), path.name)


def _behind(entry: EntryPoint) -> Callable[[], EngineFactory]:
    return lambda: chosen(_offers_behind(entry, entry.name), entry.name)


def _offer_of(offers: Offers, name: str) -> Callable[[], EngineFactory]:
    return lambda: chosen(offers, name)


def _offers_behind(entry: EntryPoint, assumed: str | None) -> Offers:
    with foreign("its import"):
        plugin = entry.load()
    return offered(plugin, assumed)


def _entry_point_claims(places: Places, wanted: str | None) -> Iterator[Claim]:
    for entry in places.entry_points():
        owner = distribution_of(entry)
        claim = Claim(entry.name, ENTRY_POINT_SOURCE, owner, _behind(entry), target=entry.value)
        if wanted is None or wanted == entry.name or not places.imports(entry.name, owner):
            yield claim
        else:
            yield from _asked(claim, entry)


def _asked(claim: Claim, entry: EntryPoint) -> Iterator[Claim]:
    """Import a plugin that the user enabled, to hear which engines it has beside the one it is named after."""
    try:
        offers = _offers_behind(entry, None)
    except Unusable as error:
        yield replace(claim, passed_over=str(error))
    else:
        yield from (replace(claim, name=name, factory=_offer_of(offers, name)) for name in offers)


def _handed_over_claims(places: Places) -> Iterator[Claim]:
    for label, plugin in places.registered.items():
        try:
            offers = offered(plugin, label)
        except Unusable as error:
            yield Claim(label, HANDED_OVER, label, _offer_of({}, label), passed_over=str(error))
        else:
            yield from (Claim(name, HANDED_OVER, label, _offer_of(offers, name)) for name in offers)
