"""The plugins of ``plugins.enabled`` at work: what they offer, and what they are told."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, cast

from host.discovery.aside import printing_aside
from host.discovery.foreign import Unusable, foreign
from host.discovery.manager import admit, hooks_of, plugin_manager
from host.discovery.names import printable
from host.discovery.places import Places
from host.discovery.sources import nobodys, sources
from host.engine.offers import Command, Memory, Place, SessionCompress, Tool
from host.errors import ConfigError
from host.messages.types import Message

PRE_COMPRESS = "on_pre_compress"
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Warn = Callable[[str], None]
Hook = Callable[..., list[object]]


@dataclass(frozen=True)
class Plugin:
    """One plugin by its label, and those of our hooks that it implements."""

    label: str
    hooks: Mapping[str, Hook]

    def answers(self, hook: str, **given: object) -> list[object]:
        """What it answers, None left out; Unusable if it raises or is async. What it prints goes to standard error."""
        with foreign(f"its {hook}()"), printing_aside():
            said: object = self.hooks[hook](**given)
        answers = said if isinstance(said, list) else [said]
        for answer in answers:
            if inspect.iscoroutine(answer):
                answer.close()
                raise Unusable(f"its {hook}() is async; a hook is a plain function")
        return answers


class Plugins:
    """All of them together. One that fails is told once, and the others are heard."""

    def __init__(self, plugins: Sequence[Plugin], warn: Warn) -> None:
        self._plugins = plugins
        self._warn = warn
        self._told: set[tuple[str, str]] = set()

    @property
    def memories(self) -> Callable[[Sequence[Message], str], str] | None:
        """The voice of all that have a word before a compaction; None where none has."""
        return self._before_compaction if any(PRE_COMPRESS in plugin.hooks for plugin in self._plugins) else None

    def tools(self, place: Place) -> list[tuple[str, Tool]]:
        """The tools for an agent, each with the label of its plugin."""
        return [(label, cast(Tool, tool)) for label, tool in self._offered("ctxhost_tools", _check_tool, place=place)]

    def commands(self) -> list[tuple[str, Command]]:
        """The commands for a chat, each with the label of its plugin; of one name the first."""
        found: dict[str, tuple[str, Command]] = {}
        for label, offered in self._offered("ctxhost_commands", _check_command):
            command = cast(Command, offered)
            if command.name in found:
                self._tell(label, command.name, f"its command /{command.name} is left out: {found[command.name][0]} has one of this name")
            found.setdefault(command.name, (label, command))
        return list(found.values())

    def memory(self, place: Place) -> list[Memory]:
        """What has a block for the system prompt of a session that starts."""
        return [cast(Memory, memory) for _, memory in self._offered("ctxhost_memory", _check_memory, place=place)]

    def tell_switch(self, session: str, parent: str, *, reset: bool, reason: str) -> None:
        """Tell that the agent goes on in this session: hook ``on_session_switch``."""
        self._tell_all("on_session_switch", session=session, parent=parent, reset=reset, reason=reason)

    def tell_compress(self, event: SessionCompress) -> None:
        """Tell that a compaction was published: hook ``on_session_compress``."""
        self._tell_all("on_session_compress", event=event)

    def _before_compaction(self, messages: Sequence[Message], session: str) -> str:
        texts: list[str] = []
        for plugin in self._with(PRE_COMPRESS):
            with self._heard(plugin.label, PRE_COMPRESS):
                texts.append(_joined(plugin.answers(PRE_COMPRESS, messages=deepcopy(list(messages)), session=session)))
        return "\n\n".join(filter(None, texts))

    def _offered(self, hook: str, check: Callable[[Any], None], **given: object) -> Iterator[tuple[str, object]]:
        for plugin in self._with(hook):
            offers: list[object] = []
            with self._heard(plugin.label, hook):
                offers = _offers_in(plugin.answers(hook, **given), hook)
            good: list[object] = []
            for number, offer in enumerate(offers, start=1):
                with self._heard(plugin.label, f"{hook} {number}"), foreign(f"offer {number} of its {hook}()"):
                    check(offer)
                    good.append(offer)
            yield from ((plugin.label, offer) for offer in good)

    def _tell_all(self, hook: str, **given: object) -> None:
        for plugin in self._with(hook):
            with self._heard(plugin.label, hook):
                plugin.answers(hook, **given)

    def _with(self, hook: str) -> list[Plugin]:
        return [plugin for plugin in self._plugins if hook in plugin.hooks]

    @contextmanager
    def _heard(self, label: str, what: str) -> Iterator[None]:
        """While a plugin is heard: why it cannot be is told once, and goes no further."""
        try:
            yield
        except (Unusable, ConfigError) as error:
            self._tell(label, what, f"{error}; it goes on without")

    def _tell(self, label: str, what: str, text: str) -> None:
        if (label, what) not in self._told:
            self._told.add((label, what))
            self._warn(f"plugin {label}: {text}")


def load_plugins(places: Places, warn: Warn) -> Plugins:
    """Import what ``plugins.enabled`` names, and nothing else; one that cannot be imported, or has an unknown hook, is told."""
    plugins = []
    for name in nobodys(places):
        warn(f"plugins.enabled names {printable(name)}, and no folder of plugins and no installed package is called so")
    for label, load in sources(places):
        try:
            with printing_aside():
                plugins.append(_plugin_in(label, load()))
        except (Unusable, ConfigError) as error:
            warn(f"plugin {label} is left out: {error}")
    return Plugins(plugins, warn)


def load_memories(places: Places, warn: Warn) -> Callable[[Sequence[Message], str], str] | None:
    """The voice of the plugins before a compaction (``Plugins.memories``), where nothing else of them is used."""
    return load_plugins(places, warn).memories


def _plugin_in(label: str, plugin: object) -> Plugin:
    manager = plugin_manager()
    admit(manager, plugin)
    return Plugin(label, {hook: getattr(manager.hook, hook) for hook in hooks_of(manager, plugin)})


def _joined(answers: Sequence[object]) -> str:
    """The answers of one plugin as one text; Unusable if one is no text."""
    if odd := [type(answer).__name__ for answer in answers if not isinstance(answer, str)]:
        raise Unusable(f"its {PRE_COMPRESS}() returned {odd[0]}, not a text")
    return "\n\n".join(filter(None, (str(answer).strip() for answer in answers)))


def _offers_in(answers: Sequence[object], hook: str) -> list[object]:
    """What was offered: of a memory the answers, of anything else the lists that the answers are."""
    if hook == "ctxhost_memory":
        return list(answers)
    if odd := [type(answer).__name__ for answer in answers if not isinstance(answer, list | tuple)]:
        raise Unusable(f"its {hook}() returned {odd[0]}, not a list")
    return [offer for answer in answers for offer in cast("list[object]", answer)]


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Unusable(f"the name {printable(repr(name))[:80]} is left out: a name is 1 to 64 letters, digits, '_' and '-'")


def _check_method(offer: object, method: str) -> None:
    if not callable(getattr(offer, method)) or inspect.iscoroutinefunction(getattr(offer, method)):
        raise Unusable(f"{getattr(offer, 'name', offer)!r} is left out: its {method} is no plain method")


def _check_tool(tool: Tool) -> None:
    _check_name(tool.name)
    if not isinstance(tool.schema, Mapping) or not isinstance(tool.schema.get("parameters", {}), Mapping):
        raise Unusable(f"the tool {tool.name!r} is left out: its schema is no object of name, description and parameters")
    json.dumps(dict(tool.schema))
    _check_method(tool, "call")


def _check_command(command: Command) -> None:
    _check_name(command.name)
    if not isinstance(command.summary, str):
        raise Unusable(f"the command {command.name!r} is left out: its summary is no text")
    _check_method(command, "run")


def _check_memory(memory: Memory) -> None:
    if not isinstance(memory.name, str) or not memory.name.strip():
        raise Unusable("a memory is left out: it has no name")
    _check_method(memory, "block")
