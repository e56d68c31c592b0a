"""The thresholds as they come out, and the rule that decided."""

from __future__ import annotations

from typing import Any

import pytest

from host.config import Config
from host.config.figures import figures
from host.config.shares import MODEL_SHARES, starting_share
from host.tokens.budgets import budgets

Desk = Any  # conftest.Desk


def nobody_knows(model: str, provider: str = "") -> int | None:
    return None


DECIDED = [
    ("model: {context_length: 200000}", 100_000, "0.5 of 200,000 (compression.threshold)"),
    ("model: {context_length: 100000}", 64_000, "raised to the floor of 64,000: 0.5 of 100,000 is 50,000"),
    ("model: {context_length: 64000}", 54_400, "85 % rule"),
    ("model: {context_length: 8000}", 6_800, "85 % rule"),
    ("model: {context_length: 200000, max_tokens: 65536}", 67_232, "output reserve of 65,536 taken off"),
    ("model: {context_length: 8000, max_tokens: 65536}", 6_800, "output reserve of 65,536 ignored"),
    ("model: {context_length: 200000}\ncompression: {small_window_floor: 0.75}", 150_000, "compression.small_window_floor"),
    ("model: {context_length: 272000, name: gpt-5.5, provider: openai-codex}", 231_200, "codex_gpt55_autoraise"),
]


@pytest.mark.parametrize(("text", "threshold", "because"), DECIDED)
def test_the_threshold_names_what_decided_it(desk: Desk, text: str, threshold: int, because: str) -> None:
    desk.write(text)
    found = {figure.name: figure for figure in figures(desk.load(), budgets, nobody_knows, 128_000)}
    assert found["threshold"].tokens == threshold
    assert because in found["threshold"].because


def test_a_clamped_ratio_is_named_at_the_tail(desk: Desk) -> None:
    desk.write("model: {context_length: 200000}\ncompression: {target_ratio: 0.95}")
    found = {figure.name: figure for figure in figures(desk.load(), budgets, nobody_knows, 128_000)}
    assert found["tail"].tokens == 80_000
    assert "clamped from 0.95" in found["tail"].because


@pytest.mark.parametrize(
    ("window", "summary", "because"),
    [(200_000, 10_000, "5 % of the window"), (1_000_000, 12_000, "limit of 12,000"), (2_000, 250, "least for a small window")],
)
def test_the_summarys_ceiling_names_what_decided_it(desk: Desk, window: int, summary: int, because: str) -> None:
    desk.write(f"model: {{context_length: {window}}}")
    found = {figure.name: figure for figure in figures(desk.load(), budgets, nobody_knows, 128_000)}
    assert found["summary"].tokens == summary
    assert because in found["summary"].because


@pytest.mark.parametrize(
    ("text", "window", "because"),
    [
        ("", 128_000, "no model is named"),
        ("model: {name: odd}", 128_000, "not known"),
        ("model: {name: known}", 32_000, "known of known"),
        ("model: {name: known, context_length: 9}", 9, "config.yaml:1"),
    ],
)
def test_the_window_names_where_it_is_from(desk: Desk, text: str, window: int, because: str) -> None:
    desk.write(text)
    found = figures(desk.load(), budgets, lambda model, provider="": 32_000 if model == "known" else None, 128_000)[0]
    assert found.tokens == window
    assert because in found.because


SHARES = [
    ("gpt-5.5", "openai-codex", 0.5, True, 0.85),
    ("gpt-5.4-mini", "openai-codex", 0.5, True, 0.85),
    ("openai/gpt-5.6", "openai-codex", 0.5, True, 0.85),
    ("gpt-5.5", "openai-codex", 0.9, True, 0.9),
    ("gpt-5.5", "openai-codex", 0.5, False, 0.5),
    ("gpt-5.5", "openai", 0.5, True, 0.5),
    ("gpt-5.55", "openai-codex", 0.5, True, 0.5),
    ("gpt-5.3-codex-spark", "openai-codex", 0.5, False, 0.70),
    ("trinity-large-thinking", "", 0.9, True, 0.75),
    ("vendor/Trinity-Large-Thinking", "", 0.5, True, 0.75),
]


@pytest.mark.parametrize(("name", "provider", "configured", "autoraise", "share"), SHARES)
def test_models_that_need_a_share_of_their_own(name: str, provider: str, configured: float, autoraise: bool, share: float) -> None:
    config = Config.model_validate(
        {
            "model": {"name": name, "provider": provider},
            "compression": {"threshold": configured, "codex_gpt55_autoraise": autoraise},
        }
    )
    assert starting_share(config)[0] == share


def test_every_model_of_the_table_has_an_example() -> None:
    decided = {starting_share(Config.model_validate({"model": {"name": name, "provider": provider}}))[0] for name, provider, *_ in SHARES}
    assert {model.share for model in MODEL_SHARES} <= decided
