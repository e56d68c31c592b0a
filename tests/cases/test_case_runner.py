"""The runner itself: what it prints, what it skips and why, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host.discovery.loading import load_directory
from tests.cases.__main__ import main
from tests.cases.case import BadFile, Case, expand, read_cases
from tests.cases.described import amount_of, prose, schemas
from tests.cases.drivers import DRIVERS, driver_of
from tests.cases.expectations import misses
from tests.cases.facts import Each, Facts, NoCheck, NoDriver
from tests.cases.run import run_case
from tests.cases.world import World

ROOT = Path(__file__).parents[2]
RIGHT = {"context_length": 64_000, "threshold_percent": 0.5}

Write = Callable[..., Path]


def told(**changed: Any) -> dict[str, Any]:
    """A case that passes, unless something is changed."""
    return {"id": "X1", "kind": "tokens", "issue": 1, "input": RIGHT, "expected": {"threshold_tokens": 54_400}} | changed


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def cases(*lines: dict[str, Any] | str) -> Path:
        path = tmp_path / "cases.jsonl"
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
        return path

    return cases


def test_a_file_in_which_all_is_right(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(write(told(), "", told(id="X2", issue=9)))]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "skipped, needs issue 9: X2",
        "tokens: 1 passed, 0 failed, 1 skipped",
        "1 passed, 0 failed, 1 skipped",
    ]


def test_a_failing_case_says_what_was_expected_and_got(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(write(told(expected={"threshold_tokens": 1}), told(id="X2")))]) == 1
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == 'X1 tokens: expected {"threshold_tokens": 1}, got {"threshold_tokens": {"formula": 54400, "engine": 54400}}'
    assert last == "1 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"issue": 9}, "needs issue 9"),
        ({"kind": "weather"}, "no driver for kind weather"),
        ({"input": {"rain": 1}}, "no driver for a tokens case with rain"),
        ({"input": {}}, "no driver for a tokens case with an empty input"),
        ({"expected": {"threshold_tokens": 54_400, "colour": "blue"}}, "no check for colour"),
        ({"expected": {"threshold_tokens": "what one would think"}}, "no check for threshold_tokens = 'what one would think'"),
        ({"expected": {"threshold_tokens": 1, "or": "a word of comfort"}}, "no check for 'a word of comfort'"),
        ({"input": {"messages": "a few messages"}}, "no driver reads 'a few messages'"),
        ({"kind": "storage", "input": {"steps": ["sing a song"]}}, "no driver reads the step 'sing a song'"),
        ({"kind": "search", "input": {"archive": ["a"], "lcm_grep": {"q": "a"}}}, "no driver reads {'q': 'a'} as a search"),
        (
            {"kind": "search", "input": {"archive": ["a"], "lcm_grep": {"query": "a"}}, "expected": {"result": "a nice list"}},
            "no check for result = 'a nice list'",
        ),
    ],
)
def test_what_cannot_be_judged_is_skipped_with_the_reason(changed: dict[str, Any], reason: str, write: Write) -> None:
    [case] = read_cases(write(told(**changed)))
    verdict = run_case(case)
    assert (verdict.outcome, verdict.skipped) == ("skipped", reason)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((told(), "{"), "cases.jsonl:2: this is no JSON"),
        (("[]",), "cases.jsonl:1: a case is an object"),
        ((told(input=[]),), "cases.jsonl:1: a case needs `input`"),
        ((told(issue=True),), "cases.jsonl:1: a case needs `issue`"),
        ((told(input={"text": {"$repeat": 5}}),), "cases.jsonl:1: a short form cannot be written out"),
    ],
)
def test_a_damaged_file_is_wrong_usage(lines: tuple[Any, ...], said: str, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(write(*lines))]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("choice", [["--id", "X9"], ["--kind", "weather"], ["--id", "X1", "--kind", "search"]])
def test_a_choice_that_no_case_meets_is_wrong_usage(choice: list[str], write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(write(told(), told(id="X2", kind="search"))), *choice]) == 2
    assert "no case has" in capsys.readouterr().err


def test_a_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    assert main([str(tmp_path / "nowhere.jsonl")]) == 2
    with pytest.raises(BadFile, match="No such file"):
        read_cases(tmp_path / "nowhere.jsonl")


def test_kind_and_id_choose(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(told(), told(id="X2"), told(id="X3", kind="search", issue=2)))
    assert main([path, "--id", "X2"]) == 0
    assert capsys.readouterr().out.endswith("1 passed, 0 failed, 0 skipped\n")
    assert main([path, "--kind", "search"]) == 0
    assert capsys.readouterr().out.endswith("0 passed, 0 failed, 1 skipped\n")


def test_the_command_runs_from_the_checkout(write: Write) -> None:
    command = [sys.executable, "-m", "tests.cases", str(write(told(expected={"threshold_tokens": "\ud800"})))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith(r'X1 tokens: expected {"threshold_tokens": "\ud800"}, got')


def test_what_the_product_raises_is_a_failure() -> None:
    case = Case("X", "tokens", 1, {"context_length": "wide"}, {"threshold_tokens": 5})
    [miss] = run_case(case).missed
    assert str(miss.got).startswith("raised TypeError")


SEEN: Facts = {"raises": False, "count": 5, "ways": Each(a=1, b=2), "flag": True, "blocks_with_*": len, "*_kept": str.upper} | {
    "same": 5,
    "searched": {"hits": 2},
    "says": "nothing there",
    "error_lines": ["busy: a", "busy: b"],
    "opened": "refused by name",
    "empty": "",
    "retried": Each(a=False, b=True),
    "fell_back": Each(a=True, b=False),
    "silent_loss": Each(a=False, b=False),
    "fallback_fits": Each(a=True, b=False),
    "terminal_message": Each(a=False, b=False),
    "endless_loop": Each(a=False, b=False),
    "stored_summary_tokens": Each(a=[90, 100], b=[80]),
    "max_summary_tokens": Each(a=100, b=90),
}


@pytest.mark.parametrize(
    ("expected", "missed"),
    [
        ({"count": 5, "note": "whatever", "formula": "2 + 3"}, []),
        ({"count": 6}, ["count"]),
        ({"count_at_least": 5, "count_less_than": 6, "count_in": [4, 5], "count<=": 5}, []),
        ({"count_at_least": 6}, ["count_at_least"]),
        ({"count_less_than": 5}, ["count_less_than"]),
        ({"ways_at_least": 1}, []),
        ({"ways_at_least": 2}, ["ways_at_least"]),
        ({"flag": True}, []),
        ({"flag": 1}, ["flag"]),
        ({"blocks_with_abc": 3, "path_kept": "PATH"}, []),
        ({"blocks_with_abc": 1}, ["blocks_with_abc"]),
        ({"count": 6, "or": {"flag": True}}, []),
        ({"count": 6, "or": {"flag": False}}, ["count"]),
        ({"either": {"count": 6}, "or": {"flag": True}}, []),
        ({"either": {"count": 6}, "or": {"flag": False}}, ["count"]),
        ({"count": 6, "either": {"flag": True}, "or": "a word of comfort"}, ["count"]),
        ({"raises": False}, []),
        ({"raises": True}, ["raises"]),
        ({"count==same": True, "ways==same": False}, []),
        ({"count==same": False}, ["count==same"]),
        ({"search": {"query": "x", "hits": 2}}, []),
        ({"search": {"query": "x", "hits_at_least": 3}}, ["search"]),
        ({"errors_matching": "busy: 2"}, []),
        ({"errors_matching": "busy: 0"}, ["errors_matching"]),
        ({"open": "repaired or a clear error that names the file and keeps a copy"}, []),
        ({"says_not_contains": ["something", "somewhere"]}, []),
        ({"says_not_contains": "there", "empty_not_contains": "there"}, ["says_not_contains", "empty_not_contains"]),
        ({"count": 5, "same": "same"}, []),
        ({"count": 5, "says": "same"}, ["says"]),
        ({"allowed": "retry, or deterministic fallback; not silent loss"}, []),
        ({"allowed": "retry; not silent loss"}, ["allowed"]),
        ({"after_attempts<=3": "either a deterministic fallback that fits, or a clear terminal message"}, ["after_attempts<=3"]),
        ({"stored_summary_tokens<=": "max_summary_tokens each round"}, []),
        ({"stored_summary_tokens<=": 95}, ["stored_summary_tokens<="]),
        ({"count": 6, "or": "error text 'nothing'"}, []),
        ({"count": 6, "or": "error text 'something'"}, ["count"]),
    ],
)
def test_how_expectations_are_judged(expected: dict[str, Any], missed: list[str]) -> None:
    assert [miss.key for miss in misses(expected, SEEN)] == missed


def test_a_key_that_nothing_answers_is_not_passed() -> None:
    with pytest.raises(NoCheck, match="no check for colour"):
        misses({"count": 5, "colour": "blue"}, SEEN)


def test_short_forms() -> None:
    form = {"$concat": ["a", {"$repeat": ["b", 3]}, {"$join": ["-", {"$range": ["n", 2]}]}]}
    assert expand({"x": [form], "y": {"$repeat": ["z", 2], "more": 1}}) == {"x": ["abbbn0-n1"], "y": {"$repeat": ["z", 2], "more": 1}}


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("estimated 60000 tokens", "tokens", 60_000),
        ("60K estimated tokens", "tokens", 60_000),
        ("1.5M tokens", "tokens", 1_500_000),
        ("50 schemas, 80,000 chars of JSON", "chars", 80_000),
        ("50 schemas, 80,000 chars of JSON", "schemas", 50),
        ("a few", "tokens", None),
    ],
)
def test_amounts_in_words(text: str, unit: str, amount: int | None) -> None:
    assert amount_of(text, unit) == amount


def test_things_of_a_described_size() -> None:
    made = schemas("50 schemas, 80,000 chars of JSON")
    assert len(made) == 50
    assert len(json.dumps(made)) == pytest.approx(80_000, rel=0.01)
    assert len(prose(20_000)) == 20_000


@pytest.mark.parametrize("row", range(len(DRIVERS)))
def test_every_driver_has_a_case_that_no_earlier_one_takes(row: int) -> None:
    files = (ROOT / "tests" / "given" / "cases.jsonl", ROOT / "tests" / "cases" / "own.jsonl")
    cases = [case for file in files for case in read_cases(file)]
    assert any(DRIVERS[row].takes(case) and driver_of(case) is DRIVERS[row] for case in cases)


def test_an_id_decides_nothing() -> None:
    with pytest.raises(NoDriver):
        driver_of(Case("C143", "tokens", 1, {}, {}))


def test_a_file_outside_the_plugin_folders_would_be_caught(tmp_path: Path) -> None:
    world = World(tmp_path, {"context": {"engine": "../../tmp/evil"}})
    assert world.lie_in_wait() == 2  # from the home folder and from the plugin folder
    assert world.caught() == 0
    load_directory(world.home / "../../tmp/evil")
    assert world.caught() == 1
