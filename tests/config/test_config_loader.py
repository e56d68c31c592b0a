"""What a user writes, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from host.config import Config
from host.config.fields import fields_of, nearest_key

Desk = Any  # conftest.Desk


def test_nothing_written_is_the_defaults(desk: Desk) -> None:
    loaded = desk.load()
    assert loaded.config == Config()
    assert {origin.kind for origin in loaded.origins.values()} == {"default"}
    assert loaded.warnings == ()


def test_the_defaults_are_those_of_the_seed_and_the_design() -> None:
    config = Config()
    assert config.compression.model_dump() == {
        "enabled": True,
        "threshold": 0.50,
        "target_ratio": 0.20,
        "protect_last_n": 20,
        "protect_first_n": 3,
        "codex_gpt55_autoraise": True,
        "codex_gpt55_autoraise_notice": True,
        "in_place": False,
        "abort_on_summary_failure": False,
        "hygiene_hard_message_limit": 5000,
        "small_window_floor": None,
        "keep_exact_tokens": 800,
    }
    assert config.context.engine == "compressor"
    assert config.auxiliary.compression.timeout == 300
    assert config.prompt_caching.cache_ttl == "5m"
    assert config.store.durability == "full"


def test_a_configuration_does_not_change() -> None:
    with pytest.raises(ValidationError):
        Config().compression.threshold = 0.1


def test_the_seeds_example_loads_as_it_is(desk: Desk) -> None:
    desk.write(
        "compression:\n  enabled: true\n  threshold: 0.50\n  target_ratio: 0.20\n  protect_last_n: 20\n"
        "  codex_gpt55_autoraise: true\n  in_place: false\n  abort_on_summary_failure: false\n"
        "auxiliary:\n  compression:\n    model: null\n    provider: auto\n    base_url: null\n"
        'prompt_caching:\n  cache_ttl: "5m"\n'
    )
    assert desk.load().config == Config()


ODD_BUT_CLEAR = [
    ("compression: {enabled: 'no'}", "compression.enabled", False),
    ("compression: {in_place: yes}", "compression.in_place", True),
    ("compression: {in_place: on}", "compression.in_place", True),
    ("compression: {in_place: '1'}", "compression.in_place", True),
    ("compression: {in_place: 1}", "compression.in_place", True),
    ("compression: {in_place: TRUE}", "compression.in_place", True),
    ("compression: {threshold: '0.4'}", "compression.threshold", 0.4),
    ("compression: {threshold: 1}", "compression.threshold", 1.0),
    ("compression: {threshold: }", "compression.threshold", 0.5),
    ("compression: {protect_last_n: 20.0}", "compression.protect_last_n", 20),
    ("compression:", "compression.threshold", 0.5),
    ("model: {provider: no}", "model.provider", "no"),
    ("model: {name: null}", "model.name", ""),
    ("auxiliary: {compression: {timeout: 5}}", "auxiliary.compression.timeout", 5.0),
    ("plugins: {enabled: one}", "plugins.enabled", ("one",)),
    ("model: {price: {input: 0}}", "model.price.input", 0.0),
    ("model: {price: {output: null}}", "model.price.output", None),
    ("model: {fallback: [a]}", "model.fallback.0.name", "a"),
    ("model: {fallback: [{model: a}]}", "model.fallback.0.name", "a"),
    ("prompt_caching: {cache_ttl: 1h}", "prompt_caching.cache_ttl", "1h"),
    ("engines: {lcm: }", "engines", {}),
    ("context: {engine: }", "context.engine", "compressor"),
    ("context: {on_error: null}", "context.on_error", "fallback"),
    ("prompt_caching: {cache_ttl: }", "prompt_caching.cache_ttl", "5m"),
    ("auxiliary: {compression: {provider: }}", "auxiliary.compression.provider", "auto"),
]


@pytest.mark.parametrize(("text", "key", "value"), ODD_BUT_CLEAR)
def test_what_can_only_mean_one_thing_is_taken(desk: Desk, text: str, key: str, value: Any) -> None:
    desk.write(text)
    found: Any = desk.load().config
    for part in key.split("."):
        found = found[int(part)] if part.isdigit() else getattr(found, part)
    assert found == value
    assert type(found) is type(value)


WITHOUT_MEANING = [
    ("compression:\n  threshold: 0", "2:3: compression.threshold: expected a number above 0 and at most 1, found 0"),
    ("compression:\n  threshold: 1.01", "2:3: compression.threshold: expected a number above 0 and at most 1, found 1.01"),
    ("compression:\n  threshold: .nan", "2:3: compression.threshold: expected a number above 0 and at most 1, found nan"),
    ("compression:\n  threshold: 50%", "2:3: compression.threshold: expected a number above 0 and at most 1, found text '50%'"),
    ("compression:\n  target_ratio: .inf", "2:3: compression.target_ratio: expected a number, found inf"),
    ("compression:\n  protect_last_n: -1", "2:3: compression.protect_last_n: expected a whole number of at least 0, found -1"),
    ("compression:\n  protect_last_n: true", "2:3: compression.protect_last_n: expected a whole number of at least 0, found true"),
    ("compression:\n  protect_last_n: 2.5", "2:3: compression.protect_last_n: expected a whole number of at least 0, found 2.5"),
    ("compression:\n  in_place: perhaps", "2:3: compression.in_place: expected true or false, found text 'perhaps'"),
    ("prompt_caching:\n  cache_ttl: 10m", "2:3: prompt_caching.cache_ttl: expected 5m or 1h, found text '10m'"),
    ("model:\n  name: 4.10", "2:3: model.name: expected text, found 4.1; put it in quotes"),
    (
        "model: gpt",
        "1:1: model: expected a mapping (name, provider, base_url, api_key_env, context_length, max_tokens, price, fallback), "
        "found text 'gpt'",
    ),
    ("model:\n  price: {input: -1}", "2:11: model.price.input: expected a number of at least 0 or null, found -1"),
    ("model:\n  price: {output: yes}", "2:11: model.price.output: expected a number of at least 0 or null, found text 'yes'"),
    ("model:\n  price: {output: .inf}", "2:11: model.price.output: expected a number of at least 0 or null, found inf"),
    ("model:\n  price: 3", "2:3: model.price: expected a mapping (input, output), found 3"),
    ("engines:\n  lcm: 3", "2:3: engines.lcm: expected a mapping, found 3"),
    ("engines:\n  lcm:\n    timeout: 0", "3:5: engines.lcm.timeout: expected a number above 0 or null, found 0"),
    ("plugins:\n  paths: [a, 3]", "2:14: plugins.paths.1: expected text, found 3"),
    ("model:\n  base_url: localhost", "2:3: model.base_url: expected an address that begins with http:// or https://"),
    ("- a\n- b", "1:1: file: expected a mapping of sections (context:, model:, compression:, ...), found a list"),
    ("just words", "1:1: file: expected a mapping of sections (context:, model:, compression:, ...), found text 'just words'"),
]


@pytest.mark.parametrize(("text", "problem"), WITHOUT_MEANING)
def test_what_has_no_meaning_is_an_error_at_its_line_and_column(desk: Desk, text: str, problem: str) -> None:
    desk.write(text)
    assert desk.problems() == [f"config.yaml:{problem}"]


MISSPELT = [
    ("compression.treshold", "compression.threshold"),
    ("compresion", "compression"),
    ("context.motor", None),
    ("compression.engine", "context.engine"),
    ("compression.summary_model", "auxiliary.compression.model"),
    ("model.api_key", "model.api_key_env"),
    ("cache_ttl", "prompt_caching.cache_ttl"),
    ("zzz", None),
]


@pytest.mark.parametrize(("written", "meant"), MISSPELT)
def test_a_misspelt_key_is_answered_with_the_nearest_valid_one(written: str, meant: str | None) -> None:
    assert nearest_key(tuple(written.split(".")), fields_of(Config)) == meant


def test_a_misspelt_choice_is_answered_with_the_nearest_valid_one(desk: Desk) -> None:
    desk.write("context: {on_error: falback}")
    assert desk.problems() == [
        "config.yaml:1:11: context.on_error: expected fallback or error, found text 'falback'; did you mean 'fallback'?"
    ]


def test_all_problems_of_all_sources_come_at_once(desk: Desk) -> None:
    desk.write("compression:\n  treshold: 0.4\n  threshold: 2\n  threshold: 3\nmodle: {}\n")
    desk.write("context: {}\nstore: {durability: quick}\n", project=True)
    desk.environ["CTXHOST_COMPRESSION__TRESHOLD"] = "1"
    desk.environ["CTXHOST_MODEL__CONTEXT_LENGTH"] = "many"
    wheres = [problem.split(": ")[0] for problem in desk.problems()]
    assert sorted(wheres) == [
        "./config.yaml:2:9",
        "CTXHOST_COMPRESSION__TRESHOLD",
        "CTXHOST_MODEL__CONTEXT_LENGTH",
        "config.yaml:2:3",
        "config.yaml:3:3",
        "config.yaml:4:3",
        "config.yaml:5:1",
    ]


@pytest.mark.parametrize("key", ["sk-proj-1234567890abcdef", "gsk1234567890abcdefghij", "two words"])
def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated(desk: Desk, key: str) -> None:
    desk.write(f"model:\n  api_key_env: {key}\n")
    (problem,) = desk.problems()
    assert "name of the environment variable" in problem
    assert key not in problem


@pytest.mark.parametrize(("written", "used"), [("0.95", 0.80), ("0.01", 0.10), ("-3", 0.10), ("'0.9'", 0.80)])
def test_a_target_ratio_outside_its_limits_is_clamped_with_a_warning_at_its_line(desk: Desk, written: str, used: float) -> None:
    path = desk.write(f"compression:\n  # tail\n  target_ratio: {written}\n")
    loaded = desk.load()
    assert loaded.config.compression.target_ratio == used
    assert len(loaded.warnings) == 1
    assert loaded.warnings[0].startswith(f"{path}:3: compression.target_ratio")


@pytest.mark.parametrize("written", ["0.1", "0.8", "0.35"])
def test_a_target_ratio_inside_its_limits_is_taken_in_silence(desk: Desk, written: str) -> None:
    desk.write(f"compression: {{target_ratio: {written}}}")
    assert desk.load().warnings == ()


def test_origins_name_the_line_the_variable_or_the_default(desk: Desk) -> None:
    home = desk.write("compression:\n  threshold: 0.4\nengines:\n  lcm:\n    depth: 3\n")
    project = desk.write("compression:\n  protect_last_n: 5\n", project=True)
    desk.environ["CTXHOST_STORE__DURABILITY"] = "normal"
    origins = desk.load().origins
    assert str(origins["compression.threshold"]) == f"{home}:2"
    assert str(origins["compression.protect_last_n"]) == f"{project}:2"
    assert str(origins["store.durability"]) == "CTXHOST_STORE__DURABILITY"
    assert str(origins["compression.enabled"]) == "default"
    assert origins["engines.lcm.depth"].where == f"{home}:5:5"


def test_a_given_file_is_read_alone_and_counts_whole(desk: Desk, tmp_path: Path) -> None:
    desk.write("compression: {threshold: 0.1}")
    desk.write("compression: {protect_last_n: 1}", project=True)
    given = tmp_path / "mine.yaml"
    given.write_text("model: {base_url: 'http://localhost:1/v1', api_key_env: MY_KEY}\nplugins: {paths: [engines]}\n")
    config = desk.load(given).config
    assert config.model.base_url == "http://localhost:1/v1"
    assert config.compression == Config().compression
    assert config.plugins.paths == (str(tmp_path / "engines"),)


def test_a_given_file_that_does_not_exist_is_an_error(desk: Desk, tmp_path: Path) -> None:
    assert desk.problems(tmp_path / "none.yaml") == [f"{tmp_path}/none.yaml: --config: the file does not exist"]
    assert "cannot be read" in desk.problems(tmp_path)[0]


def test_a_file_that_cannot_be_read_is_an_error(desk: Desk) -> None:
    (desk.home / "config.yaml").mkdir(parents=True)
    assert "cannot be read" in desk.problems()[0]


def test_a_home_that_is_also_the_current_folder_is_read_once_and_trusted(desk: Desk) -> None:
    desk.write("context: {}\nmodel: {base_url: 'http://localhost'}\n")
    here = type(desk)(desk.home, desk.home)
    loaded = here.load()
    assert loaded.config.model.base_url == "http://localhost"
    assert len(loaded.files) == 1


def test_a_plugin_folder_that_does_not_exist_is_named_at_its_line(desk: Desk) -> None:
    (desk.home / "mine").mkdir()
    path = desk.write("plugins:\n  paths:\n    - mine\n    - missing\n")
    assert desk.load().warnings == (f"{path}:4: plugins.paths: no folder {desk.home / 'missing'}",)


def test_an_empty_key_of_a_project_leaves_the_home_folders_value(desk: Desk) -> None:
    desk.write("context: {engine: lcm}\nmodel: {context_length: 9000}\n")
    desk.write("context: {engine: }\nmodel: {context_length: }\n", project=True)
    config = desk.load().config
    assert (config.context.engine, config.model.context_length) == ("lcm", None)
