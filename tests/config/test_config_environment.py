"""Overrides from the environment."""

from __future__ import annotations

from typing import Any

import pytest

from host.config.environment import variable_of

Desk = Any  # conftest.Desk


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("CTXHOST_COMPRESSION__THRESHOLD", "0.4", "compression.threshold", 0.4),
        ("CTXHOST_COMPRESSION__ENABLED", "off", "compression.enabled", False),
        ("CTXHOST_COMPRESSION__SMALL_WINDOW_FLOOR", "null", "compression.small_window_floor", None),
        ("CTXHOST_AUXILIARY__COMPRESSION__TIMEOUT", "12.5", "auxiliary.compression.timeout", 12.5),
        ("CTXHOST_PLUGINS__ENABLED", "[a, b]", "plugins.enabled", ("a", "b")),
        ("CTXHOST_MODEL__NAME", "4.10", "model.name", "4.10"),
        ("CTXHOST_MODEL__NAME", "true", "model.name", "true"),
        ("CTXHOST_MODEL__NAME", "qwen: latest", "model.name", "qwen: latest"),
        ("CTXHOST_MODEL__BASE_URL", "http://localhost:8000/v1", "model.base_url", "http://localhost:8000/v1"),
    ],
)
def test_a_variable_overrides_the_file(desk: Desk, variable: str, text: str, key: str, value: Any) -> None:
    desk.write("compression: {threshold: 0.3, small_window_floor: 0.75}\nmodel: {name: x, base_url: 'http://other'}\n")
    desk.environ[variable] = text
    loaded = desk.load()
    found: Any = loaded.config
    for part in key.split("."):
        found = getattr(found, part)
    assert found == value
    assert str(loaded.origins[key]) == variable


def test_an_empty_variable_says_nothing(desk: Desk) -> None:
    desk.write("compression: {threshold: 0.3}")
    desk.environ["CTXHOST_COMPRESSION__THRESHOLD"] = ""
    assert desk.load().config.compression.threshold == 0.3


def test_variables_of_other_parts_are_left_alone(desk: Desk) -> None:
    desk.environ.update(CTXHOST_CONFIG="x", CTXHOST_HOME="y", CTXHOST_CACHE="z", CTXHOST_TRESHOLD="1", COMPRESSION__THRESHOLD="7")
    assert desk.load().warnings == ()


@pytest.mark.parametrize(
    ("variable", "text", "says"),
    [
        ("CTXHOST_COMPRESSION__TRESHOLD", "1", "compression.treshold: unknown key; did you mean 'CTXHOST_COMPRESSION__THRESHOLD'?"),
        ("CTXHOST_COMPRESSION__THRESHOLD", "7", "compression.threshold: expected a number above 0 and at most 1, found 7"),
        ("CTXHOST_COMPRESSION__THRESHOLD", "[", "compression.threshold: not valid YAML"),
        ("CTXHOST_AUXILIARY__COMPRESSION", "{}", "auxiliary.compression: is a section"),
        ("CTXHOST_ENGINES__LCM", "{}", "engines.lcm: name an engine and a setting"),
        ("CTXHOST___", "1", "unknown key"),
        (
            "CTXHOST_COMPRESSION_THRESHOLD",
            "0.4",
            "two underscores stand between a section and its key; did you mean 'CTXHOST_COMPRESSION__THRESHOLD'?",
        ),
        ("CTXHOST_COMPRESSION_TRESHOLD", "0.4", "did you mean 'CTXHOST_COMPRESSION__THRESHOLD'?"),
        ("CTXHOST_AUXILIARY_COMPRESSION_TIMEOUT", "4", "did you mean 'CTXHOST_AUXILIARY__COMPRESSION__TIMEOUT'?"),
        ("CTXHOST_AUXILIARY_COMPRESSION__TIMEOUT", "4", "did you mean 'CTXHOST_AUXILIARY__COMPRESSION__TIMEOUT'?"),
        ("CTXHOST_PROMPT_CACHING_CACHE_TTL", "1h", "did you mean 'CTXHOST_PROMPT_CACHING__CACHE_TTL'?"),
        ("CTXHOST_COMPRESSION", "{}", "compression: is a section; override its keys one by one: CTXHOST_COMPRESSION__ENABLED,"),
        ("CTXHOST_ENGINES", "{}", "engines: name an engine and a setting: CTXHOST_ENGINES__NAME__KEY"),
        ("CTXHOST_ENGINES_LCM_DEPTH", "2", "engines: name an engine and a setting: CTXHOST_ENGINES__NAME__KEY"),
        ("CTXHOST_MODEL__NAME", "\udcff", "model.name: expected text; half of a character"),
    ],
)
def test_a_variable_without_meaning_is_an_error_that_names_it(desk: Desk, variable: str, text: str, says: str) -> None:
    desk.environ[variable] = text
    (problem,) = desk.problems()
    assert problem.startswith(f"{variable}: ")
    assert says in problem


@pytest.mark.parametrize("variable", ["CTXHOST_MODEL_SERVICE_HOST", "CTXHOST_MODEL_PORT_8000_TCP", "CTXHOST_STORE_PORT"])
def test_a_variable_that_a_cluster_set_for_a_service_is_mentioned_and_ignored(desk: Desk, variable: str) -> None:
    desk.environ[variable] = "tcp://10.0.0.1:8000"
    (warning,) = desk.load().warnings
    assert warning.startswith(f"{variable}: ignored")
    assert "CTXHOST_CONTEXT__ENGINE" in warning


def test_settings_of_engines_are_found_under_the_spelling_of_the_file(desk: Desk) -> None:
    desk.write("engines: {My-Engine: {fanOut: 2, keep: 1}}")
    desk.environ["CTXHOST_ENGINES__MY_ENGINE__FANOUT"] = "{a: 5}"
    loaded = desk.load()
    assert loaded.config.engines == {"My-Engine": {"fanOut": {"a": 5}, "keep": 1}}
    assert str(loaded.origins["engines.My-Engine.fanOut.a"]) == "CTXHOST_ENGINES__MY_ENGINE__FANOUT"


def test_a_key_and_its_variable() -> None:
    assert variable_of("auxiliary.compression.timeout") == "CTXHOST_AUXILIARY__COMPRESSION__TIMEOUT"
