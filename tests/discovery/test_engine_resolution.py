"""From the configured name to the engine that is used: over the doors, through every failure."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from host.discovery import API_VERSION, BUILT_IN, DOORS, Places, Resolution, resolve
from host.engine.contract import ContextEngine, EngineFactory
from host.engine.services import ModelFacts, Services
from host.errors import ConfigError, EngineNotFound, EngineNotLoadable, PluginError, Problem, UnsafeName

ENGINE = """
from host.engine.contract import ContextEngine
from host.hookspecs import hookimpl

class Demo(ContextEngine):
    name = {name!r}
    def update_from_response(self, usage): pass
    def should_compress(self, prompt_tokens=None): return False
    def compress(self, messages, current_tokens=None): return messages
"""


class Compressor(ContextEngine):
    name = BUILT_IN

    def update_from_response(self, usage: dict[str, Any]) -> None: ...
    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return False

    def compress(self, messages: list[Any], *_: Any, **__: Any) -> list[Any]:
        return messages


class Counted:
    """Two tokens for whatever is counted."""

    def __getattr__(self, name: str) -> Callable[..., int]:
        return lambda *_: 2


def services() -> Services:
    return Services(settings=None, facts=ModelFacts(), count=cast(Any, Counted()), archive=cast(Any, None), state=cast(Any, None))


def make(factory: EngineFactory) -> ContextEngine:
    return factory(services())


@dataclass(frozen=True)
class Entry:
    """An entry point of a distribution that need not be installed."""

    name: str
    target: Callable[[], object]
    distribution: str = "demo-plugin"
    value: str = "demo_plugin"

    @property
    def dist(self) -> Any:
        return SimpleNamespace(name=self.distribution)

    def load(self) -> Any:
        return self.target()


@dataclass
class World:
    """Everything that can hold an engine, in a temporary folder."""

    root: Path
    entries: list[Entry] = field(default_factory=list)
    registered: dict[str, object] = field(default_factory=dict)
    enabled: set[str] = field(default_factory=set)
    disabled: set[str] = field(default_factory=set)

    def plant(self, place: str, name: str, source: str) -> Path:
        folder = self.root / place / "plugins" / "context_engine" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(textwrap.dedent(source))
        return folder

    @property
    def places(self) -> Places:
        bundled, home, extra, project = (self.root / p / "plugins" / "context_engine" for p in ("bundled", "home", "extra", "project"))
        return Places(
            {BUILT_IN: lambda services: Compressor()},
            bundled=bundled,
            home=home,
            paths=(extra,),
            project=project,
            enabled=frozenset(self.enabled),
            disabled=frozenset(self.disabled),
            entry_points=lambda: self.entries,
            registered=self.registered,
        )

    def resolve(self, name: str = "demo", **policy: Any) -> Resolution:
        return resolve(name, self.places, make, **policy)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def module(source: str, name: str = "some_plugin") -> ModuleType:
    made = ModuleType(name)
    exec(textwrap.dedent(source), vars(made))
    return made


def engine_source(name: str = "demo", more: str = "") -> str:
    return ENGINE.format(name=name) + textwrap.dedent(more)


def test_the_built_in_is_used_unless_another_is_named(world: World) -> None:
    world.plant("home", "demo", "raise RuntimeError('imported')")
    world.entries.append(Entry("demo", lambda: pytest.fail("imported")))
    for name in ("", BUILT_IN):
        found = world.resolve(name)
        assert (found.used, found.requested, found.warnings, found.reason) == (BUILT_IN, BUILT_IN, (), None)


def test_no_plugin_takes_the_name_of_the_built_in(world: World) -> None:
    world.plant("home", BUILT_IN, engine_source(BUILT_IN))
    world.registered[BUILT_IN] = module(engine_source(BUILT_IN))
    assert type(world.resolve(BUILT_IN).engine) is Compressor


FORMS = {
    "hooks": "@hookimpl\ndef ctxhost_engines(): return {'demo': lambda services: Demo()}",
    "hooks with a class that takes nothing": "@hookimpl\ndef ctxhost_engines(): return {'demo': Demo}",
    "hooks of two engines": "@hookimpl\ndef ctxhost_engines(): return {'other': Demo, 'demo': Demo}",
    "register": "def register(ctx): ctx.register_context_engine(Demo())",
    "register of two engines": """
        class Other(Demo): name = "other"
        def register(ctx):
            ctx.register_context_engine(Demo())
            ctx.register_context_engine(Other())
    """,
    "register without an engine": "def register(ctx): pass",
    "one class": "",
    "one class on a base of its own": "class Better(Demo): pass",
    "one of two classes": "class Other(ContextEngine): name = 'other'",
    "a class with optional arguments": "class Better(Demo):\n def __init__(self, config=None): assert config is None",
    "the base class for authors": """
        from pydantic import BaseModel
        from host.engine.engine import Engine
        class Settings(BaseModel): pass
        class Recap(Engine[Settings]):
            name, api = "demo", 1
            def compact(self, window): return [*window.head, *window.tail]
        del Demo
    """,
    "a class with services": "class Better(Demo):\n def __init__(self, services): assert services.facts.window",
    "a class with optional services": "class Better(Demo):\n def __init__(self, services=None): assert services.facts.window",
    "name only in the object": "class Better(Demo):\n @property\n def name(self): return 'demo'",
    "hooks before register": "def register(ctx): raise RuntimeError\n@hookimpl\ndef ctxhost_engines(): return {'demo': Demo}",
}


@pytest.mark.parametrize("more", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("place", ["bundled", "home", "extra", "project", "entry point"])
def test_every_form_of_a_plugin_works_at_every_place(world: World, more: str, place: str) -> None:
    source = engine_source(more=more)
    if place == "entry point":
        world.entries.append(Entry("demo", lambda: module(source)))
    else:
        world.plant(place, "demo", source)
    found = world.resolve()
    assert (found.used, found.engine.name, found.warnings, found.reason) == ("demo", "demo", (), None)


@pytest.mark.parametrize("enabled", [{"toolbox"}, {"demo-plugin"}, {"demo.plugin"}])
def test_registered_through_an_enabled_plugin_only_gives_no_warning(world: World, enabled: set[str]) -> None:
    world.entries.append(Entry("toolbox", lambda: module(engine_source())))
    assert world.resolve().used == BUILT_IN
    world.enabled |= enabled
    found = world.resolve()
    assert (found.used, found.warnings) == ("demo", ())


def test_an_entry_point_may_name_the_class(world: World) -> None:
    world.entries.append(Entry("demo", lambda: module(engine_source()).Demo))
    assert world.resolve().used == "demo"


def test_a_plugin_handed_over_in_the_process_is_found(world: World) -> None:
    world.registered["mine"] = module(engine_source())
    found = world.resolve()
    assert (found.used, found.source) == ("demo", "in process mine")


def test_a_path_may_be_the_folder_of_the_engine_itself(world: World, tmp_path: Path) -> None:
    folder = world.plant("elsewhere", "demo", engine_source())
    places = Places({BUILT_IN: lambda services: Compressor()}, paths=(folder,), entry_points=list)
    assert resolve("demo", places, make).used == "demo"


def test_only_entry_points_of_the_name_and_enabled_ones_are_imported(world: World) -> None:
    loaded: list[str] = []

    def entry(name: str) -> Entry:
        def load() -> ModuleType:
            loaded.append(name)
            return module(engine_source(name), name)

        return Entry(name, load, distribution=name)

    world.entries += map(entry, ["demo", "enabled", "stranger", "switched-off"])
    world.enabled, world.disabled = {"enabled", "switched-off"}, {"switched-off"}
    assert world.resolve().used == "demo"
    assert sorted(loaded) == ["demo", "enabled"]


FAILURES: Mapping[str, tuple[str, list[str]]] = {
    "raises at import": ("raise RuntimeError('boom')", ["RuntimeError: boom"]),
    "exits at import": ("raise SystemExit('bye')", ["SystemExit: bye"]),
    "is no Python": ("def broken(:", ["SyntaxError", "__init__.py:1"]),
    "imports what is not there": ("import agent_of_the_reference", ["agent_of_the_reference"]),
    "holds no engine": ("x = 1", ["no engine"]),
    "registers an object": ("def register(ctx): ctx.register_context_engine(object())", ["compress", "object"]),
    "register raises": ("def register(ctx): 1 / 0", ["register(ctx)", "ZeroDivisionError"]),
    "register wants more of ctx": ("def register(ctx): ctx.register_tool('x')", ["register_tool"]),
    "leaves methods abstract": (
        "from host.engine.contract import ContextEngine\nclass E(ContextEngine):\n name='demo'",
        ["abstract", "compress", "should_compress", "update_from_response"],
    ),
    "leaves methods abstract, made by itself": (
        "from host.engine.contract import ContextEngine\nclass E(ContextEngine):\n name='demo'\ndef register(ctx): E()",
        ["abstract", "compress"],
    ),
    "other name by class": (engine_source("demo-engine"), ["'demo'", "'demo-engine'"]),
    "other name by register": (engine_source("demo-engine", "def register(ctx): ctx.register_context_engine(Demo())"), ["'demo-engine'"]),
    "other name by hook": (engine_source("demo-engine", "@hookimpl\ndef ctxhost_engines(): return {'demo': Demo}"), ["'demo-engine'"]),
    "other name in the hook": (engine_source("demo", "@hookimpl\ndef ctxhost_engines(): return {'demo-engine': Demo}"), ["'demo-engine'"]),
    "construction raises": (
        engine_source(more="class B(Demo):\n def __init__(self): raise OSError('disk')"),
        ["construction", "OSError: disk"],
    ),
    "two classes": (engine_source("a", "class B(ContextEngine): name = 'b'"), ["2 engine classes", "B, Demo"]),
    "misspelt hook": (engine_source(more="@hookimpl\ndef ctxhost_engine(): return {}"), ["'ctxhost_engine'", "'ctxhost_engines'"]),
    "hook offers no factory": (engine_source(more="@hookimpl\ndef ctxhost_engines(): return {'demo': 'Demo'}"), ["str"]),
    "hook offers nothing": (engine_source(more="@hookimpl\ndef ctxhost_engines(): return {}"), ["no engine"]),
    "factory gives None": (
        engine_source(more="@hookimpl\ndef ctxhost_engines(): return {'demo': lambda s: None}"),
        ["NoneType", "compress"],
    ),
    "newer contract": (engine_source(more="Demo.api = 7"), ["version 7", f"speaks {API_VERSION}"]),
    "api is no number": (engine_source(more="Demo.api = '1'"), ["api is '1'"]),
    "name raises": (engine_source(more="class B(Demo):\n @property\n def name(self): raise KeyError('n')"), ["attribute name", "KeyError"]),
    "name is no text": (engine_source(more="class B(Demo):\n name = 5"), ["5", "'demo'"]),
}


@pytest.mark.parametrize(("source", "words"), FAILURES.values(), ids=FAILURES.keys())
@pytest.mark.parametrize("door", ["directory", "registered"])
def test_an_engine_that_cannot_be_used_gives_way_to_the_built_in_with_one_warning(
    world: World, door: str, source: str, words: list[str]
) -> None:
    if door == "directory":
        where = str(world.plant("home", "demo", source))
    else:
        where = "demo-plugin"
        world.entries.append(Entry("demo", lambda: module(source) if "broken" not in source else _as_a_file(source)))
    found = world.resolve()
    assert (type(found.engine), found.used, found.requested) == (Compressor, BUILT_IN, "demo")
    (warning,) = found.warnings
    assert "'demo'" in warning and where in warning and BUILT_IN in warning
    assert [word for word in words if word not in warning] == []
    assert found.reason and found.reason in warning
    assert found.as_json() == {"engine_requested": "demo", "engine_used": BUILT_IN, "engine_source": "built-in", "reason": found.reason}
    with pytest.raises(EngineNotLoadable) as caught:
        world.resolve(on_error="error")
    assert caught.value.exit_status == 2
    assert world.resolve(on_missing="error").used == BUILT_IN


def _as_a_file(source: str) -> ModuleType:
    raise SyntaxError("invalid syntax", ("__init__.py", 1, 1, source))


def test_an_unknown_name_says_where_it_was_looked_for_and_what_is_near(world: World) -> None:
    world.plant("home", "demon", engine_source("demon"))
    found = world.resolve()
    (warning,) = found.warnings
    assert found.used == BUILT_IN
    for word in ("'demo'", "'demon'", "not found", *(str(folder) for _, folder in world.places.folders()), "entry points"):
        assert word in warning
    with pytest.raises(EngineNotFound):
        world.resolve(on_missing="error")
    assert world.resolve(on_error="error").used == BUILT_IN


def test_a_plugin_one_folder_too_high_is_pointed_out(world: World) -> None:
    folder = world.root / "home" / "plugins" / "demo"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError")
    (warning,) = world.resolve().warnings
    assert str(folder) in warning and str(folder.parent / "context_engine") in warning


@pytest.mark.parametrize("name", ["../../tmp/evil", "/tmp/evil", ".hidden", "_private", "a\\b", "demo\0", "x" * 5000, "\udcff"])
def test_an_unsafe_name_is_refused_before_any_folder_or_entry_point_is_looked_at(name: str) -> None:
    def never() -> list[Any]:
        pytest.fail("entry points were read")

    places = Places({BUILT_IN: lambda services: Compressor()}, home=Path("/dev/null"), entry_points=never)
    found = resolve(name, places, make)
    (warning,) = found.warnings
    assert found.used == BUILT_IN and repr(name) in warning and "not allowed" in warning
    with pytest.raises(UnsafeName):
        resolve(name, places, make, on_missing="error")


NO_PLUGINS: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "no __init__.py": (lambda path: path.mkdir(), "no __init__.py"),
    "__init__.py is a folder": (lambda path: (path / "__init__.py").mkdir(parents=True), "no __init__.py"),
    "link to itself": (lambda path: path.symlink_to(path), "leads nowhere"),
    "broken link": (lambda path: path.symlink_to(path.parent / "gone"), "leads nowhere"),
}


@pytest.mark.parametrize(("build", "word"), NO_PLUGINS.values(), ids=NO_PLUGINS.keys())
def test_what_is_no_plugin_folder_is_the_reason_unless_the_next_door_has_the_engine(
    world: World, build: Callable[[Path], object], word: str
) -> None:
    search = world.root / "home" / "plugins" / "context_engine"
    search.mkdir(parents=True)
    build(search / "demo")
    (warning,) = world.resolve().warnings
    assert word in warning and str(search / "demo") in warning
    world.entries.append(Entry("demo", lambda: module(engine_source())))
    found = world.resolve()
    assert (found.used, found.warnings) == ("demo", ())


@pytest.mark.parametrize("disabled", ["demo", "demo-plugin", "Demo_Plugin"])
def test_a_disabled_engine_is_not_imported(world: World, disabled: str) -> None:
    world.entries.append(Entry("demo", lambda: pytest.fail("imported")))
    world.disabled = {disabled}
    (warning,) = world.resolve().warnings
    assert "plugins.disabled" in warning


def test_a_broken_plugin_does_not_keep_another_from_working(world: World) -> None:
    world.plant("home", "broken", "raise RuntimeError('boom')")
    world.plant("bundled", "demo", engine_source())
    world.registered["wrong"] = module("def register(ctx): 1 / 0")
    world.entries.append(Entry("toolbox", lambda: 1 / 0))
    world.enabled = {"toolbox"}
    found = world.resolve()
    assert (found.used, found.warnings) == ("demo", ())
    assert any("ZeroDivisionError" in notice and "demo-plugin" in notice for notice in found.notices)
    assert any("ZeroDivisionError" in notice and "wrong" in notice for notice in found.notices)


def test_an_enabled_plugin_that_fails_is_named_where_the_engine_is_not_found(world: World) -> None:
    world.entries.append(Entry("toolbox", lambda: 1 / 0))
    world.enabled = {"toolbox"}
    (warning,) = world.resolve().warnings
    assert "not found" in warning and "ZeroDivisionError" in warning


def test_of_two_claimants_the_first_distribution_wins_at_every_start(world: World) -> None:
    for start in range(10):
        made = [Entry("demo", lambda: module(engine_source()), distribution=name) for name in ("b", "a")]
        world.entries = made[:: 1 if start % 2 else -1]
        found = world.resolve()
        (warning,) = found.warnings
        assert found.source == "entry point a (demo_plugin)"
        assert "entry point a" in warning and "entry point b" in warning


def test_of_two_enabled_plugins_with_the_same_engine_the_first_distribution_wins_at_every_start(world: World) -> None:
    world.enabled = {"first", "second"}
    for start in range(10):
        made = [Entry(name, lambda: module(engine_source()), distribution=owner) for name, owner in (("second", "a"), ("first", "b"))]
        world.entries = made[:: 1 if start % 2 else -1]
        found = world.resolve()
        assert found.source == "entry point a (demo_plugin)"
        assert "entry point b" in found.warnings[0]


def test_a_folder_comes_before_an_entry_point_and_an_earlier_folder_before_a_later(world: World) -> None:
    world.entries.append(Entry("demo", lambda: pytest.fail("the second claimant was imported")))
    for place in ("project", "extra", "home", "bundled"):
        folder = world.plant(place, "demo", engine_source())
        found = world.resolve()
        assert str(folder) in found.source
        assert "demo-plugin" in found.warnings[0]


def test_a_broken_first_claimant_is_not_silently_replaced_by_another_of_its_name(world: World) -> None:
    world.plant("home", "demo", "raise RuntimeError('boom')")
    world.entries.append(Entry("demo", lambda: module(engine_source())))
    found = world.resolve()
    (warning,) = found.warnings
    assert found.used == BUILT_IN and "boom" in warning and "demo-plugin" in warning


def test_a_folder_reached_by_two_search_folders_claims_once(world: World) -> None:
    folder = world.plant("home", "demo", engine_source())
    (world.root / "project" / "plugins").mkdir(parents=True)
    (world.root / "project" / "plugins" / "context_engine").symlink_to(folder.parent)
    assert world.resolve().warnings == ()


SQLITE = "import sqlite3\nclass Live(Demo):\n def __init__(self): self.db = sqlite3.connect(':memory:')\n"


@pytest.mark.parametrize(
    "more",
    [
        SQLITE,
        SQLITE + "def register(ctx): ctx.register_context_engine(Live())",
        SQLITE + "@hookimpl\ndef ctxhost_engines(): return {'demo': Live}",
    ],
)
def test_a_child_agent_gets_its_own_engine_although_it_cannot_be_copied(world: World, more: str) -> None:
    world.plant("home", "demo", engine_source(more=more))
    main, child = world.resolve(), world.resolve()
    assert (main.used, child.used, child.warnings) == ("demo", "demo", ())
    assert main.engine is not child.engine and type(main.engine) is type(child.engine)


def test_one_object_for_two_agents_is_refused_with_a_warning_for_the_second(world: World) -> None:
    world.plant("home", "demo", engine_source(more="shared = Demo()\ndef register(ctx): ctx.register_context_engine(shared)"))
    main, child = world.resolve(), world.resolve()
    assert (main.used, child.used) == ("demo", BUILT_IN)
    assert "another agent" in child.warnings[0]


def test_an_engine_that_names_no_contract_version_gets_a_notice_and_one_that_does_none(world: World) -> None:
    world.plant("home", "demo", engine_source())
    world.plant("home", "dated", engine_source("dated", "Demo.api = 1"))
    assert any("api" in notice for notice in world.resolve().notices)
    assert world.resolve("dated").notices == ()


def test_settings_without_a_meaning_are_the_users_error_not_the_plugins(world: World) -> None:
    world.plant("home", "demo", engine_source())

    def refuse(factory: EngineFactory) -> ContextEngine:
        raise ConfigError([Problem("config.yaml:3:5", "engines.demo.words", "expected a number")])

    with pytest.raises(ConfigError):
        resolve("demo", world.places, refuse)


def test_the_settings_class_of_an_engine_is_seen_by_whoever_makes_it(world: World) -> None:
    world.plant("home", "demo", engine_source(more="class Better(Demo):\n Settings = dict\n def __init__(self, services): pass"))
    seen: list[object] = []

    def look(factory: EngineFactory) -> ContextEngine:
        seen.append(getattr(factory, "Settings", None))
        return make(factory)

    assert resolve("demo", world.places, look).used == "demo"
    assert seen == [dict]


def test_the_error_behind_a_fallback_keeps_its_traceback(world: World) -> None:
    world.plant("home", "demo", "raise RuntimeError('boom')")
    error = world.resolve().error
    assert isinstance(error, PluginError) and error.__cause__ is not None
    assert isinstance(error.__cause__.__cause__, RuntimeError)


def test_a_failed_plugin_leaves_nothing_in_sys_modules(world: World) -> None:
    before = set(sys.modules)
    world.plant("home", "demo", "from . import part\nraise RuntimeError('boom')").joinpath("part.py").write_text("")
    assert world.resolve().used == BUILT_IN
    assert {name for name in set(sys.modules) - before if "demo" in name} == set()


def test_the_doors_are_those_of_the_seed() -> None:
    assert [door.name for door in DOORS] == ["directory", "registered", "built-in"]
