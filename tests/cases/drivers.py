"""Which driver runs a case: by its kind and by what its input holds, never by its id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cases import pairing, plugins, tokens
from tests.cases.case import Case
from tests.cases.facts import Facts, NoDriver

Drive = Callable[[Case, Path], Facts]
"""Runs the product on a case; the folder is empty and goes away afterwards."""


@dataclass(frozen=True)
class Driver:
    """A row: a case of this kind whose input holds one of the keys (a key that ends with ``.`` is a beginning)."""

    kind: str
    any_of: tuple[str, ...]
    drive: Drive

    def takes(self, case: Case) -> bool:
        """Whether this driver is meant."""
        return self.kind == case.kind and any(
            key.startswith(wanted) if wanted.endswith(".") else key == wanted for wanted in self.any_of for key in case.input
        )


DRIVERS: tuple[Driver, ...] = (
    Driver("tokens", ("env",), tokens.count_offline),
    Driver("tokens", ("text",), tokens.count_text),
    Driver("tokens", (*tokens.USAGE_KEYS, "last_prompt_tokens", "estimated", "prompt_eval_count"), tokens.decide),
    Driver("tokens", ("messages",), tokens.count_request),
    Driver("tokens", ("context_length",), tokens.find_thresholds),
    Driver("pairing", ("messages",), pairing.repair),
    Driver("plugin", ("returns",), plugins.junk),
    Driver("plugin", ("plugin_source", "plugin_dir", "engine.name"), plugins.directory),
    Driver("plugin", ("engine.",), plugins.called_with),
    Driver("plugin", ("engine",), plugins.children),
    Driver("plugin", ("plugins",), plugins.rivals),
    Driver("plugin", ("files",), plugins.misplaced),
    Driver("plugin", ("plugin",), plugins.by_words),
    Driver("plugin", ("config",), plugins.named),
)
"""The first row that takes a case runs it."""


def driver_of(case: Case) -> Driver:
    """The driver of a case; NoDriver where there is none."""
    for driver in DRIVERS:
        if driver.takes(case):
            return driver
    if not any(driver.kind == case.kind for driver in DRIVERS):
        raise NoDriver(f"no driver for kind {case.kind}")
    raise NoDriver(f"no driver for a {case.kind} case with {', '.join(case.input) or 'an empty input'}")
