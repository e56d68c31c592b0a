"""The plugin manager: pluggy with our hooks, and with an answer to a misspelt one."""

from __future__ import annotations

from collections.abc import Mapping

import pluggy

from host import hookspecs
from host.discovery.foreign import Unusable, foreign
from host.discovery.names import nearest_name


def plugin_manager() -> pluggy.PluginManager:
    """A manager that knows every hook of ``host.hookspecs`` and no plugin yet."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def admit(manager: pluggy.PluginManager, plugin: object) -> None:
    """Register a plugin's hook implementations; Unusable if one of them is no hook of ours, and the plugin is out again."""
    with foreign("registering its hooks"):
        manager.register(plugin)
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        misspelt = _unknown_hook(manager, plugin)
        manager.unregister(plugin)
        raise Unusable(misspelt) from error


def hooks_of(manager: pluggy.PluginManager, plugin: object) -> set[str]:
    """Names of the hooks that an admitted plugin implements."""
    return {caller.name for caller in manager.get_hookcallers(plugin) or ()}


def engines_of(manager: pluggy.PluginManager, plugin: object) -> dict[str, object]:
    """What an admitted plugin offers in ``ctxhost_engines``, by engine name; nobody has checked the values."""
    with foreign("its ctxhost_engines()"):
        others = manager.get_plugins() - {plugin}
        answers = manager.subset_hook_caller("ctxhost_engines", others)()
    offers: dict[str, object] = {}
    for answer in answers:
        if not isinstance(answer, Mapping) or not all(isinstance(name, str) for name in answer):
            raise Unusable(f"its ctxhost_engines() returned {type(answer).__name__}, not a dict of names and factories")
        offers |= answer
    return offers


def _unknown_hook(manager: pluggy.PluginManager, plugin: object) -> str:
    known = {name for name, value in vars(hookspecs).items() if hasattr(value, f"{hookspecs.PROJECT}_spec")}
    unknown = sorted(hooks_of(manager, plugin) - known)
    meant = [(hook, nearest_name(hook, known)) for hook in unknown]
    return "it implements " + ", ".join(
        f"the unknown hook {hook!r}" + (f" (did you mean {near!r}?)" if near else "") for hook, near in meant
    )
