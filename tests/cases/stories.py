"""The driver of cases that are told as steps."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cases import story_faults, story_processes, story_talk, story_turns
from tests.cases.case import Case
from tests.cases.facts import Facts, NoDriver
from tests.cases.story import Steps, play

STEPS: Steps = (*story_turns.STEPS, *story_processes.STEPS, *story_faults.STEPS, *story_talk.STEPS)
RESTART = re.compile(r"^restart$", re.IGNORECASE)
SAME = "same as without a restart"


def tell(case: Case, folder: Path) -> Facts:
    """The steps one after the other; with a restart among them also without it, for comparison."""
    steps = case.input["steps"]
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise NoDriver(f"no driver reads {steps!r} as steps")
    _, facts = play(folder / "home", steps, STEPS)
    if any(map(RESTART.match, steps)):
        _, through = play(folder / "without-restart", [step for step in steps if not RESTART.match(step)], STEPS)
        facts["head_policy_after_restart"] = SAME if facts["outline"] == through["outline"] else f"another window: {facts['outline']}"
    return facts
