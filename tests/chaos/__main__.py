"""The long runs: ``python -m tests.chaos kill|wal|soak``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.killing import killer_loop
from tests.chaos.soak import soak
from tests.chaos.wal import cuts, faults_of, written


def main() -> int:
    """Run one kind of chaos; exit status 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["kill", "wal", "soak"])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--verify-each", type=int, default=10)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--sessions", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0)
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        line, faults = RUNS[given.kind](Path(folder), given)
    print(f"{line}, {len(faults)} faults, {time.monotonic() - started:.0f} s")
    for fault in faults[:20]:
        print(f"  {fault}")
    return 1 if faults else 0


def run_kill(folder: Path, given: argparse.Namespace) -> tuple[str, list[str]]:
    known, faults = killer_loop(folder / "home", given.runs, verify_each=given.verify_each)
    return f"kill: {known.deaths} deaths, {len(known.digests):,} acknowledged messages, {known.version} views", faults


def run_wal(folder: Path, given: argparse.Namespace) -> tuple[str, list[str]]:
    digests = written(folder / "home", given.turns)
    faults, seen, places = list[str](), set[int](), 0
    for number, cut in cuts(folder / "copied"):
        rows, found = faults_of(cut, digests)
        seen.add(rows)
        places += 1
        faults += [f"cut after frame {number}: {fault}" for fault in found]
    return f"wal: {places} cuts, between {min(seen)} and {max(seen)} of {len(digests)} messages left", faults


def run_soak(folder: Path, given: argparse.Namespace) -> tuple[str, list[str]]:
    done = soak(folder / "home", given.processes, given.sessions, given.seconds)
    counts = f"{done.messages:,} messages, {done.versions} views, {done.compactions} by hand, {done.searches} searches"
    return f"soak: {given.processes} processes on {given.sessions} sessions, {counts}", list(done.faults)


RUNS = {"kill": run_kill, "wal": run_wal, "soak": run_soak}


if __name__ == "__main__":
    sys.exit(main())
