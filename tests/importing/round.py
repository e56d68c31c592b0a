"""Import everything twice and hold the archive against the raw files. ``python -m tests.importing.round [PATH ...]``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from host.app.stores import open_archive
from tests.importing.oracle import Checked, check, counts
from tests.importing.raw_files import Talk, talks_in

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
CODES = (0, 1)  # all is well, or files that hold no conversation were named


@dataclass(frozen=True)
class Round:
    """What two imports of the same paths left behind. ``first`` and ``second`` count conversations, rows and views."""

    checked: Checked
    first: tuple[int, int, int]
    second: tuple[int, int, int]
    seconds: tuple[float, float]
    said: tuple[str, str]


def import_twice(home: Path, paths: Sequence[Path], talks: Sequence[Talk]) -> Round:
    """Run the command twice as a user would, and look at the archive after each."""
    first_seconds, first_said = imported(home, paths)
    first, checked = _looked_at(home, talks)
    second_seconds, second_said = imported(home, paths)
    store = open_archive(home)
    try:
        return Round(checked, first, counts(store), (first_seconds, second_seconds), (first_said, second_said))
    finally:
        store.close()


def imported(home: Path, paths: Sequence[Path], *more: str) -> tuple[float, str]:
    """Seconds and output of one ``ctxhost import``, in a process of its own with a home folder of its own."""
    command = [sys.executable, "-m", "host", "--home", str(home), "import", *more, *map(str, paths)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CTXHOST_", "OPENAI_", "CLAUDE_", "CODEX_"))}
    start = time.perf_counter()
    done = subprocess.run(
        command, env={**kept, "HOME": str(home), "PYTHONPATH": str(ROOT)}, cwd=home, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode in CODES, f"status {done.returncode}:\n{said[-4_000:]}"
    return time.perf_counter() - start, said


def _looked_at(home: Path, talks: Sequence[Talk]) -> tuple[tuple[int, int, int], Checked]:
    store = open_archive(home)
    try:
        return counts(store), check(store, talks)
    finally:
        store.close()


def main(arguments: Sequence[str]) -> int:
    """Run, print every difference; 1 where there is one."""
    paths = [Path(argument).resolve() for argument in arguments] or [DATA.resolve()]
    with tempfile.TemporaryDirectory() as folder:
        found = import_twice(Path(folder), paths, talks_in(*paths))
    print(*found.said, sep="\n--\n")
    print(*found.checked.differences, sep="\n")
    print(f"{found.checked}\nconversations, rows, views: {found.first}, again: {found.second}")
    print(f"{found.seconds[0]:.1f} s, again {found.seconds[1]:.1f} s")
    return int(bool(found.checked.differences) or found.first != found.second)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
