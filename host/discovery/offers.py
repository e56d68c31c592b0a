"""What a plugin offers: engine names with their factories, whichever of three forms it is written in."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, cast

from host.discovery.foreign import Unusable, foreign
from host.discovery.manager import admit, engines_of, hooks_of, plugin_manager
from host.discovery.names import printable
from host.engine.contract import ContextEngine, EngineFactory
from host.engine.services import Services

API_VERSION = 1
"""The newest version of the engine contract that this host speaks."""

Offers = Mapping[str, object]
"""Engine names with what should be their factories."""

Form = Callable[[object, str | None], Offers | None]
"""Reads a plugin; the name stands for an engine that does not tell its own before it is made. None: not this form."""


class RegisterContext:
    """What ``register(ctx)`` is given."""

    def __init__(self) -> None:
        self.engines: list[object] = []

    def register_context_engine(self, engine: object) -> None:
        """Offer an engine, ready made; it serves one agent, ``register`` is called again for the next."""
        self.engines.append(engine)


def from_hooks(plugin: object, assumed: str | None) -> Offers | None:
    """The hook ``ctxhost_engines``."""
    manager = plugin_manager()
    admit(manager, plugin)
    return engines_of(manager, plugin) if "ctxhost_engines" in hooks_of(manager, plugin) else None


def from_register(plugin: object, assumed: str | None) -> Offers | None:
    """The reference's ``register(ctx)``; one that registers no engine leaves the word to the next form."""
    register = None if isinstance(plugin, type) else getattr(plugin, "register", None)  # every abstract class has another `register`
    if not callable(register):
        return None
    context = RegisterContext()
    with foreign("its register(ctx)"):
        register(context)
    named = [(_own_name(engine) or assumed, engine) for engine in context.engines]
    return {name: _ready_made(engine) for name, engine in named if name} or None


def from_class(plugin: object, assumed: str | None) -> Offers | None:
    """The one subclass of ContextEngine that the module holds (or that an entry point names)."""
    classes = [plugin] if isinstance(plugin, type) else _engine_classes(plugin)
    meant = classes if len(classes) < 2 else [cls for cls in classes if _own_name(cls) == assumed]
    if classes and len(meant) != 1:
        names = ", ".join(sorted(cls.__name__ for cls in classes))
        raise Unusable(f"it holds {len(classes)} engine classes ({names}); offer them by the hook ctxhost_engines")
    return {name: cls for cls in meant if (name := _own_name(cls) or assumed)} or None


FORMS: tuple[Form, ...] = (from_hooks, from_register, from_class)
"""How a plugin can be written, in the order in which they are tried."""


def offered(plugin: object, assumed: str | None = None) -> Offers:
    """The engines of a plugin, from the first form that it is written in; Unusable if its code fails."""
    for form in FORMS:
        offers = form(plugin, assumed)
        if offers is not None:
            return offers
    return {}


def chosen(offers: Offers, name: str) -> EngineFactory:
    """The factory of one name out of what a plugin offers; Unusable if there is none, or if it could not make an engine."""
    if name in offers:
        return usable_factory(offers[name])
    if offers:
        raise Unusable(f"it offers {', '.join(map(repr, sorted(offers)))}, not {name!r}; both names must be the same")
    raise Unusable("no engine is in it: neither the hook ctxhost_engines, nor register(ctx), nor one subclass of ContextEngine")


def usable_factory(offer: object) -> EngineFactory:
    """An offer as EngineFactory, checked as far as that goes before an engine is made."""
    if not callable(offer):
        raise Unusable(f"it offers a {type(offer).__name__} where a class or a function that makes the engine is expected")
    if isinstance(offer, type) and (left := sorted(getattr(offer, "__abstractmethods__", ()))):
        raise Unusable(f"abstract methods are left in {offer.__name__}: {', '.join(left)}")
    check_api(offer)
    return _without_services(offer) if isinstance(offer, type) and not _takes_services(offer) else cast(EngineFactory, offer)


def check_api(subject: object) -> bool:
    """Whether an engine or its class says for which version of the contract it is written; Unusable if for a newer one."""
    with foreign("its attribute api"):
        api = getattr(subject, "api", None)
        shown = printable(repr(api))
    if api is None:
        return False
    if not isinstance(api, int) or isinstance(api, bool):
        raise Unusable(f"its attribute api is {shown}, not a whole number")
    if api > API_VERSION:
        raise Unusable(f"it is written for version {api} of the engine contract, this host speaks {API_VERSION}; update ctxhost")
    return True


def _engine_classes(plugin: object) -> list[type[Any]]:
    """Engine classes in a module, without the host's own and without those that another one builds on."""
    members = vars(plugin).values() if isinstance(plugin, ModuleType) else ()
    found = dict.fromkeys(cls for cls in members if isinstance(cls, type) and issubclass(cls, ContextEngine) and not _is_ours(cls))
    return [cls for cls in found if not any(other is not cls and issubclass(other, cls) for other in found)]


def _is_ours(cls: type[Any]) -> bool:
    return cls.__module__.partition(".")[0] == __name__.partition(".")[0]


def _own_name(subject: object) -> str | None:
    with foreign("its attribute name"):
        name = getattr(subject, "name", None)
    return name if isinstance(name, str) else None


def _ready_made(engine: object) -> EngineFactory:
    return lambda services: cast(ContextEngine, engine)


def _takes_services(cls: type[Any]) -> bool:
    """Engines of the reference are made without arguments; theirs all have defaults."""
    try:
        parameters = list(inspect.signature(cls).parameters.values())
    except (TypeError, ValueError):
        return True
    first = parameters[0] if parameters else None
    if first is None or first.kind in (first.VAR_KEYWORD, first.KEYWORD_ONLY):
        return False
    return first.default is first.empty or first.name == "services"


def _without_services(cls: type[Any]) -> EngineFactory:
    @functools.wraps(cls, updated=())
    def make(services: Services) -> ContextEngine:
        return cast(ContextEngine, cls())

    return make
