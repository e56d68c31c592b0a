"""Kind ``plugin``: engines in folders and behind entry points, found by the name in a real configuration file."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import host.plugin
from host.conversation.engine_door import Broken, EngineDoor
from host.discovery import Resolution, accepted_keywords
from host.engine.contract import COMPRESS_KEYWORDS, ContextEngine
from host.messages.types import Message
from host.testing.messages import chat
from tests.cases.case import Case
from tests.cases.facts import Each, Facts, NoDriver
from tests.cases.plugin_bodies import misbehave
from tests.cases.watched import Stage, services, stage
from tests.cases.world import World

DEMO = "demo"

ENGINE = """
from host.plugin import ContextEngine

class Planted(ContextEngine):
    name = {name!r}
    made_by = {made_by!r}
    {more}
    def update_from_response(self, usage): pass
    def should_compress(self, prompt_tokens=None): return False
    def compress(self, messages, current_tokens=None, **keywords): return messages
"""
REGISTERS = "\ndef register(ctx):\n    ctx.register_context_engine(Planted())\n"


def engine_source(name: str, *, made_by: str = "", more: str = "") -> str:
    """A plugin that works."""
    return ENGINE.format(name=name, made_by=made_by, more=textwrap.indent(more, "    ").strip())


def with_imports(source: str) -> str:
    """A plugin's source; names of the plugin door that it uses without importing are imported first."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    bound = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import) for alias in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lacking = sorted((used - bound) & set(host.plugin.__all__))
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    return source if future or not lacking else f"from host.plugin import {', '.join(lacking)}\n{source}"


def resolved(*found: tuple[str, Resolution]) -> Facts:
    """The facts of starts that should all come to the same; each has a name."""
    requested = {start.requested for _, start in found}
    return {
        "engine_used": Each({way: start.used for way, start in found}),
        "engine_source": Each({way: start.source for way, start in found}),
        "requested": min(requested),
        "process_exits": False,
        "warnings": Each({way: len(start.warnings) for way, start in found}),
        "warning": Each({way: bool(start.warnings) for way, start in found}),
        "warning_lines": Each({way: list(start.warnings) for way, start in found}),
    }


def directory(case: Case, folder: Path) -> Facts:
    """A plugin with the source, the folder and the engine's name that the case gives."""
    world = World(folder, case.input.get("config"), default=DEMO)
    name = str(case.input.get("plugin_dir", world.engine)).strip("/").rpartition("/")[2]
    own = str(case.input.get("engine.name", name))
    world.plant(name, with_imports(case.input.get("plugin_source", engine_source(own))))
    return {**resolved(("directory", world.start())), "places": world.searched()}


def by_words(case: Case, folder: Path) -> Facts:
    """A plugin that is there: by registration only, or at every door."""
    words = str(case.input["plugin"])
    registered, installed = "regist" in words, re.search(r"(\S+) (?:is )?installed", words)
    if not (registered or installed):
        raise NoDriver(f"no driver reads {words!r}")
    name = installed[1] if installed else World(folder / "asked", case.input.get("config"), default=DEMO).engine
    source = engine_source(name)
    ways: dict[str, World] = {}
    for way in ("entry point", "enabled entry point", "handed over", *(() if registered else ("directory",))):
        ways[way] = world = World(folder / way, case.input.get("config"))
        world.offer(way, name, source + REGISTERS)
    return resolved(*((way, world.start()) for way, world in ways.items()))


def misplaced(case: Case, folder: Path) -> Facts:
    """Files where the case says that they lie, below the home folder."""
    files = case.input["files"]
    if isinstance(files, str):
        files = re.findall(r"[\w./-]+\.py\b", re.split(r"\bno\b|\bnot\b", files)[0])
    world = World(folder, case.input.get("config"), default=DEMO)
    for place in files:
        source = files[place] if isinstance(files, Mapping) else engine_source(world.engine) + REGISTERS
        world.write(place, source)
    return {**resolved(("as placed", world.start())), "places": world.searched()}


def named(case: Case, folder: Path) -> Facts:
    """A name and nothing else; where it leads out of the plugin folders, a file lies in wait."""
    world = World(folder, case.input.get("config"))
    world.lie_in_wait()
    return {
        **resolved(("by name", world.start())),
        "files_loaded_outside_plugin_dirs": world.caught(),
        "places": world.searched(),
    }


def rivals(case: Case, folder: Path) -> Facts:
    """Several plugins for one name, started again and again in any order."""
    claims = [_claim(entry) for entry in case.input["plugins"]]
    engine = claims[0][1]
    starts: list[tuple[str, Resolution]] = []
    for number in range(10):
        world = World(folder / str(number), case.input.get("config", {"context": {"engine": engine}}))
        for owner, name in claims if number % 2 else reversed(claims):
            world.entry_point(name, engine_source(name, made_by=owner), owner)
        starts.append((f"start {number + 1}", world.start()))
    return {**resolved(*starts), "starts": [f"{start.used} of {getattr(start.engine, 'made_by', start.source)}" for _, start in starts]}


def _claim(entry: object) -> tuple[str, str]:
    if isinstance(entry, Mapping):
        return str(entry["name"]), str(entry.get("engine", DEMO))
    found = re.match(r"(\S+) (?:also )?registers (?:engine )?['\"]?(\S+?)['\"]?$", str(entry))
    if found is None:
        raise NoDriver(f"no driver reads {entry!r}")
    return found[1], found[2]


HELD: tuple[tuple[str, str], ...] = (
    ("sqlite", "__import__('sqlite3').connect(':memory:')"),
    ("lock", "__import__('threading').Lock()"),
    ("socket", "__import__('socket').socket()"),
    ("file", "open(__file__)"),
    ("generator", "(number for number in range(3))"),
    ("thread", "__import__('threading').Thread()"),
)
"""What cannot be copied, and how an engine comes to hold one."""


def children(case: Case, folder: Path) -> Facts:
    """An engine that cannot be copied, for a main agent and its children."""
    words, steps = str(case.input["engine"]), list(case.input.get("steps", ["main agent", "child agent"]))
    held = next((made for word, made in HELD if word in words.lower()), None)
    if held is None:
        raise NoDriver(f"no driver reads {words!r}")
    more = f"def __init__(self): self.held = {held}"
    found: list[tuple[str, Resolution]] = []
    for way in ("directory", "entry point", "handed over"):
        world = World(folder / way, case.input.get("config", {"context": {"engine": DEMO}}))
        world.offer(way, DEMO, engine_source(DEMO, more=more) + REGISTERS)
        main, *others = [world.start() for _ in steps]
        found += [(f"{way}, {step}", start) for step, start in zip(steps, [main, *others], strict=True)]
    first = [start for _, start in found][:: len(steps)]
    said = [_likeness(start, first[index // len(steps)]) for index, (_, start) in enumerate(found) if index % len(steps)]
    return {**resolved(*found), "children": said, "warnings_per_child": Each({way: len(s.warnings) for way, s in found if "child" in way})}


def _likeness(child: Resolution, main: Resolution) -> str:
    if child.used != main.used or type(child.engine) is not type(main.engine):
        return child.used
    return "the same object" if child.engine is main.engine else "same plugin (own instance)"


def called_with(case: Case, folder: Path) -> Facts:
    """An engine with the signature that the case gives, called through a conversation and with the keywords of the case."""
    method, body = next((key.removeprefix("engine."), text) for key, text in case.input.items() if key.startswith("engine.") and "." in key)
    if not body.lstrip().startswith("def "):
        return misbehave(method, body, folder)
    if method != "compress":
        raise NoDriver(f"no driver for engine.{method}")
    call = dict(case.input.get("host_call", {}))
    world = World(folder, {"context": {"engine": DEMO}})
    world.plant(DEMO, engine_source(DEMO, more=f"calls = 0\nlast = None\n{signature_only(body)}").replace(DEFAULT_COMPRESS, ""))
    start = world.start()
    if start.used != DEMO:
        raise NoDriver(f"no engine can be made of {body!r}: {start.warnings}")
    on = stage(lambda given: start.engine, services())
    for message in chat(12):
        on.conversation.add(message)
    on.conversation.compact(call.get("focus_topic"))
    failure = ""
    try:
        EngineDoor(on.engine, on.warnings.append, strict=False).compress(
            chat(12), 1_000, call.get("focus_topic"), force=bool(call.get("force")), services=services()
        )
    except Broken as error:
        failure = str(error)
    offered: dict[str, object] = {**dict.fromkeys(COMPRESS_KEYWORDS, ""), **call}
    on.engine.compress(chat(12), **accepted_keywords(on.engine.compress, offered))  # type: ignore[arg-type]
    return {
        **resolved(("called", start)),
        "raises": failure or False,
        "compress_called": getattr(on.engine, "calls", 0) == 3,
        "host_warnings": on.warnings,
    }


DEFAULT_COMPRESS = "    def compress(self, messages, current_tokens=None, **keywords): return messages\n"


def signature_only(text: str) -> str:
    """A ``compress`` of this signature that counts its calls and gives the messages back; a body of its own stays."""
    head = text.strip().rstrip(":")
    if not head.startswith("def compress("):
        raise NoDriver(f"no driver reads {text!r}")
    if "\n" in head or re.search(r"\)\s*(?:->[^:]+)?:\s*\S", head):
        return text
    return f"{head}:\n    self.calls += 1\n    return next(value for value in locals().values() if isinstance(value, list))"


def junk(case: Case, folder: Path) -> Facts:
    """An engine that returns what no conversation can use, by hand and before a model call."""
    returns = case.input["returns"] if isinstance(case.input["returns"], list) else [case.input["returns"]]
    seen = {f"{json_like(value)}, {way}": _after(value, way) for value in returns for way in ("by hand", "before a call")}
    return {
        "messages_unchanged": Each({way: same for way, (same, _) in seen.items()}),
        "warning": Each({way: len(lines) == 1 for way, (_, lines) in seen.items()}),
        "warnings": Each({way: len(lines) for way, (_, lines) in seen.items()}),
        "warning_lines": Each({way: lines for way, (_, lines) in seen.items()}),
        "requested": Junk.name,
        "process_exits": False,
    }


def json_like(value: object) -> str:
    """A value in short, to name a way."""
    return repr(value)[:40]


class Junk(ContextEngine):
    """Returns what it was made with."""

    name = "junk"
    api = 1

    def __init__(self, value: Any) -> None:
        self.value = value
        self.threshold_tokens = 10

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Count nothing."""

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return bool(prompt_tokens)

    def compress(self, messages: list[Message], *_: Any, **__: Any) -> Any:
        return deepcopy(self.value)


def _after(value: Any, way: str) -> tuple[bool, list[str]]:
    """Whether the window is as it was, the very objects; and the warnings."""
    on: Stage = stage(lambda given: Junk(value), services())
    messages = chat(6)
    for message in messages:
        on.conversation.add(message)
    window = list(on.conversation.view.messages)
    if way == "by hand":
        on.conversation.compact()
        window = list(on.conversation.view.messages)
    else:
        window = on.conversation.window()
    same = len(window) == len(messages) and all(shown is given for shown, given in zip(window, messages, strict=True))
    return same, on.warnings
