"""``ctxhost engines``: the same facts as a table, as plain text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from host.cli.engines import engines, plain_lines, print_listings, show_check, show_engines
from host.discovery import BUILT_IN, Listing, Places
from host.engine.contract import ContextEngine, EngineFactory

LISTINGS = [
    Listing(BUILT_IN, "built-in", None, "", True, (), None, None),
    Listing("demo", "home", "/home/you/demo", "shows how", False, ("entry point b (b:B)",), None, None),
    Listing("demo", "entry point of b", None, "", False, (), "home /home/you/demo", None),
    Listing("od\x1b[31md", "home", "/home/you/odd", "", False, (), None, "its name is not allowed"),
]


class Compressor(ContextEngine):
    name = BUILT_IN
    api = 1

    def update_from_response(self, usage: dict[str, Any]) -> None: ...
    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return False

    def compress(self, messages: list[Any], *_: Any, **__: Any) -> list[Any]:
        return messages


def make(factory: EngineFactory) -> ContextEngine:
    return Compressor()


def places(home: Path, configured: str = BUILT_IN) -> Places:
    return Places({BUILT_IN: lambda services: Compressor()}, configured, home=home, entry_points=list)


def plant(home: Path, source: str, name: str = "demo") -> None:
    (home / name).mkdir()
    (home / name / "__init__.py").write_text(source)


def test_plain_text_is_one_line_an_engine_aligned_and_uncut() -> None:
    assert plain_lines(LISTINGS) == [
        "   ENGINE       SOURCE            PATH            NOTES",
        "*  compressor   built-in          -",
        "   demo         home              /home/you/demo  hides entry point b (b:B); shows how",
        "   demo         entry point of b  -               hidden by home /home/you/demo",
        "   od\\x1b[31md  home              /home/you/odd   cannot load: its name is not allowed",
    ]


def test_a_pipe_gets_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_listings(LISTINGS)
    assert capsys.readouterr().out.splitlines() == plain_lines(LISTINGS)


def test_json_holds_the_same_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path, "def broken(:")
    show_engines(places(tmp_path), as_json=True)
    built_in, demo = json.loads(capsys.readouterr().out)
    assert (built_in["name"], built_in["configured"], built_in["cannot_load"]) == (BUILT_IN, True, None)
    assert (demo["name"], demo["source"], demo["path"]) == ("demo", "home", str(tmp_path / "demo"))
    assert "syntax error" in demo["cannot_load"]
    assert set(demo) == {"name", "source", "path", "description", "configured", "shadows", "shadowed_by", "cannot_load"}


def test_a_configured_engine_that_is_not_there_is_told_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path, "", "demo")
    show_engines(places(tmp_path, "dmo"), as_json=False)
    printed = capsys.readouterr()
    assert "'dmo'" in printed.err and "'demo'" in printed.err and "*" not in printed.out


@pytest.mark.parametrize("as_json", [True, False])
def test_check_says_that_an_engine_works(tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    assert show_check(BUILT_IN, places(tmp_path), make, as_json=as_json, verbose=False)
    printed = capsys.readouterr()
    assert BUILT_IN in printed.out and printed.err == ""


@pytest.mark.parametrize("name", ["demo", "dem", "../demo"])
def test_check_says_why_an_engine_does_not_work(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    plant(tmp_path, "raise RuntimeError('boom')")
    assert not show_check(name, places(tmp_path), make, as_json=False, verbose=False)
    printed = capsys.readouterr()
    assert repr(name) in printed.err and "Traceback" not in printed.err and printed.out == ""
    assert not show_check(name, places(tmp_path), make, as_json=True, verbose=False)
    facts = json.loads(capsys.readouterr().out)
    assert (facts["engine_requested"], facts["engine_used"]) == (name, None) and facts["reason"]


def test_check_shows_the_plugins_traceback_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path, "def inner(): raise RuntimeError('boom')\ninner()")
    assert not show_check("demo", places(tmp_path), make, as_json=False, verbose=True)
    assert "in inner" in capsys.readouterr().err


def test_the_group_holds_list_and_check() -> None:
    assert sorted(engines.commands) == ["check", "list"]
