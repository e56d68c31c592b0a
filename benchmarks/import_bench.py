"""From an empty home to the first hit: ``ctxhost import``, then ``ctxhost grep``. ``python -m benchmarks.import_bench``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

from benchmarks.columns import aligned
from benchmarks.process import ROOT, time_command
from benchmarks.sessions_generator import MEGABYTE, Generated, generate
from host.app.stores import open_archive

MEGABYTES = 100
SLOWEST = 60.0  # seconds from an empty home to the first hit
PAUSE = 0.2  # seconds between two looks while the import is running
INSTALL_SECONDS = 600
NOT_MEASURED = "not measured"
CLIENT = ("--from", "claude-code")


@dataclass(frozen=True)
class Line:
    """One figure."""

    name: str
    value: str
    aim: str = "-"
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """The line as texts."""
        return self.name, self.value, self.aim, {True: "yes", False: "NO", None: "-"}[self.met]


HEADINGS = ("", "value", "aim", "met")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; 1 where the aim is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.import_bench", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=MEGABYTES, help="of session files")
    parser.add_argument("--folder", type=Path, help="where everything is made for the time (about six times the megabytes)")
    parser.add_argument("--no-install", action="store_true", help="leave out the installation into an empty environment")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        home = Path(folder).resolve()
        made = generate(home, given.megabytes)
        print(f"{made}; looking for {made.value!r}\n", file=sys.stderr)
        lines = [*two_commands(home, made), *while_importing(home, made), *([] if given.no_install else [installed(home)])]
    print(table(lines))
    return int(any(line.met is False for line in lines))


def two_commands(home: Path, made: Generated) -> list[Line]:
    """The two commands one after the other, what came of them, and the import of nothing new."""
    env = surroundings(home, home / "first")
    before = processor_seconds()
    importing = time_command(ctxhost("import", *CLIENT), env)
    busy = processor_seconds() - before
    finding = time_command(ctxhost("grep", made.value), env)  # its status is 1 where nothing is found: that ends the run
    again = time_command(ctxhost("import", *CLIENT), env)
    rows, file_bytes = archived(home / "first")
    both = importing + finding
    return [
        Line("import", f"{importing:.1f} s"),
        Line("import, on a processor", f"{busy:.1f} s"),
        Line("grep, hit found", f"{finding:.2f} s"),
        Line("empty home to first hit", f"{both:.1f} s", f"< {SLOWEST:.0f} s", both < SLOWEST),
        Line("import, nothing new", f"{again:.2f} s"),
        Line("messages", f"{rows:,}"),
        Line("messages a second", f"{rows / importing:,.0f}"),
        Line("MB a second", f"{made.bytes / MEGABYTE / importing:.1f}"),
        Line("bytes of the archive for a byte of sessions", f"{file_bytes / made.bytes:.2f}"),
    ]


def while_importing(home: Path, made: Generated) -> list[Line]:
    """How soon a second process can find something while the first still imports into another empty home."""
    env = surroundings(home, home / "second")
    start = perf_counter()
    running = subprocess.Popen(ctxhost("import", *CLIENT), env=env, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    first: float | None = None
    while first is None and running.poll() is None:
        found = subprocess.run(ctxhost("grep", made.value), env=env, cwd=home, capture_output=True, check=False).returncode == 0
        first = perf_counter() - start if found else None
        sleep(PAUSE)
    running.wait()
    ended = perf_counter() - start
    value = f"{first:.1f} s of {ended:.1f} s" if first is not None else f"not before its end after {ended:.1f} s"
    return [Line("first hit while importing", value, "before its end", first is not None)]


def installed(home: Path) -> Line:
    """Seconds of ``pip install`` from the checkout into an empty environment, where an index answers."""
    python = home / "venv" / "bin" / "python"
    name = "pip install into an empty venv"
    try:
        subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], capture_output=True, check=True, timeout=INSTALL_SECONDS)
        start = perf_counter()
        command = [str(python), "-m", "pip", "install", "--quiet", str(ROOT)]
        subprocess.run(command, capture_output=True, check=True, timeout=INSTALL_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return Line(name, NOT_MEASURED)
    return Line(name, f"{perf_counter() - start:.1f} s")


def ctxhost(*arguments: str) -> list[str]:
    """The command as it is run here."""
    return [sys.executable, "-m", "host", *arguments]


def surroundings(home: Path, archive: Path) -> Mapping[str, str]:
    """The environment of somebody whose home folder is this, and who never used ctxhost or changed a client's folders."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CTXHOST_", "CLAUDE_", "CODEX_", "XDG_"))}
    return {
        **kept,
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "CTXHOST_HOME": str(archive),
        "HERMES_HOME": str(home),  # where ``time_command`` runs
        "NO_COLOR": "1",
    }


def processor_seconds() -> float:
    """What the processes that have ended took of a processor: the clock on the wall counts the neighbours, too."""
    times = os.times()
    return times.children_user + times.children_system


def archived(folder: Path) -> tuple[int, int]:
    """Messages and bytes of an archive."""
    store = open_archive(folder)
    try:
        names = {session.conversation for session in store.sessions.listed()}
        messages = sum(len(store.archive(name).current()) for name in names)
        return messages, store.path.stat().st_size
    finally:
        store.close()


def table(lines: Sequence[Line]) -> str:
    """The lines under their headings, columns aligned."""
    return "\n".join(aligned(HEADINGS, [line.cells() for line in lines]))


if __name__ == "__main__":
    raise SystemExit(main())
