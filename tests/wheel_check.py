"""Build the wheel, install it into an empty environment, and use it from a folder outside the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = "host/_bundled/plugins"
WANTED = (
    "host/py.typed",
    f"{PLUGINS}/context_engine/README.md",
    f"{PLUGINS}/memory/__init__.py",
    f"{PLUGINS}/workspace/__init__.py",
)
OFFERED = """
from pathlib import Path
from host.discovery import Places, bundled_engines, load_plugins
from host.plugin import Place
enabled = frozenset({"memory", "workspace"})
tools = load_plugins(Places({}, bundled=bundled_engines(), enabled=enabled), print).tools(Place(Path(), Path()))
assert {tool.name for _, tool in tools} == {"memory", "list_files", "read_file", "search_files"}, tools
"""
RECORDING = str(ROOT / "examples" / "claude-code.jsonl")
COMMANDS = (
    ["engines"],
    ["engines", "--json"],
    ["demo"],
    ["--version"],
    ["import", RECORDING],
    ["grep", "the"],
    ["mcp", "connect", "codex"],
)


def main() -> None:
    """Exit with the first thing that does not work."""
    with tempfile.TemporaryDirectory() as folder:
        outside = Path(folder)
        wheel = build(outside)
        names = zipfile.ZipFile(wheel).namelist()
        missing = [name for name in WANTED if name not in names]
        stray = sorted({name.split("/")[0] for name in names if not name.startswith(("host/", "ctxhost-"))})
        if missing or stray:
            sys.exit(f"the wheel lacks {missing}, and holds at its top level {stray}")
        use(install(outside, wheel), outside)
    print("wheel: installed into an empty environment, its commands ran")


def build(folder: Path) -> Path:
    """The wheel of this checkout."""
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)], folder)
    return next(folder.glob("*.whl"))


def install(folder: Path, wheel: Path) -> Path:
    """The bin folder of a new environment that holds the wheel alone."""
    bin_folder = folder / "venv" / "bin"
    pinned = ["-c", str(ROOT / "constraints.txt"), str(wheel)]
    if uv := shutil.which("uv"):
        run([uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv")], folder)
        run([uv, "pip", "install", "--quiet", "--python", str(bin_folder / "python"), *pinned], folder)
    else:
        run([sys.executable, "-m", "venv", str(folder / "venv")], folder)
        run([str(bin_folder / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pinned], folder)
    return bin_folder


def use(bin_folder: Path, folder: Path) -> None:
    """The commands of COMMANDS, from a folder with nothing in it."""
    empty = folder / "empty"
    empty.mkdir()
    for command in COMMANDS:
        run([str(bin_folder / "ctxhost"), "--home", str(folder / "home"), *command], empty)
    run([str(bin_folder / "python"), "-c", OFFERED], empty)


def run(command: list[str], folder: Path) -> None:
    """Run a command; its output is shown only if it fails."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("CTXHOST_", "PYTHONPATH"))}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed with {done.returncode}\n{done.stdout}\n{done.stderr}")


if __name__ == "__main__":
    main()
