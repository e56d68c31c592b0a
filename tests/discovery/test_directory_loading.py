"""A directory plugin is loaded by its path, and leaves no trace if it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from host.discovery.foreign import LONGEST_CAUSE, Unusable
from host.discovery.loading import load_directory, module_name


def write(folder: Path, **sources: str) -> Path:
    folder.mkdir(parents=True)
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    return folder


def traces(folder: Path) -> list[str]:
    return [name for name in sys.modules if name.startswith(module_name(folder))]


def test_relative_imports_work_without_an_edit_of_sys_path(tmp_path: Path) -> None:
    folder = write(tmp_path / "my-engine.v2", __init__="from .part import VALUE\nfrom . import part", part="VALUE = 7")
    before = list(sys.path)
    module = load_directory(folder)
    assert (module.VALUE, module.part.VALUE) == (7, 7)
    assert sys.path == before


def test_two_folders_of_one_name_are_two_modules(tmp_path: Path) -> None:
    first = load_directory(write(tmp_path / "a" / "demo", __init__="VALUE = 1"))
    second = load_directory(write(tmp_path / "b" / "demo", __init__="VALUE = 2"))
    assert (first.VALUE, second.VALUE) == (1, 2)


def test_a_folder_is_imported_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "demo", __init__="from pathlib import Path\nwith open(__file__ + '.log', 'a') as f: f.write('x')")
    assert load_directory(folder) is load_directory(folder)
    assert (folder / "__init__.py.log").read_text() == "x"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import no_such_module_anywhere", "No module named 'no_such_module_anywhere'"),
        ("def broken(:", "__init__.py:1"),
        ("x = '\\0".replace("\\0", "\0"), "SyntaxError"),
        ("raise RuntimeError('a\\nb\\x1b[31m')", "RuntimeError: a b\\x1b[31m"),
        ("class E(Exception):\n def __str__(self): raise ValueError\nraise E", "E:"),
        ("raise RuntimeError('y' * 5000)", "..."),
        ("def f(): f()\nf()", "RecursionError"),
    ],
)
def test_a_failed_import_is_told_in_one_line_and_leaves_no_module(tmp_path: Path, source: str, cause: str) -> None:
    folder = write(tmp_path / "demo", __init__=f"from . import part\n{source}" if "broken" not in source else source, part="")
    with pytest.raises(Unusable) as caught:
        load_directory(folder)
    text = str(caught.value)
    assert text.startswith("its import raised ") and cause in text
    assert text.isprintable() and len(text) < LONGEST_CAUSE + 50
    assert traces(folder) == []


def test_an_interrupted_import_passes_the_interrupt_on_and_leaves_no_module(tmp_path: Path) -> None:
    folder = write(tmp_path / "demo", __init__="raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load_directory(folder)
    assert traces(folder) == []


def test_a_mended_plugin_can_be_loaded_after_it_failed(tmp_path: Path) -> None:
    folder = write(tmp_path / "demo", __init__="raise RuntimeError('boom')")
    with pytest.raises(Unusable):
        load_directory(folder)
    (folder / "__init__.py").write_text("VALUE = 1")
    assert load_directory(folder).VALUE == 1
