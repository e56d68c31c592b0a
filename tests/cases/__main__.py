"""The command: ``python -m tests.cases FILE.jsonl [--kind K] [--id C001]``.

Exit status: 0 nothing failed, 1 a case failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.cases.case import BadFile, Case, read_cases
from tests.cases.run import Verdict, run_case

OUTCOMES = ("passed", "failed", "skipped")
LONGEST_VALUE = 600  # characters
IDS_SHOWN = 12


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases of a file and print what became of them."""
    asked = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        cases = chosen(read_cases(asked.file), asked.kind, asked.id)
    except BadFile as error:
        print(error, file=sys.stderr)
        return 2
    verdicts: list[Verdict] = []
    for case in cases:
        verdicts.append(run_case(case))
        print_failure(verdicts[-1])
    print_skipped(verdicts)
    print_counts(verdicts)
    return 1 if any(verdict.missed for verdict in verdicts) else 0


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(prog="python -m tests.cases", description="Run cases from public bug reports.")
    made.add_argument("file", type=Path, metavar="FILE.jsonl", help="one case a line")
    made.add_argument("--kind", help="only cases of this kind")
    made.add_argument("--id", help="only the case with this id")
    return made


def chosen(cases: list[Case], kind: str | None, id: str | None) -> list[Case]:
    """The cases that are asked for; BadFile where there is none."""
    found = [case for case in cases if kind in (None, case.kind) and id in (None, case.id)]
    if found or not (kind or id):
        return found
    wanted = " and ".join(f"{name} {value!r}" for name, value in (("kind", kind), ("id", id)) if value)
    raise BadFile(f"no case has {wanted}; the kinds are {', '.join(sorted({case.kind for case in cases}))}")


def print_failure(verdict: Verdict) -> None:
    """A line for a failed case: what was expected of it and not met, and what was got instead."""
    if verdict.missed:
        expected = shown({miss.key: miss.expected for miss in verdict.missed})
        print(f"{verdict.case.id} {verdict.case.kind}: expected {expected}, got {shown({miss.key: miss.got for miss in verdict.missed})}")


def print_skipped(verdicts: Sequence[Verdict]) -> None:
    """A line for each reason, with the ids."""
    for reason in sorted({verdict.skipped for verdict in verdicts} - {""}):
        ids = [verdict.case.id for verdict in verdicts if verdict.skipped == reason]
        more = f" and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
        print(f"skipped, {reason}: {' '.join(ids[:IDS_SHOWN])}{more}")


def print_counts(verdicts: Sequence[Verdict]) -> None:
    """What became of each kind, then of all."""
    for kind in sorted({verdict.case.kind for verdict in verdicts}):
        print(f"{kind}: {counted([verdict for verdict in verdicts if verdict.case.kind == kind])}")
    print(counted(verdicts))


def counted(verdicts: Sequence[Verdict]) -> str:
    """``N passed, N failed, N skipped``."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES)


def shown(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}... ({len(text)} characters)"


if __name__ == "__main__":
    sys.exit(main())
