"""The thresholds as they come out, and the rule that decided."""

from __future__ import annotations

from typing import Any

import pytest

from host.app import main_model
from host.config import Config
from host.config.figures import Figure, figures
from host.config.shares import MODEL_SHARES, starting_share
from host.tokens.budgets import budgets

Desk = Any  # conftest.Desk


def resolved(desk: Desk) -> dict[str, Figure]:
    """The figures of the configuration, by name."""
    loaded = desk.load()
    return {figure.name: figure for figure in figures(loaded, budgets, main_model(loaded))}


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
    found = resolved(desk)
    assert found["threshold"].tokens == threshold
    assert because in found["threshold"].because


def test_a_clamped_ratio_is_named_at_the_tail(desk: Desk) -> None:
    desk.write("model: {context_length: 200000}\ncompression: {target_ratio: 0.95}")
    found = resolved(desk)
    assert found["tail"].tokens == 80_000
    assert "clamped from 0.95" in found["tail"].because


@pytest.mark.parametrize(
    ("window", "summary", "because"),
    [(200_000, 10_000, "5 % of the window"), (1_000_000, 12_000, "limit of 12,000"), (2_000, 250, "least for a small window")],
)
def test_the_summarys_ceiling_names_what_decided_it(desk: Desk, window: int, summary: int, because: str) -> None:
    desk.write(f"model: {{context_length: {window}}}")
    found = resolved(desk)
    assert found["summary"].tokens == summary
    assert because in found["summary"].because


@pytest.mark.parametrize(
    ("text", "window", "because"),
    [
        ("", 128_000, "no model is named"),
        ("model: {name: odd}", 128_000, "not known"),
        ("model: {name: gpt-4}", 8_192, "known of gpt-4"),
        ("model: {name: claude-of-next-year}", 200_000, "known of the claude family"),
        ("model: {name: gpt-4, context_length: 9}", 9, "config.yaml:1"),
    ],
)
def test_the_window_names_where_it_is_from(desk: Desk, text: str, window: int, because: str) -> None:
    desk.write(text)
    found = resolved(desk)["window"]
    assert found.tokens == window
    assert because in found.because


def test_a_guessed_window_is_marked_with_what_sets_it_and_so_is_all_that_comes_of_it(desk: Desk) -> None:
    desk.write("model: {name: odd}")
    found = resolved(desk)
    assert "guessed; set model.context_length" in found["window"].because
    assert {name for name, figure in found.items() if not figure.is_guessed} == {"reserve"}
    desk.write("model: {name: odd, context_length: 32000}")
    assert not any(figure.is_guessed for figure in resolved(desk).values())


def test_what_is_kept_for_the_answer_is_named_with_its_origin(desk: Desk) -> None:
    assert resolved(desk)["reserve"].tokens == 0
    desk.write("model: {max_tokens: 8192}")
    found = resolved(desk)["reserve"]
    assert found.tokens == 8_192
    assert "config.yaml:1" in found.because


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
    assert starting_share(config).share == share


def test_every_model_of_the_table_has_an_example() -> None:
    configs = [Config.model_validate({"model": {"name": name, "provider": provider}}) for name, provider, *_ in SHARES]
    decided = {starting_share(config).share for config in configs}
    assert {model.share for model in MODEL_SHARES} <= decided
