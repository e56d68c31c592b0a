"""From the name in ``context.engine`` to an engine that works."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from weakref import WeakValueDictionary

from host.discovery.claims import BUILT_IN_SOURCE, ENTRY_POINT_SOURCE, HANDED_OVER, Claim
from host.discovery.doors import all_claims, looked_in
from host.discovery.foreign import Unusable, foreign
from host.discovery.loading import INIT
from host.discovery.names import check_name, nearest_name, printable
from host.discovery.offers import API_VERSION, check_api
from host.discovery.places import BUILT_IN, Places
from host.engine.contract import ContextEngine, EngineFactory
from host.errors import EngineNotFound, EngineNotLoadable, PluginError, UnsafeName

Make = Callable[[EngineFactory], ContextEngine]
"""Makes the engine: the composition root gives the factory the services of one agent."""

OnTrouble = Literal["fallback", "error"]

REQUIRED = ("name", "update_from_response", "should_compress", "compress")


@dataclass(frozen=True)
class Resolution:
    """The engine of one agent, and how it was come by."""

    engine: ContextEngine
    requested: str
    used: str
    source: str
    reason: str | None = None  # why another than the requested one is used
    warnings: tuple[str, ...] = ()  # for the user to see
    notices: tuple[str, ...] = ()  # for the log
    error: PluginError | None = None  # what ``reason`` tells, with its traceback

    def as_json(self) -> dict[str, str | None]:
        """The facts for ``--json`` and the status."""
        return {"engine_requested": self.requested, "engine_used": self.used, "engine_source": self.source, "reason": self.reason}


def resolve(
    name: str,
    places: Places,
    make: Make,
    *,
    on_missing: OnTrouble = "fallback",
    on_error: OnTrouble = "fallback",
) -> Resolution:
    """Find, load and make the engine of this name; each call makes a new one.

    Where that fails the built-in compressor takes its place with one warning. With ``on_missing="error"`` a name that nobody
    knows, or that is not allowed, raises EngineNotFound or UnsafeName; with ``on_error="error"`` an engine that cannot be used
    raises EngineNotLoadable. Settings of the engine that have no meaning raise ConfigError in any case.
    """
    requested = name or BUILT_IN
    if requested == BUILT_IN:
        return Resolution(make(places.built_ins[BUILT_IN]), requested, BUILT_IN, BUILT_IN_SOURCE)
    try:
        return _found(check_name(requested), places, make)
    except PluginError as error:
        if (on_error if isinstance(error, EngineNotLoadable) else on_missing) == "error":
            raise
        return _fallback(requested, places, make, error)


def _found(name: str, places: Places, make: Make) -> Resolution:
    claims = all_claims(places, wanted=name)
    mute = _mute(claims, name, places)
    mine = [claim for claim in claims if claim.name == name]
    if not mine:
        raise EngineNotFound(name, [*looked_in(places), *_misplaced(name, places), *mute], nearest_name(name, _usable_names(claims)))
    standing = [claim for claim in mine if claim.passed_over is None]
    if not standing:
        raise _not_loadable(mine[0], [], claims, str(mine[0].passed_over))
    first, *rivals = standing
    try:
        engine = _made(first, make)
    except Unusable as error:
        raise _not_loadable(first, rivals, claims, str(error)) from error
    return Resolution(engine, name, name, first.label, warnings=_rivalry(first, rivals), notices=(*mute, *_notices(engine, name)))


def _fallback(requested: str, places: Places, make: Make, error: PluginError) -> Resolution:
    looked = "; it was not looked for" if isinstance(error, UnsafeName) else ""
    warning = f"{error.what}{looked}; the built-in {BUILT_IN} is used instead"
    engine = make(places.built_ins[BUILT_IN])
    return Resolution(engine, requested, BUILT_IN, BUILT_IN_SOURCE, reason=error.what, warnings=(warning,), error=error)


def _made(claim: Claim, make: Make) -> ContextEngine:
    factory = claim.factory()
    with foreign("its construction"):
        engine = make(factory)
    _check_engine(engine, claim.name)
    return _handed_out.once(engine)


def _check_engine(engine: object, name: str) -> None:
    """Unusable unless this is an engine of that name, for a version of the contract that the host speaks."""
    if not isinstance(engine, ContextEngine):
        with foreign("reading its attributes"):
            lacks = ", ".join(part for part in REQUIRED if not hasattr(engine, part))
        raise Unusable(f"what it made is a {type(engine).__name__}, no ContextEngine" + (f": it lacks {lacks}" if lacks else ""))
    with foreign("its attribute name"):
        own = engine.name
        other = "" if own == name else printable(repr(own))
    if other:
        raise Unusable(f"the name of the engine in it is {other}, not {name!r}; both must be the same")
    check_api(engine)


class _HandedOut:
    """The engines in use: one belongs to one agent, two agents with the same object would share its counters and state."""

    def __init__(self) -> None:
        self._engines: WeakValueDictionary[int, ContextEngine] = WeakValueDictionary()
        self._lock = threading.Lock()

    def once(self, engine: ContextEngine) -> ContextEngine:
        """Give the engine back, or raise Unusable if another agent has it."""
        with self._lock:
            if self._engines.get(id(engine)) is engine:
                raise Unusable("it hands over the object that another agent has; make a new engine each time")
            self._engines[id(engine)] = engine
        return engine


_handed_out = _HandedOut()


def _notices(engine: ContextEngine, name: str) -> tuple[str, ...]:
    if check_api(engine):
        return ()
    return (f"engine {name!r} does not say for which version of the contract it is written (api); {API_VERSION} is assumed",)


def _not_loadable(claim: Claim, rivals: Sequence[Claim], claims: Sequence[Claim], cause: str) -> EngineNotLoadable:
    near = nearest_name(claim.name, _usable_names(claims))
    also = f"; {_listed(rivals)} has one of this name too, but the first decides" if rivals else ""
    return EngineNotLoadable(claim.name, claim.label, cause + also + (f"; did you mean {near!r}?" if near else ""))


def _rivalry(first: Claim, rivals: Sequence[Claim]) -> tuple[str, ...]:
    return (f"engine {first.name!r} is there more than once: {first.label} is used, {_listed(rivals)} is not",) if rivals else ()


def _listed(claims: Sequence[Claim]) -> str:
    return " and ".join(claim.label for claim in claims)


def _usable_names(claims: Sequence[Claim]) -> set[str]:
    return {claim.name for claim in claims if claim.passed_over is None}


def _mute(claims: Sequence[Claim], name: str, places: Places) -> tuple[str, ...]:
    """Plugins that should have been asked for the engine, and failed."""
    asked = [c for c in claims if c.source == HANDED_OVER or (c.source == ENTRY_POINT_SOURCE and places.imports(c.name, c.owner))]
    return tuple(f"{c.label} does not work: {c.passed_over}" for c in asked if c.passed_over and c.name != name)


def _misplaced(name: str, places: Places) -> list[str]:
    """A plugin one folder too high, where the reference keeps plugins of other kinds."""
    searched = [folder for _, folder in places.folders() if folder.name == "context_engine"]
    found = [(folder.parent / name, folder) for folder in searched if os.path.isfile(folder.parent / name / INIT)]  # noqa: PTH113 never raises
    return [f"there is a {plugin}, but engines belong in {folder}" for plugin, folder in found]
