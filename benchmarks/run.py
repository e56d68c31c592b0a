"""Compare ctxhost with the reference: both in turns, in one run, as ratios. Writes benchmarks/results.json."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.failure import BenchmarkError
from benchmarks.figures import Aim, Figure, Growth, Line, table
from benchmarks.process import ROOT, Worker, surroundings, time_command
from benchmarks.reference import REQUIREMENT, Environment, environment
from host.testing.messages import big_session

KEPT = ROOT / ".bench"  # git-ignored: the reference's environment, conversations, homes
RESULTS = ROOT / "benchmarks" / "results.json"

ROUNDS = {100: 15, 1_000: 9, 10_000: 5}
"""Messages of a conversation -> how often each side compresses it."""

TURNS = 20
HELD = 90  # messages that are left for the turns
STARTS = 12

COLD, WARM, TURN = Aim(ratio=1.0), Aim(ratio=0.2), Aim(ratio=0.01)
HELP = Aim(ratio=0.3, seconds=0.15)
LINEAR = Aim(growth=12)  # ten times the messages in ten times the time, and a fifth for the noise of two medians

Take = Callable[[], float]
"""Takes one sample, in seconds."""


@dataclass(frozen=True)
class Bench:
    """The processes that are measured, and what they run in."""

    ours: Worker
    reference: Worker
    alone: Worker  # the reference, without a summary model
    hermes: Environment
    our_env: Mapping[str, str]
    its_env: Mapping[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; 1 where an aim is missed or nothing could be measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", choices=sorted(ROUNDS), default=sorted(ROUNDS), help="messages (all three)")
    sizes = sorted(set(parser.parse_args(arguments).sizes))
    try:
        lines = measured(sizes)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"\n{table(lines)}\n\n{conditions()}")
    document = {"conditions": conditions(), "lines": [line.as_json() for line in lines]}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 1 if any(line.met is False for line in lines) else 0


def measured(sizes: Sequence[int]) -> list[Line]:
    """All lines of the table."""
    hermes, here = environment(KEPT / "hermes"), Path(sys.executable)
    ours, its = surroundings(KEPT / "home" / "ctxhost", checkout=True), surroundings(KEPT / "home" / "reference", checkout=False)
    with ExitStack() as stack:
        bench = Bench(
            ours=stack.enter_context(Worker("ctxhost", here, ours)),
            reference=stack.enter_context(Worker("reference", hermes.python, its)),
            alone=stack.enter_context(Worker("reference alone", hermes.python, its)),
            hermes=hermes,
            our_env=ours,
            its_env=its,
        )
        files = {size: conversation(size) for size in sizes}
        compressed = [compressions(bench, size, file) for size, file in files.items()]
        turns = turn(bench, sizes[-1], files[sizes[-1]])
    by_kind = list(zip(*compressed, strict=True))
    return [
        *(line for kind in by_kind for line in kind),
        *(growth(*kind[-2:]) for kind in by_kind[:2] if len(kind) > 1),
        turns,
        *starts(bench),
    ]


def conversation(size: int) -> Path:
    """The file of a conversation: a coding session with tools, the same at every run."""
    file = KEPT / f"conversation-{size}.json"
    file.write_text(json.dumps(big_session(size), ensure_ascii=False), encoding="utf-8")
    return file


def compressions(bench: Bench, size: int, file: Path) -> tuple[Figure, ...]:
    """The same list compressed cold and warm, against the reference with a model that answers at once and without any."""
    cold, reference, warm, alone = in_turns(
        ROUNDS[size],
        f"compress {size:,} messages",
        partial(compress, bench.ours, file, warm=False),
        partial(compress, bench.reference, file, warm=False),
        partial(compress, bench.ours, file, warm=True),
        partial(compress, bench.alone, file, warm=False),
    )
    return (
        Figure(f"compress {size:,} cold", cold, reference, COLD),
        Figure(f"compress {size:,} warm", warm, reference, WARM),
        Figure(f"compress {size:,} cold, neither with a model", cold, alone),
        Figure(f"compress {size:,} warm, neither with a model", warm, alone),
    )


def compress(worker: Worker, file: Path, *, warm: bool) -> float:
    """Seconds of one compaction; one that compacted nothing is no sample."""
    answer = worker.ask("compress", file=str(file), warm=warm)
    if answer["after"] >= answer["before"]:
        raise BenchmarkError(
            f"{worker.side} left all {answer['before']} messages as they were", "nothing was measured: look at its compress"
        )
    return float(answer["seconds"])


def growth(small: Figure, large: Figure) -> Growth:
    """How the time grows from one size to the next."""
    return Growth(f"growth, {small.name.removeprefix('compress ')} to {large.name.removeprefix('compress ')}", small, large, LINEAR)


def turn(bench: Bench, size: int, file: Path) -> Figure:
    """A turn in which nothing is compacted, against the reference's estimate."""
    for worker in (bench.ours, bench.reference):
        worker.ask("accept", file=str(file), held=HELD)
    ours, reference = in_turns(TURNS, f"turns at {size:,} messages", partial(one_turn, bench.ours), partial(one_turn, bench.reference))
    return Figure(f"a turn at {size:,}", ours, reference, TURN if size == max(ROUNDS) else Aim())


def one_turn(worker: Worker) -> float:
    """Seconds of one turn."""
    return float(worker.ask("turn")["seconds"])


def starts(bench: Bench) -> list[Figure]:
    """``--help`` from nothing to its end, as a module and as a script."""
    script = Path(sys.executable).with_name("ctxhost")
    module, installed, hermes = in_turns(
        STARTS,
        "--help",
        partial(time_command, [sys.executable, "-m", "host", "--help"], bench.our_env),
        partial(time_command, [str(script), "--help"], bench.our_env),
        partial(time_command, [str(bench.hermes.program("hermes")), "--help"], bench.its_env),
    )
    return [Figure("python -m host --help", module, hermes, HELP), Figure("ctxhost --help", installed, hermes, HELP)]


def in_turns(rounds: int, name: str, *takes: Take) -> list[list[float]]:
    """Samples of each, taken A B C A B C; a first round warms files and code and is not counted."""
    print(f"{name}: {rounds} rounds", file=sys.stderr)
    for take in takes:
        take()
    samples: list[list[float]] = [[] for _ in takes]
    for _ in range(rounds):
        for kept, take in zip(samples, takes, strict=True):
            kept.append(take())
    return samples


def conditions() -> str:
    """What was compared, on what."""
    return (
        f"medians (least to most); reference: {REQUIREMENT}; window 200,000 tokens; "
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} CPUs"
    )


if __name__ == "__main__":
    raise SystemExit(main())
