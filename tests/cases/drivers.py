"""Which driver runs a case: by its kind and by what its input holds, never by its id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cases import (
    caching,
    crowds,
    keeping,
    overrunning,
    picturing,
    plugins,
    recalling,
    refusing,
    searching,
    secrets,
    stories,
    summarising,
    tokens,
    triggering,
    turning,
    wiring,
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
SUMMARIZER, IMAGES, SECRETS, CACHE = ("summarizer",), ("images",), ("secrets",), ("prompt-cache",)
REFUSED = ("provider-error",)
DRIVERS: tuple[Driver, ...] = (
    Driver(TOKENS, ("env",), tokens.count_offline),
    Driver(TOKENS, ("text",), tokens.count_text),
    Driver(TOKENS, (*tokens.USAGE_KEYS, "last_prompt_tokens", "estimated", "prompt_eval_count"), tokens.decide),
    Driver(TOKENS, ("messages",), tokens.count_request),
    Driver(TOKENS, ("context_length",), tokens.find_thresholds),
    Driver(TOKENS, ("stream",), wiring.asked),
    Driver(PAIRING, ("messages",), wiring.repaired_and_sent),
    Driver(PLUGIN, ("returns",), plugins.junk),
    Driver(PLUGIN, ("plugin_source", "plugin_dir", "engine.name"), plugins.directory),
    Driver(PLUGIN, ("engine.",), plugins.called_with),
    Driver(PLUGIN, ("engine",), plugins.children),
    Driver(PLUGIN, ("plugins",), plugins.rivals),
    Driver(PLUGIN, ("files",), plugins.misplaced),
    Driver(PLUGIN, ("plugin",), plugins.by_words),
    Driver(PLUGIN, ("config",), plugins.named),
    Driver(PLUGIN, ("engine_tools",), turning.tools_of_one_name),
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
    Driver(("trigger-loop",), ("steps",), triggering.grown),
    Driver(("trigger-loop",), ("prompt_tokens",), triggering.far_over),
    Driver(("trigger-loop",), ("guard_count",), triggering.swept),
    Driver(("trigger-loop",), ("after_round",), triggering.swept_in_vain),
    Driver(("trigger-loop",), ("hygiene_hard_message_limit",), triggering.swept),
    Driver(("trigger-loop",), ("tail_budget",), triggering.nothing_to_do),
    Driver(("trigger-loop",), ("turn",), triggering.long_turn),
    Driver(("trigger-loop", "images"), ("provider",), triggering.refused),
    Driver(("cli-gateway",), ("compression.enabled",), triggering.switched_off),
    Driver(("cli-gateway",), ("provider",), triggering.never_shorter),
    Driver(("cli-gateway",), ("messages",), triggering.by_hand),
    Driver(("cli-gateway",), ("usage",), triggering.cut_short),
    Driver(("cli-gateway",), ("config",), triggering.declared),
    Driver(("cli-gateway",), ("outcomes",), turning.reported),
    Driver(("storage",), ("parent",), triggering.carried_over),
    Driver(IMAGES, ("messages",), picturing.compacted),
    Driver(IMAGES, ("http_status",), wiring.picture_refused),
    Driver(SECRETS, ("texts",), secrets.passed_on),
    Driver(SECRETS, ("middle_contains",), secrets.without_a_model),
    Driver(SECRETS, ("summarizer_returns",), secrets.written_back),
    Driver(SECRETS, ("http_status",), wiring.echoed),
    Driver(SECRETS, ("tool_args",), turning.executed),
    Driver(REFUSED, ("body",), refusing.classified),
    Driver(CACHE, ("messages",), caching.marked),
    Driver(CACHE, ("steps",), caching.told),
    Driver(CACHE, ("prompt_caching",), caching.configured),
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
