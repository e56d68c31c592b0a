"""The other end of a worker's pipe, and commands that are timed as a whole."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import IO, Any

from benchmarks.failure import BenchmarkError

ROOT = Path(__file__).parents[1]
WORKER = ROOT / "benchmarks" / "worker.py"


def surroundings(home: Path, *, checkout: bool) -> dict[str, str]:
    """The environment of a measured process: homes of its own, and the checkout on its path only where it is ours."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONPROFILEIMPORTTIME")}
    home.mkdir(parents=True, exist_ok=True)
    path = {"PYTHONPATH": str(ROOT)} if checkout else {}
    return {**kept, **path, "HERMES_HOME": str(home), "CTXHOST_HOME": str(home), "NO_COLOR": "1"}


class Worker:
    """One side in a process of its own. ``seconds`` of an answer were taken there."""

    def __init__(self, side: str, python: Path, env: Mapping[str, str]) -> None:
        self.side = side
        self._said: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  closed with the worker
        self._process = subprocess.Popen(
            [str(python), "-P", str(WORKER), side],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=dict(env),
            cwd=env["HERMES_HOME"],
            encoding="utf-8",
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.terminate()
        self._process.communicate()
        self._said.close()

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(json.dumps([command, arguments]), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise self._ended(command) from None
        answer = self._process.stdout.readline()
        if not answer:
            raise self._ended(command)
        answered: dict[str, Any] = json.loads(answer)
        return answered

    def _ended(self, command: str) -> BenchmarkError:
        self._process.wait()
        self._said.seek(0)
        return BenchmarkError(f"the {self.side} worker ended at {command!r}:\n{self._said.read()[-4_000:]}", "the traceback is above")


def time_command(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds from the start of a command to its end."""
    started = perf_counter()
    done = subprocess.run(command, env=dict(env), cwd=env["HERMES_HOME"], capture_output=True, text=True, check=False)
    seconds = perf_counter() - started
    if done.returncode:
        raise BenchmarkError(f"{' '.join(command)} failed:\n{done.stderr[-2_000:]}", "run it by hand to see why")
    return seconds
