"""Memory plugins: those of ``plugins.enabled`` that have something to say before messages leave the window."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from host.discovery.claims import HANDED_OVER, distribution_of
from host.discovery.foreign import Unusable, foreign
from host.discovery.loading import INIT, load_directory
from host.discovery.manager import admit, hooks_of, plugin_manager
from host.discovery.names import is_safe, printable
from host.discovery.places import Places
from host.errors import ConfigError
from host.messages.types import Message

HOOK = "on_pre_compress"
ENGINES = "context_engine"  # a search folder of this name lies in one for plugins of any kind

Warn = Callable[[str], None]
Say = Callable[[Sequence[Message], str], object]


@dataclass(frozen=True)
class Memory:
    """One plugin that implements the hook."""

    label: str
    say: Say


class Memories:
    """All of them as one voice: their answers, parted by blank lines. One that fails is told, and the others are heard."""

    def __init__(self, memories: Sequence[Memory], warn: Warn) -> None:
        self._memories = memories
        self._warn = warn
        self._told: set[str] = set()

    def __call__(self, messages: Sequence[Message], session: str) -> str:
        """What they say to these messages; each gets copies of its own."""
        return "\n\n".join(filter(None, (self._word_of(memory, messages, session) for memory in self._memories)))

    def _word_of(self, memory: Memory, messages: Sequence[Message], session: str) -> str:
        try:
            with foreign(f"its {HOOK}()"), redirect_stdout(sys.stderr):  # what it prints is no part of a command's answer
                said = memory.say(deepcopy(list(messages)), session)
            return text_of_answers(said)
        except (Unusable, ConfigError) as error:
            if memory.label not in self._told:
                self._told.add(memory.label)
                self._warn(f"memory plugin {memory.label} was not heard before a compaction: {error}")
            return ""


def load_memories(places: Places, warn: Warn) -> Memories | None:
    """Import what ``plugins.enabled`` names, and keep those that implement the hook; None where none does.

    A plugin that cannot be imported, or has an unknown hook, is told and left out. Nothing else is imported, and nothing of a
    project that is not trusted.
    """
    memories = []
    for label, load in [*_named(places), *_handed_over(places)]:
        try:
            memory = _memory_in(label, load())
        except (Unusable, ConfigError) as error:
            warn(f"plugin {label} is not heard before compactions: {error}")
        else:
            memories += [memory] if memory is not None else []
    return Memories(memories, warn) if memories else None


def text_of_answers(said: object) -> str:
    """The answers of one plugin's hook; Unusable if one is no text."""
    answers = said if isinstance(said, list) else [said]
    if odd := [type(answer).__name__ for answer in answers if not isinstance(answer, str)]:
        raise Unusable(f"its {HOOK}() returned {odd[0]}, not a text")
    return "\n\n".join(filter(None, (str(answer).strip() for answer in answers)))


def _memory_in(label: str, plugin: object) -> Memory | None:
    manager = plugin_manager()
    admit(manager, plugin)
    if HOOK not in hooks_of(manager, plugin):
        return None
    return Memory(label, lambda messages, session: manager.hook.on_pre_compress(messages=messages, session=session))


def _named(places: Places) -> Iterator[tuple[str, Callable[[], object]]]:
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


def _handed_over(places: Places) -> Iterator[tuple[str, Callable[[], object]]]:
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


def _loaded(load: Callable[[], object]) -> object:
    with foreign("its import"):
        return load()
