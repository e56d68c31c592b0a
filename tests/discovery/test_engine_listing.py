"""What is listed, without importing it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from host.discovery import BUILT_IN, Listing, Places, bundled_engines, list_engines
from host.engine.contract import ContextEngine, EngineFactory

TELLTALE = "from pathlib import Path\nPath(__file__).with_name('imported').touch()\n"


def no_engine(services: object) -> ContextEngine:
    raise AssertionError("an engine was made")


BUILT_INS: dict[str, EngineFactory] = {BUILT_IN: no_engine}


@dataclass(frozen=True)
class Entry:
    name: str
    value: str
    owner: str

    @property
    def dist(self) -> Any:
        return SimpleNamespace(name=self.owner)

    def load(self) -> Any:
        raise AssertionError("an entry point was imported")


def plant(search: Path, name: str, source: str | bytes = TELLTALE) -> Path:
    (search / name).mkdir(parents=True)
    (search / name / "__init__.py").write_bytes(source.encode() if isinstance(source, str) else source)
    return search / name


def by_name(places: Places) -> dict[str, Listing]:
    return {listing.name: listing for listing in list_engines(places)}


def test_the_facts_of_every_engine(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    first, second = plant(home, "demo"), plant(project, "demo")
    (first / "plugin.yaml").write_bytes("\ufeffdescription: 示例 engine\nversion: 1\n".encode())
    entries = [Entry("demo", "json.decoder:JSONDecoder", "some-dist"), Entry("gone", "no_such_module_anywhere", "other-dist")]
    listed = list_engines(Places(BUILT_INS, "demo", home=home, project=project, entry_points=lambda: entries))
    assert [(each.name, each.source) for each in listed] == [
        (BUILT_IN, "built-in"),
        ("demo", "home"),
        ("demo", "project"),
        ("demo", "entry point of some-dist"),
        ("gone", "entry point of other-dist"),
    ]
    _, winner, hidden, packaged, gone = listed
    assert (winner.path, winner.description, winner.configured) == (str(first), "示例 engine", True)
    assert winner.shadows == (f"project {second}", "entry point some-dist (json.decoder:JSONDecoder)")
    assert (hidden.shadowed_by, hidden.configured) == (f"home {first}", False)
    assert packaged.path is not None and Path(packaged.path).parts[-2:] == ("json", "__init__.py")
    assert gone.cannot_load == "its module 'no_such_module_anywhere' is not installed"
    assert not [each for each in listed if each.cannot_load and each is not gone]
    assert not list(tmp_path.rglob("imported"))


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("def broken(:", "syntax error in"),
        (b"x = '\0'", ""),
        (b"# coding: no-such-codec\n", "syntax error"),
        (b"x = '\xff'", "syntax error"),
        ("(" * 5000, "__init__.py"),
    ],
)
def test_a_source_that_cannot_be_parsed_is_told(tmp_path: Path, source: str | bytes, word: str) -> None:
    plant(tmp_path, "demo", source)
    told = by_name(Places(BUILT_INS, home=tmp_path, entry_points=list))["demo"].cannot_load
    assert told and word in told and told.isprintable()


def test_what_is_no_engine_is_listed_with_the_reason_and_what_is_hidden_is_not(tmp_path: Path) -> None:
    for folder in ("empty", "_private", ".hidden", "__pycache__", "odd:name"):
        (tmp_path / folder).mkdir()
    (tmp_path / "odd:name" / "__init__.py").touch()
    for file in ("single.py", "README.md", "LICENSE"):
        (tmp_path / file).touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    listed = by_name(
        Places(BUILT_INS, home=tmp_path, disabled=frozenset({"off"}), entry_points=lambda: [Entry("off", "json", "some-dist")])
    )
    assert {name: each.cannot_load for name, each in listed.items()} == {
        BUILT_IN: None,
        "empty": "there is no __init__.py in it",
        "loop": "it is a link that leads nowhere",
        "odd:name": "its name is not allowed",
        "off": "it is disabled in plugins.disabled",
        "single.py": "it is a file; an engine is a folder with __init__.py in it",
    }


def test_a_claim_that_does_not_count_shadows_nothing(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    listed = list_engines(Places(BUILT_INS, "demo", home=tmp_path, entry_points=lambda: [Entry("demo", "json", "some-dist")]))
    assert [(each.source, each.configured, each.shadows, each.shadowed_by) for each in listed if each.name == "demo"] == [
        ("home", False, (), None),
        ("entry point of some-dist", True, (), None),
    ]


def test_a_plugin_named_like_the_built_in_is_listed_behind_it(tmp_path: Path) -> None:
    plant(tmp_path, BUILT_IN)
    built_in, plugin = list_engines(Places(BUILT_INS, home=tmp_path, entry_points=list))
    assert (built_in.source, built_in.configured, plugin.shadowed_by) == ("built-in", True, "built-in")


@pytest.mark.parametrize("manifest", [b"description: [", b"\xff\xfe", b"description: *nobody", b"a: 1\na: 2"])
def test_a_damaged_manifest_is_told_and_does_no_harm(tmp_path: Path, manifest: bytes) -> None:
    (plant(tmp_path, "demo") / "plugin.yaml").write_bytes(manifest)
    told = by_name(Places(BUILT_INS, home=tmp_path, entry_points=list))["demo"]
    assert told.cannot_load is None
    assert told.description.startswith("(plugin.yaml cannot be read")


@pytest.mark.parametrize("manifest", ["", "- a", "description: 5", "name: demo"])
def test_a_manifest_without_a_description_is_fine(tmp_path: Path, manifest: str) -> None:
    (plant(tmp_path, "demo") / "plugin.yaml").write_text(manifest)
    assert by_name(Places(BUILT_INS, home=tmp_path, entry_points=list))["demo"].description == ""


def test_a_file_name_that_is_no_text_can_be_shown(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xffname")).mkdir()
    (told,) = [each for each in list_engines(Places(BUILT_INS, home=tmp_path, entry_points=list)) if each.name != BUILT_IN]
    assert told.cannot_load and told.path and told.path.encode()


def test_a_search_folder_that_is_a_file_or_is_not_there_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    places = Places(BUILT_INS, home=tmp_path / "file", project=tmp_path / "nowhere", entry_points=list)
    assert [each.name for each in list_engines(places)] == [BUILT_IN]


def test_the_bundled_engines_lie_in_a_folder_of_this_distribution() -> None:
    folder = bundled_engines()
    assert folder is not None and folder.parts[-2:] == ("plugins", "context_engine")


DISTRIBUTIONS = {
    "good": ("[ctxhost]\ngood_engine = good_engine\n", "Name: good-dist\nVersion: 1\n"),
    "foreign": ("[console_scripts]\nx = y:z\n", "Name: foreign-dist\nVersion: 1\n"),
    "damaged": ("[ctxhost]\nthis line has no equals sign\n", "Name: damaged-dist\nVersion: 1\n"),
    "nameless": ("[ctxhost]\nnameless = nameless\n", "Version: 1\n"),
}

PROBE = """
import json, sys
from host.discovery import Places, list_engines, resolve
from host.engine.contract import ContextEngine

class Compressor(ContextEngine):
    name = "compressor"
    def update_from_response(self, usage): pass
    def should_compress(self, prompt_tokens=None): return False
    def compress(self, messages): return messages

places = Places({"compressor": lambda services: Compressor()}, "good_engine")
listed = {each.name: each.source for each in list_engines(places)}
imported = sorted({"good_engine", "nameless"} & set(sys.modules))
found = resolve("good_engine", places, lambda factory: factory(None))
print(json.dumps([listed, imported, found.used, found.source, found.warnings]))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for folder, (entry_points, metadata) in DISTRIBUTIONS.items():
        info = tmp_path / f"{folder}_dist-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\n{metadata}")
        (info / "entry_points.txt").write_text(entry_points)
    engine = PROBE[PROBE.index("from host.engine") : PROBE.index("places =")].replace('"compressor"', '"good_engine"')
    (tmp_path / "good_engine.py").write_text(engine)
    return tmp_path


def test_installed_distributions_are_found_and_only_the_named_one_is_imported(site: Path) -> None:
    path = os.pathsep.join([str(site), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    listed, imported, used, source, warnings = json.loads(done.stdout)
    assert listed["good_engine"] == "entry point of good-dist"
    assert imported == []
    assert (used, source, warnings) == ("good_engine", "entry point good-dist (good_engine)", [])


def test_listing_in_a_fresh_process_imports_no_engine(tmp_path: Path) -> None:
    folder = plant(tmp_path, "demo")
    code = (
        "from pathlib import Path; from host.discovery import Places, list_engines;"
        f"print([e.name for e in list_engines(Places({{}}, home=Path({str(tmp_path)!r})))])"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "'demo'" in done.stdout
    assert not (folder / "imported").exists()
