"""The reference in an environment of its own: measured, never imported, no dependency of anything here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.failure import BenchmarkError

REQUIREMENT = "hermes-agent==0.19.0"
STAMP = "requirement.txt"  # written last: an environment without it is half made


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.program("python")

    def program(self, name: str) -> Path:
        """A command that was installed into it."""
        where, suffix = ("Scripts", ".exe") if sys.platform == "win32" else ("bin", "")
        return self.folder / where / (name + suffix)

    @property
    def holds(self) -> str:
        """The requirement it was made for, empty where it is not whole."""
        try:
            return (self.folder / STAMP).read_text(encoding="utf-8")
        except OSError:
            return ""


def environment(folder: Path) -> Environment:
    """The reference's environment in this folder, made where it is missing, half made or of another version."""
    made = Environment(folder)
    if made.holds == REQUIREMENT and made.python.exists():
        return made
    print(f"making an environment for {REQUIREMENT} in {folder}", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run(sys.executable, "-m", "venv", str(folder))
    _run(str(made.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", REQUIREMENT)
    (folder / STAMP).write_text(REQUIREMENT, encoding="utf-8")
    return made


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}".rstrip(), "see that pip can reach a package index")
