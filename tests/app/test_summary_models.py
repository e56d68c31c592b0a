"""Who is asked for summaries, where, with which key and window; and what is said about it at the start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from host.app import main_model, open_session, services_of, summary_endpoints
from host.app.summaries import summary_models
from host.config import Loaded, load
from host.provider.errors import KeyRefused
from host.store.memory import MemoryArchive, MemoryStore
from host.testing import LoopbackServer, completion, fault
from host.tokens import Counter, Remembered


@dataclass(frozen=True)
class Place:
    """The options of a command line."""

    config_file: Path
    home: Path


Configured = Callable[[str], Loaded]


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configured:
    """Read a configuration; no key is set but those that a test sets."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def read(text: str) -> Loaded:
        path = tmp_path / "config.yaml"
        path.write_text(text)
        return load(config_file=path, home=tmp_path, cwd=tmp_path, environ={})

    return read


LOCAL = "http://127.0.0.1:9/v1"
MAIN = f"model: {{name: big, base_url: '{LOCAL}', context_length: 200000}}\n"

ORDERS: list[tuple[str, dict[str, str], list[tuple[str, str, str | None]]]] = [
    ("model: {name: gpt-4o}", {}, []),
    ("model: {name: gpt-4o}", {"OPENAI_API_KEY": "k1"}, [("gpt-4o", "", "k1")]),
    (MAIN, {"OPENAI_API_KEY": "k1"}, [("big", LOCAL, None)]),
    (MAIN + "auxiliary: {compression: {model: small}}", {}, [("small", LOCAL, None), ("big", LOCAL, None)]),
    (MAIN + "auxiliary: {compression: {model: big}}", {}, [("big", LOCAL, None)]),
    (
        MAIN + "auxiliary: {compression: {model: small, provider: openai}}",
        {"OPENAI_API_KEY": "k1"},
        [("small", "", "k1"), ("big", LOCAL, None)],
    ),
    (MAIN + "auxiliary: {compression: {model: small, provider: openai}}", {}, [("big", LOCAL, None)]),
    (MAIN + "auxiliary: {compression: {model: small, provider: anthropic}}", {"OPENAI_API_KEY": "k1"}, [("big", LOCAL, None)]),
    (
        MAIN + "auxiliary: {compression: {model: small, provider: main, api_key_env: OWN}}",
        {"OWN": "k2"},
        [("small", LOCAL, "k2"), ("big", LOCAL, None)],
    ),
    (
        "model: {name: big, base_url: 'http://127.0.0.1:9/v1', api_key_env: MINE}\n"
        "auxiliary: {compression: {model: small, base_url: 'http://127.0.0.1:8/v1'}}",
        {"MINE": "k3", "OPENAI_API_KEY": "k1"},
        [("small", "http://127.0.0.1:8/v1", None), ("big", LOCAL, "k3")],
    ),
    (
        MAIN + "auxiliary: {compression: {model: small, api_key_env: OWN, fallback_chain: [second, {model: third, provider: openai},"
        " {name: fourth, base_url: 'http://127.0.0.1:7/v1'}, small, big]}}",
        {"OWN": "k2", "OPENAI_API_KEY": "k1"},
        [
            ("small", LOCAL, "k2"),
            ("second", LOCAL, "k2"),
            ("third", "", "k1"),
            ("fourth", "http://127.0.0.1:7/v1", None),
            ("big", LOCAL, "k2"),
        ],
    ),
    (
        "model: {name: gpt-4o}\nauxiliary: {compression: {api_key_env: CHEAP}}",
        {"OPENAI_API_KEY": "k1"},
        [("gpt-4o", "", "k1")],
    ),
    (
        "model: {name: gpt-4o}\nauxiliary: {compression: {provider: anthropic}}",
        {"OPENAI_API_KEY": "k1"},
        [("gpt-4o", "", "k1")],
    ),
    (
        "model: {name: gpt-4o}\nauxiliary: {compression: {model: a, api_key_env: CHEAP, fallback_chain: [{name: b, api_key_env: OWN}, c]}}",
        {"OWN": "k2"},
        [("b", "", "k2")],
    ),
]


@pytest.mark.parametrize(("text", "environment", "asked"), ORDERS)
def test_who_is_asked_in_which_order_where_and_with_which_key(
    configured: Configured,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    environment: dict[str, str],
    asked: list[tuple[str, str, str | None]],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    loaded = configured(text)
    found = [endpoint for endpoint in summary_endpoints(loaded) if not endpoint.missing]
    assert [(endpoint.model, endpoint.base_url, endpoint.key) for endpoint in found] == asked
    services = services_of(loaded, Remembered(Counter()), main_model(loaded), MemoryArchive())
    assert [model.name for model in services.summary_models] == [name for name, _, _ in asked]
    assert (services.ask is None) == (not asked)


def test_one_that_cannot_be_asked_is_named_beside_the_same_model_that_can(configured: Configured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k1")
    first, second = summary_endpoints(configured("model: {name: gpt-4o}\nauxiliary: {compression: {api_key_env: CHEAP}}"))
    assert "no key for gpt-4o in CHEAP" in first.missing and not second.missing


def test_a_key_is_never_in_the_text_of_an_endpoint(configured: Configured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "very-secret-key")
    assert "very-secret-key" not in repr(summary_endpoints(configured("model: {name: gpt-4o}")))


def test_a_refused_key_is_named_by_the_variable_that_it_is_from(configured: Configured, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OWN", "MINE"):
        monkeypatch.setenv(name, "sk-loopback-0123456789")
    with LoopbackServer([fault(401), fault(401)]) as server:
        loaded = configured(
            f"model: {{name: big, base_url: '{server.base_url}', api_key_env: MINE}}\n"
            "auxiliary: {transient_retries: 0, compression: {model: small, api_key_env: OWN}}"
        )
        for model, variable in zip(summary_models(loaded, main_model(loaded)), ("OWN", "MINE"), strict=True):
            with pytest.raises(KeyRefused, match=f"refused the API key in {variable} "):
                model.ask("notes, please")


WINDOWS = [
    ("auxiliary: {compression: {model: small, context_length: 9000}}", (9_000, False)),
    ("auxiliary: {compression: {model: gpt-4}}", (8_192, False)),
    ("auxiliary: {compression: {model: small}}", (200_000, True)),
]


@pytest.mark.parametrize(("text", "window"), WINDOWS)
def test_the_window_of_a_summary_model_as_configured_as_known_or_a_guess_that_is_never_smaller(
    configured: Configured, text: str, window: tuple[int, bool]
) -> None:
    loaded = configured(MAIN + text)
    first, main = summary_models(loaded, main_model(loaded))
    assert (first.window, first.window_is_guessed) == window
    assert (main.name, main.window, main.window_is_guessed) == ("big", 200_000, False)


def test_a_guess_beside_a_small_main_model_is_the_usual_one(configured: Configured) -> None:
    loaded = configured(MAIN.replace("200000", "8000") + "auxiliary: {compression: {model: small}}")
    assert summary_models(loaded, main_model(loaded))[0].window == 128_000


def test_further_fields_go_to_the_configured_model_alone_and_the_whole_reply_comes_back(configured: Configured) -> None:
    cut = completion("half a", finish_reason="length")
    with LoopbackServer([cut, "whole"]) as server:
        loaded = configured(
            f"model: {{name: big, base_url: '{server.base_url}'}}\n"
            "auxiliary: {compression: {model: small, reasoning_effort: low, extra_body: {top_k: 3, seed: 7}}}"
        )
        small, big = summary_models(loaded, main_model(loaded))
        reply = small.ask("sum up", max_tokens=99)
        big.ask("sum up")
    assert (reply.message["content"], reply.finish_reason) == ("half a", "length")
    first, second = (request.body for request in server.requests)
    assert first["messages"] == [{"role": "user", "content": "sum up"}]
    assert {key: first[key] for key in ("model", "reasoning_effort", "top_k", "seed", "max_tokens")} == {
        "model": "small",
        "reasoning_effort": "low",
        "top_k": 3,
        "seed": 7,
        "max_tokens": 99,
    }
    assert second.keys() == {"model", "messages"}


def test_aborting_instead_of_a_digest_reaches_the_engine(configured: Configured) -> None:
    def thresholds(text: str) -> Any:
        loaded = configured(text)
        return services_of(loaded, Remembered(Counter()), main_model(loaded), MemoryArchive()).thresholds

    assert not thresholds("context: {}").abort_on_summary_failure
    assert thresholds("compression: {abort_on_summary_failure: true}").abort_on_summary_failure


def notices(tmp_path: Path, **more: Any) -> str:
    """What is said at the start of a session under the configuration that was written last."""
    store = MemoryStore()
    session = open_session(Place(tmp_path / "config.yaml", tmp_path), store, store.sessions.create(title="w", source="test"), **more)
    return "\n".join(session.notices)


STARTS = [
    ("model: {name: odd}", ["the window of odd is taken for 128,000 tokens: guessed; set model.context_length"], []),
    ("model: {name: odd, context_length: 64000}", [], ["guessed"]),
    ("model: {name: gpt-4o}", ["summaries are made from the text itself: no key for gpt-4o in OPENAI_API_KEY"], ["guessed"]),
    (
        MAIN + "auxiliary: {compression: {model: small, provider: anthropic}}",
        ["small cannot be asked for summaries: anthropic is reached through auxiliary.compression.base_url", f"asked of big at {LOCAL}"],
        ["guessed"],
    ),
    (
        MAIN + "auxiliary: {compression: {model: small}}",
        ["windows of summary models are guessed: small (200,000); set auxiliary.compression.context_length"],
        [],
    ),
    (
        "model: {name: openai/gpt-5.5, provider: openai-codex}",
        [
            "gpt-5.5 is compacted at 85% of its window in place of 50%, because Codex cuts it to 272,000 tokens",
            "`ctxhost config set compression.codex_gpt55_autoraise false`",
        ],
        [],
    ),
    ("model: {name: gpt-5.5, provider: openai-codex}\ncompression: {codex_gpt55_autoraise_notice: false}", [], ["85%"]),
    ("model: {name: gpt-5.5, provider: openai-codex}\ncompression: {codex_gpt55_autoraise: false}", [], ["85%"]),
    ("model: {name: gpt-5.5, provider: openai-codex}\ncompression: {threshold: 0.9}", [], ["85%"]),
    ("model: {name: gpt-5.5, provider: openai}", [], ["85%"]),
]


@pytest.mark.parametrize(("text", "said", "unsaid"), STARTS)
def test_what_is_said_once_at_the_start(configured: Configured, tmp_path: Path, text: str, said: list[str], unsaid: list[str]) -> None:
    configured(text)
    told = notices(tmp_path)
    assert [line for line in said if line not in told] == []
    assert [word for word in unsaid if word in told] == []


def test_a_window_that_was_asked_for_or_recorded_is_no_guess(configured: Configured, tmp_path: Path) -> None:
    configured("context: {}")
    assert "guessed" in notices(tmp_path)
    assert "guessed" not in notices(tmp_path, window=32_000)
    assert "guessed" not in notices(tmp_path, recorded=("nobody-knows", 32_000))
