"""Which driver runs a case: by its kind and by what its input holds, never by its id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cases import (
    crowds,
    keeping,
    overrunning,
    pairing,
    picturing,
    plugins,
    recalling,
    searching,
    secrets,
    stories,
    summarising,
    tokens,
)
from tests.cases.case import Case
from tests.cases.facts import Facts, NoDriver

Drive = Callable[[Case, Path], Facts]
"""Runs the product on a case; the folder is empty and goes away afterwards."""


@dataclass(frozen=True)
class Driver:
    """A row: a case of one of the kinds whose input holds one of the keys (a key that ends with ``.`` is a beginning)."""

    kinds: tuple[str, ...]
    any_of: tuple[str, ...]
    drive: Drive

    def takes(self, case: Case) -> bool:
        """Whether this driver is meant."""
        return case.kind in self.kinds and any(
            key.startswith(wanted) if wanted.endswith(".") else key == wanted for wanted in self.any_of for key in case.input
        )


TOKENS, PAIRING, PLUGIN, KEPT = ("tokens",), ("pairing",), ("plugin",), ("search", "archive", "storage")
SUMMARIZER, IMAGES, SECRETS = ("summarizer",), ("images",), ("secrets",)
DRIVERS: tuple[Driver, ...] = (
    Driver(TOKENS, ("env",), tokens.count_offline),
    Driver(TOKENS, ("text",), tokens.count_text),
    Driver(TOKENS, (*tokens.USAGE_KEYS, "last_prompt_tokens", "estimated", "prompt_eval_count"), tokens.decide),
    Driver(TOKENS, ("messages",), tokens.count_request),
    Driver(TOKENS, ("context_length",), tokens.find_thresholds),
    Driver(PAIRING, ("messages",), pairing.repair),
    Driver(PLUGIN, ("returns",), plugins.junk),
    Driver(PLUGIN, ("plugin_source", "plugin_dir", "engine.name"), plugins.directory),
    Driver(PLUGIN, ("engine.",), plugins.called_with),
    Driver(PLUGIN, ("engine",), plugins.children),
    Driver(PLUGIN, ("plugins",), plugins.rivals),
    Driver(PLUGIN, ("files",), plugins.misplaced),
    Driver(PLUGIN, ("plugin",), plugins.by_words),
    Driver(PLUGIN, ("config",), plugins.named),
    Driver(KEPT, ("sessions",), recalling.scoped),
    Driver(KEPT, ("lcm_grep_args", "lcm_expand_args"), recalling.called),
    Driver(KEPT, ("id",), recalling.resolved),
    Driver(KEPT, ("lcm_grep",), searching.search),
    Driver(KEPT, ("message",), keeping.one_message),
    Driver(KEPT, ("messages",), keeping.many_messages),
    Driver(KEPT, ("rows",), keeping.delivered_twice),
    Driver(KEPT, ("threads", "processes"), crowds.crowd),
    Driver(KEPT, ("steps",), stories.tell),
    Driver(SUMMARIZER, ("messages",), summarising.summarise),
    Driver(SUMMARIZER, ("previous_summary",), summarising.nothing_new),
    Driver(SUMMARIZER, ("summary",), summarising.stale),
    Driver(SUMMARIZER, ("rounds",), summarising.growing),
    Driver(SUMMARIZER, ("context_length",), overrunning.stranded),
    Driver(IMAGES, ("messages",), picturing.compacted),
    Driver(SECRETS, ("texts",), secrets.passed_on),
    Driver(SECRETS, ("middle_contains",), secrets.without_a_model),
    Driver(SECRETS, ("summarizer_returns",), secrets.written_back),
)
"""The first row that takes a case runs it."""


def driver_of(case: Case) -> Driver:
    """The driver of a case; NoDriver where there is none."""
    for driver in DRIVERS:
        if driver.takes(case):
            return driver
    if not any(case.kind in driver.kinds for driver in DRIVERS):
        raise NoDriver(f"no driver for kind {case.kind}")
    raise NoDriver(f"no driver for a {case.kind} case with {', '.join(case.input) or 'an empty input'}")
