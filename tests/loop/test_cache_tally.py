"""What the provider's cache did, counted from what providers say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host.loop.cache import CacheTally, CompactionCost
from host.messages.types import Usage
from host.provider.prices import Price

SONNET = Price(3.0, 15.0, 0.3, ((200_000, 6.0),), cache_write=3.75)


def test_every_call_is_a_hit_or_a_miss() -> None:
    tally = CacheTally()
    for usage in (Usage(1_000, 5, written=900), Usage(1_200, 5, cached=900, written=200), Usage(1_300)):
        tally = tally.after(usage)
    assert (tally.hits, tally.misses, tally.calls) == (1, 2, 3)
    assert (tally.prompt, tally.read, tally.written) == (3_500, 900, 1_100)
    assert tally.share == pytest.approx(900 / 3_500)


def test_a_tally_is_a_value() -> None:
    tally = CacheTally(SONNET)
    assert tally.after(Usage(10)) != tally and tally == CacheTally(SONNET)


def test_a_provider_that_caches_without_markers_counts_as_well() -> None:
    said = {"prompt_tokens": 2_000, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1_500}}
    tally = CacheTally().after(Usage.from_provider(said))
    assert (tally.hits, tally.read, tally.share) == (1, 1_500, 0.75)


def test_a_call_without_counts_changes_nothing() -> None:
    tally = CacheTally().after(Usage(100, cached=50))
    assert tally.after(None, prompt_is_new_after_compaction=True) is tally


COSTS = [
    (None, Usage(15_000, cached=3_000, written=11_000), CompactionCost(12_000)),
    (Price(output=1.0), Usage(15_000, cached=3_000), CompactionCost(12_000)),
    (SONNET, Usage(15_000, cached=3_000, written=11_000), CompactionCost(12_000, 0.04425)),
    (SONNET, Usage(15_000, cached=3_000), CompactionCost(12_000, 0.036)),
    (SONNET, Usage(300_000, cached=100_000), CompactionCost(200_000, 1.2)),
    (Price(2.0), Usage(15_000, cached=3_000, written=12_000), CompactionCost(12_000, 0.024)),
    (Price(0.0), Usage(15_000), CompactionCost(15_000, 0.0)),
    (SONNET, Usage(15_000, cached=15_000), CompactionCost(0, 0.0)),
]


@pytest.mark.parametrize(("price", "usage", "cost"), COSTS)
def test_a_compaction_costs_what_the_call_after_it_sent_anew(price: Price | None, usage: Usage, cost: CompactionCost) -> None:
    found = CacheTally(price).after(usage, prompt_is_new_after_compaction=True).last_compaction
    assert found is not None and found.tokens == cost.tokens
    assert found.dollars == (None if cost.dollars is None else pytest.approx(cost.dollars))


def test_the_cost_stays_until_the_next_compaction() -> None:
    tally = CacheTally().after(Usage(5_000), prompt_is_new_after_compaction=True).after(Usage(9_000, cached=8_000))
    assert tally.last_compaction == CompactionCost(5_000)
    tally = tally.after(Usage(7_000, cached=1_000), prompt_is_new_after_compaction=True)
    assert tally.last_compaction == CompactionCost(6_000)


LINES = [
    (CacheTally(), ""),
    (CacheTally(misses=1, prompt=940), ""),
    (CacheTally(hits=1, prompt=41_000, read=34_030), "cache 83 % of 41k read, 1 hit, 0 misses"),
    (
        CacheTally(hits=5, misses=2, prompt=41_000, read=34_030, last_compaction=CompactionCost(12_000, 0.04425)),
        "cache 83 % of 41k read, 5 hits, 2 misses; last compaction cost 12k tokens, $0.04",
    ),
    (
        CacheTally(hits=5, misses=1, prompt=1_300_000, read=1_300_000, last_compaction=CompactionCost(800)),
        "cache 100 % of 1.3M read, 5 hits, 1 miss; last compaction cost 800 tokens",
    ),
]


@pytest.mark.parametrize(("tally", "line"), LINES)
def test_a_status_line_says_it_shortly(tally: CacheTally, line: str) -> None:
    assert tally.line() == line


@pytest.mark.parametrize(("dollars", "told"), [(0.0, "$0.00"), (0.00042, "$0.0004"), (0.01, "$0.01"), (1_234.5, "$1,234.50")])
def test_money_is_told_in_cents_or_what_can_be_read_below_one(dollars: float, told: str) -> None:
    tally = replace(CacheTally().after(Usage(10)), last_compaction=CompactionCost(10, dollars))
    assert tally.line().endswith(f"10 tokens, {told}")
