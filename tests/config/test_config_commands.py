"""``ctxhost config`` and ``ctxhost init``, as they are typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from host.cli.config import LABELS, config
from host.cli.globals import Globals
from host.cli.init import init
from host.config.showing import markdown_reference
from host.errors import ConfigError, UsageError
from host.home import default_home

Desk = Any  # conftest.Desk
Type = Callable[..., Result]
NO_KEY = "no key for gpt-4o in OPENAI_API_KEY, and without model.base_url it is asked for at api.openai.com"


@pytest.fixture
def run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Type a command in the project's folder."""
    monkeypatch.chdir(desk.project)

    def typed(*words: str, config_file: Path | None = None) -> Result:
        command = init if words[0] == "init" else config
        return CliRunner().invoke(command, words[1:], obj=Globals(config_file, desk.home))

    return typed


def test_the_home_folder_is_the_users_own_where_no_variable_names_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CTXHOST_HOME")
    assert default_home().name == "ctxhost"
    assert Globals().home == default_home()
    monkeypatch.setenv("CTXHOST_HOME", "elsewhere")
    assert default_home() == Path("elsewhere")


def test_init_writes_a_file_once_and_says_what_is_next(desk: Desk, run: Type) -> None:
    first = run("init")
    assert first.exit_code == 0
    assert "next:" in first.output
    assert "in_place: true" in (desk.home / "config.yaml").read_text()
    again = run("init")
    assert isinstance(again.exception, UsageError)
    assert "--force" in again.exception.advice
    (desk.home / "config.yaml").write_text("")
    assert run("init", "--force").exit_code == 0
    assert desk.load().config.compression.in_place


def test_init_here_writes_a_file_that_counts_at_once(desk: Desk, run: Type) -> None:
    assert run("init", "--here").exit_code == 0
    loaded = desk.load()
    assert loaded.config.compression.in_place
    assert loaded.warnings == ()


def test_show_prints_the_values_and_the_thresholds(desk: Desk, run: Type) -> None:
    desk.write("model: {context_length: 100000}\ncompression: {threshold: 0.4}\n")
    output = run("config", "show").output
    assert "  threshold: 0.4\n" in output
    assert "64,000  raised to the floor of 64,000" in output
    assert "default" not in output.split("# resolved")[0]


def test_show_with_origin_says_where_from_and_which_files_were_looked_at(desk: Desk, run: Type) -> None:
    home = desk.write("compression: {threshold: 0.4}\n")
    desk.write("title: My site\n", project=True)
    output = run("config", "show", "--origin").output
    assert f"# {home}:1" in next(line for line in output.splitlines() if "threshold: 0.4" in line)
    assert "config.yaml: not used, somebody else's file" in output


def test_what_show_prints_is_a_configuration_that_means_the_same(desk: Desk, run: Type, tmp_path: Path) -> None:
    desk.write(
        "model: {name: '4.10', fallback: [a]}\nengines: {x: {on: 'yes', list: [1, 'two: 3']}}\ncompression: {small_window_floor: 0.75}"
    )
    printed = tmp_path / "printed.yaml"
    printed.write_text(run("config", "show", "--origin").output)
    assert desk.load(printed).config == desk.load().config


def test_show_never_prints_a_password_or_steers_the_terminal(desk: Desk, run: Type) -> None:
    desk.write('model: {base_url: "https://me:s3cret@host/v1?api_key=s3cret"}\nengines: {x: {token: s3cret, "\\e[2J": "\\e[2J"}}')
    for words in (("config", "show"), ("config", "show", "--origin"), ("config", "show", "--json")):
        output = run(*words).output
        assert "s3cret" not in output
        assert "\x1b" not in output
        assert "host/v1" in output


def test_show_as_json_holds_values_origins_budgets_and_files(desk: Desk, run: Type) -> None:
    desk.write("compression: {threshold: 0.4}")
    document = json.loads(run("config", "show", "--json").stdout)
    assert document["values"]["compression"]["threshold"] == 0.4
    assert document["origins"]["compression.threshold"]["kind"] == "file"
    assert set(document["budgets"]) == set(LABELS)
    assert document["files"][0]["used"] is True


def test_show_says_what_the_model_costs_and_who_writes_summaries(desk: Desk, run: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    desk.write("model: {name: gpt-4o, max_tokens: 4096}\nauxiliary: {compression: {model: odd, base_url: 'http://127.0.0.1:9/v1'}}")
    output = run("config", "show").output
    for said in (
        "kept for the answer     4,096  model.max_tokens, ",
        "in from the cache; per million tokens, listed",
        "summaries by       odd, window 128,000 (guessed; set auxiliary.compression.context_length)",
        f"summaries by       gpt-4o cannot be asked: {NO_KEY}",
    ):
        assert said in output
    document = json.loads(run("config", "show", "--json").stdout)
    assert document["model"]["price"]["source"] == "listed"
    assert (document["model"]["window"], document["model"]["window_is_guessed"]) == (128_000, False)
    assert document["summary_models"] == [
        {"name": "odd", "window": 128_000, "window_is_guessed": True, "missing": None},
        {"name": "gpt-4o", "window": 128_000, "window_is_guessed": False, "missing": NO_KEY},
    ]


def test_show_marks_a_guess_and_says_what_sets_it(desk: Desk, run: Type) -> None:
    desk.write("model: {name: odd, price: {input: 0.25, output: 2}}")
    output = run("config", "show").output
    assert "the window of odd is not known: guessed; set model.context_length" in output
    assert "(from a guess)" in next(line for line in output.splitlines() if line.startswith("# compact at"))
    assert "price              $0.25 in, $2.00 out; per million tokens, model.price" in output
    document = json.loads(run("config", "show", "--json").stdout)
    assert document["budgets"]["threshold"]["guessed"] is True
    desk.write("model: {name: odd, context_length: 9000}")
    output = run("config", "show").output
    assert "(from a guess)" not in output and "guessed" not in output
    assert "price              unknown; set model.price" in output


def test_check_says_fine_or_names_every_problem(desk: Desk, run: Type) -> None:
    assert "no problems" in run("config", "check").output
    desk.write("a: 1\nb: 2\n")
    failed = run("config", "check")
    assert isinstance(failed.exception, ConfigError)
    assert failed.exception.exit_status == 2
    assert len(failed.exception.problems) == 2
    as_json = run("config", "check", "--json")
    assert as_json.exit_code == 2
    assert [problem["key"] for problem in json.loads(as_json.stdout)["problems"]] == ["a", "b"]


def test_check_names_the_engines_whose_settings_it_did_not_check(desk: Desk, run: Type) -> None:
    desk.write("context: {engine: recap}\nengines: {recap: {words: 5}, compressor: {timeout: 3}}\n")
    assert "not checked: the settings of recap; `ctxhost engines check NAME`" in run("config", "check").output
    assert json.loads(run("config", "check", "--json").stdout)["unchecked"] == ["recap"]
    desk.write("")
    assert "not checked" not in run("config", "check").output


def test_set_changes_the_home_file_and_says_when_another_source_wins(desk: Desk, run: Type) -> None:
    assert "is set" in run("config", "set", "compression.threshold", "0.4").output
    assert desk.load().config.compression.threshold == 0.4
    desk.write("compression: {threshold: 0.6}", project=True)
    assert "not in force here" in run("config", "set", "compression.threshold", "0.5").stderr
    run("config", "set", "--here", "compression.threshold", "0.7")
    assert desk.load().config.compression.threshold == 0.7


def test_set_takes_a_negative_number_for_a_value_not_for_an_option(run: Type) -> None:
    failed = run("config", "set", "compression.protect_last_n", "-1")
    assert isinstance(failed.exception, ConfigError)
    assert "found -1" in str(failed.exception)


def test_schema_lists_every_key_for_people_and_for_editors(run: Type) -> None:
    assert "compression.threshold: a number above 0 and at most 1, default 0.5" in run("config", "schema").output
    schema = json.loads(run("config", "schema", "--json").stdout)
    assert schema["$defs"]["CompressionSection"]["properties"]["threshold"]["exclusiveMinimum"] == 0


def test_trust_is_given_listed_and_taken_back(desk: Desk, run: Type) -> None:
    assert isinstance(run("config", "trust").exception, UsageError)
    path = desk.write("model: {base_url: 'http://localhost'}\ncontext: {}\n", project=True)
    assert "trusted until one of its files changes" in run("config", "trust").output
    assert desk.load().config.model.base_url == "http://localhost"
    assert str(desk.project.resolve()) in run("config", "trust", "--list").output
    path.write_text("context: {}\n#")
    assert "changed since" in run("config", "trust", "--list").output
    assert "no longer trusted" in run("config", "trust", "--revoke", str(path)).output
    assert json.loads(run("config", "trust", "--list", "--json").stdout) == []
    assert isinstance(run("config", "trust", str(desk.project / "none")).exception, UsageError)


def test_the_reference_in_the_docs_is_the_one_of_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "configuration.md"
    assert markdown_reference() in page.read_text("utf-8")
