"""Windows of models, offline."""

from __future__ import annotations

import threading

import pytest

from host.provider.facts import FAMILIES, window_of


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-2024-08-06", 128_000),
        ("gpt-4", 8_192),
        ("GPT-5", 400_000),
        ("azure/gpt-4o", 128_000),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("anthropic/claude-3-5-sonnet-20241022", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("openrouter/anthropic/claude-opus-4.6", 1_000_000),
    ],
)
def test_a_listed_model(model: str, window: int) -> None:
    assert window_of(model) == window


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-of-next-year", 200_000),
        ("somebody/claude-opus-4.6-tuned", 1_000_000),
        ("gpt-of-next-year", 128_000),
        ("gemini-of-next-year", 1_048_576),
        ("qwen-of-next-year:free", 131_072),
        ("deepseek-of-next-year", 128_000),
        ("glm-of-next-year", 202_752),
        ("kimi-of-next-year", 262_144),
        ("local/Llama-of-next-year.gguf", 131_072),
        ("gemma-of-next-year", 8_192),
    ],
)
def test_an_unlisted_model_of_a_known_family(model: str, window: int) -> None:
    assert window_of(model, "custom") == window


@pytest.mark.parametrize("part", FAMILIES)
def test_every_family_finds_itself(part: str) -> None:
    assert window_of(f"nobody-{part}-x", "nobody") == FAMILIES[part]


@pytest.mark.parametrize(("model", "window"), [("gpt-5.3-codex", 272_000), ("gpt-5.4", 272_000), ("gpt-5.3-codex-spark", 128_000)])
def test_codex_has_windows_of_its_own(model: str, window: int) -> None:
    assert window_of(model, "openai-codex") == window
    assert window_of(f"openai-codex/{model}") == window


@pytest.mark.parametrize("model", ["", "  ", "nobody-knows-this", "a/b/c", "/", "://"])
def test_an_unknown_model(model: str) -> None:
    assert window_of(model) is None


def test_a_date_and_a_tag_do_not_hide_a_model() -> None:
    assert window_of("gpt-4o-20991231") == window_of("gpt-4o@20991231") == window_of("gpt-4o:free") == 128_000


def test_looking_up_starts_no_thread() -> None:
    before = threading.active_count()
    window_of("gpt-4o-mini", "openai")
    assert threading.active_count() == before
