"""One case from its driver to the verdict."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tests.cases.case import Case
from tests.cases.drivers import Drive, driver_of
from tests.cases.expectations import misses
from tests.cases.facts import Facts, Miss, NoCheck, NoDriver
from tests.issues import DONE


@dataclass(frozen=True)
class Verdict:
    """What became of a case: skipped where there is a reason, failed where something was missed, else passed."""

    case: Case
    missed: tuple[Miss, ...] = ()
    skipped: str = ""

    @property
    def outcome(self) -> str:
        """In one word."""
        return "skipped" if self.skipped else "failed" if self.missed else "passed"


def run_case(case: Case, done: Collection[int] = DONE) -> Verdict:
    """Run a case of an issue that is done; what the product raises counts as seen, not as an error of the runner."""
    if case.issue not in done:
        return Verdict(case, skipped=f"needs issue {case.issue}")
    try:
        driver = driver_of(case)
        with tempfile.TemporaryDirectory(prefix="ctxhost-case-") as folder:
            return Verdict(case, tuple(misses(case.expected, _facts(driver.drive, case, Path(folder)))))
    except (NoDriver, NoCheck) as unknown:
        return Verdict(case, skipped=str(unknown))


def _facts(drive: Drive, case: Case, folder: Path) -> Facts:
    try:
        return {"raises": False, **drive(case, folder)}
    except (KeyboardInterrupt, NoDriver):
        raise
    except BaseException as error:  # noqa: BLE001  the product at work, and plugins in it: the error is what the case is about
        return {"raises": f"{type(error).__name__}: {error}", "process_exits": True}
