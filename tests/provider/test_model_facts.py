"""Windows and prices of models, offline."""

from __future__ import annotations

import threading

import pytest

from host.provider.facts import DEFAULT_WINDOW, FAMILIES, GUESSED, facts_of, window_of
from host.provider.prices import LISTED, Price


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


def test_an_unknown_models_window_is_a_guess_and_says_so() -> None:
    found = facts_of("nobody-knows-this")
    assert (found.window, found.window_is_guessed, found.source) == (DEFAULT_WINDOW, True, GUESSED)
    assert found.price is None


@pytest.mark.parametrize(
    ("model", "provider", "source"),
    [
        ("gpt-4o", "", "of gpt-4o"),
        ("claude-of-next-year", "", "of the claude family"),
        ("gpt-5.4", "openai-codex", "of gpt-5.4 at Codex"),
    ],
)
def test_a_known_window_names_where_it_is_from(model: str, provider: str, source: str) -> None:
    found = facts_of(model, provider)
    assert (found.window_is_guessed, found.source) == (False, source)


def test_a_listed_model_has_a_price() -> None:
    found = facts_of("gpt-4o")
    assert found.price is not None
    assert found.price is not None and found.price.cached is not None and found.price.input is not None and found.price.output is not None
    assert 0 < found.price.cached < found.price.input < found.price.output
    assert found.price.source == "listed"


def test_a_long_input_costs_more_where_the_list_says_so() -> None:
    price = facts_of("claude-sonnet-4-5", "anthropic").price
    assert price is not None
    ((start, dearer),) = price.tiers
    assert price.input is not None and dearer > price.input
    assert price.of_input(start) == start * price.input / 1_000_000
    assert price.of_input(start + 1) == (start + 1) * dearer / 1_000_000


@pytest.mark.parametrize(
    ("provider", "base_url", "is_known"),
    [
        ("", "", True),
        ("openai", "", True),
        ("openai-codex", "", False),
        ("", "http://127.0.0.1:8000/v1", False),
        ("", "https://api.openai.com/v1", True),
        ("openai", "http://127.0.0.1:8000/v1", False),
    ],
)
def test_a_price_is_that_of_whoever_is_asked(provider: str, base_url: str, is_known: bool) -> None:
    assert (facts_of("gpt-4o", provider, base_url=base_url).price is not None) == is_known


def test_an_aggregators_own_spelling_is_found_at_its_address() -> None:
    assert facts_of("anthropic/claude-sonnet-4.5", base_url="https://openrouter.ai/api/v1").price is not None


def test_what_the_user_says_wins() -> None:
    found = facts_of("gpt-4o", context_length=9_000, price=Price(input=0.5, output=0.0))
    assert (found.window, found.window_is_guessed, found.source) == (9_000, False, "model.context_length")
    assert found.price is not None and (found.price.input, found.price.output, found.price.cached) == (0.5, 0.0, None)


def test_a_side_that_the_user_does_not_price_is_the_lists() -> None:
    listed = facts_of("claude-sonnet-4-5").price
    assert listed is not None
    half = facts_of("claude-sonnet-4-5", price=Price(output=1.0)).price
    assert half == Price(listed.input, 1.0, listed.cached, listed.tiers, cache_write=listed.cache_write)
    assert facts_of("claude-sonnet-4-5", price=Price(input=0.0)).price == Price(0.0, listed.output)
    assert facts_of("nobody", price=Price(input=2.0)).price == Price(2.0)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (Price(), Price(2.0, 8.0, 0.5, ((200_000, 4.0),))),
        (Price(output=9.0), Price(2.0, 9.0, 0.5, ((200_000, 4.0),))),
        (Price(cached=0.1), Price(2.0, 8.0, 0.1, ((200_000, 4.0),))),
        (Price(1.0), Price(1.0, 8.0)),
        (Price(1.0, cached=0.1), Price(1.0, 8.0, 0.1)),
        (Price(1.0, 0.0, 0.0), Price(1.0, 0.0, 0.0)),
    ],
)
def test_whatever_is_said_of_a_price_counts_and_the_list_says_the_rest(said: Price, found: Price) -> None:
    assert said.over(Price(2.0, 8.0, 0.5, ((200_000, 4.0),), LISTED)) == found and said.over(None) is said


def test_a_price_of_zero_is_a_price_and_none_is_none() -> None:
    assert Price(0.0).of_input(1_000_000) == 0.0
    assert Price(output=3.0).of_input(1_000_000) is None
