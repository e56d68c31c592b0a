"""The summary that needs no model: what it keeps, how it is carried on, what it leaves out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.compressor.notes import CHARS, collect_notes, parse_notes, render, write_notes
from host.compressor.sources import SOURCES
from host.compressor.template import Section
from host.messages.redact import redact
from host.messages.types import Message
from host.testing.histories import histories
from host.testing.messages import assistant, call, result, system, user

TURNS = [
    user("Build the importer. You must never write to /srv/live.\n- Batch size is 250 rows, ticket IMP-418."),
    assistant("I'll start with the parser.", [call("a", "Read", {"file_path": "src/importer/parse.py"})]),
    result("a", "def parse(row):\n    raise ValueError('error')\n"),
    assistant("I decided on csv instead of pandas, because the files are small.", [call("b", "Bash", {"command": "pytest -q"})]),
    result("b", "1 failed, 3 passed\nE   AssertionError: expected 250, got 100\nExit code: 1"),
    user("接口超时必须是 8 秒，不要改 config/prod.yaml。"),
    assistant("The limit is now 250 in src/importer/batch.py."),
]


def notes(turns: list[Message], previous: str = "", limit: int = CHARS, opening: str = "Build the importer.") -> str:
    return write_notes(turns, previous=previous, opening=opening, mask=redact, fits=lambda body: len(body) <= limit)


def items(body: str, section: Section) -> list[str]:
    return parse_notes(body).get(section, [])[::-1]


def test_each_section_gets_what_belongs_there() -> None:
    body = notes(TURNS)
    assert items(body, Section.GOAL) == ["Build the importer."]
    assert items(body, Section.TASK) == ["接口超时必须是 8 秒，不要改 config/prod.yaml。"]
    rules = items(body, Section.CONSTRAINTS)
    assert "You must never write to /srv/live." in rules
    assert "Batch size is 250 rows, ticket IMP-418." in rules
    assert "接口超时必须是 8 秒，不要改 config/prod.yaml。" in rules
    assert any("instead of pandas" in item for item in items(body, Section.DECISIONS))
    assert "[Bash] ran `pytest -q` -> exit 1, 3 lines output" in items(body, Section.ACTIONS)
    assert "src/importer/parse.py" in items(body, Section.FILES)
    assert items(body, Section.STATE) == ["The limit is now 250 in src/importer/batch.py."]
    blocked = items(body, Section.BLOCKED)
    assert any("AssertionError: expected 250" in line for line in blocked)
    assert not any("def parse" in line or "raise" in line for line in blocked)


def test_sections_come_in_the_order_of_the_template() -> None:
    headings = [line[3:] for line in notes(TURNS).splitlines() if line.startswith("## ")]
    assert headings == [section for section in Section if section in headings]


@pytest.mark.parametrize("limit", [400, 1_000, 2_000, 8_000])
def test_the_body_fits_and_the_rules_are_in_it_first(limit: int) -> None:
    body = notes(TURNS, limit=limit)
    assert 0 < len(body) <= limit
    assert "never write to /srv/live" in body or limit < 500


def test_a_rule_of_the_beginning_outlives_many_later_ones() -> None:
    turns = [user("You must never touch production."), *(user(f"Only use port {8000 + n} for service {n}.") for n in range(60))]
    body = notes(turns, limit=2_000)
    assert "never touch production" in body
    assert "port 8059" in body


def test_items_are_carried_from_summary_to_summary_and_actions_are_numbered_on() -> None:
    first = notes(TURNS)
    later = [assistant(None, [call("c", "Bash", {"command": "git push"})]), result("c", "Exit code: 0"), user("Now the docs.")]
    second = notes(later, previous=first)
    assert "You must never write to /srv/live." in items(second, Section.CONSTRAINTS)
    assert items(second, Section.TASK) == ["Now the docs."]
    assert items(second, Section.GOAL) == ["Build the importer."]
    actions = items(second, Section.ACTIONS)
    assert actions[-1] == "[Bash] ran `git push` -> exit 0, 1 lines output" and len(actions) == 3
    assert "3. [Bash] ran `git push`" in second


def test_a_model_written_summary_is_taken_up_too() -> None:
    previous = "## Goal\nShip it.\n\n## Constraints & Preferences\n1. No new dependencies\n\nloose text"
    body = notes([user("go on")], previous=previous)
    assert items(body, Section.GOAL) == ["Ship it."]
    assert "No new dependencies" in items(body, Section.CONSTRAINTS)
    assert "loose text" in body


def test_secrets_are_masked_before_a_text_is_cut() -> None:
    key = "sk-" + "a1B2c3D4" * 6
    body = notes([user(f"Use {key} for the api, you must.")])
    assert key not in body and key[:20] not in body


def test_instructions_that_came_after_the_prompt_are_rules_as_well() -> None:
    assert "Never answer in prose." in items(notes([system("Never answer in prose.")]), Section.CONSTRAINTS)


@pytest.mark.parametrize(
    "line",
    ["0 failed, 12 passed", "no errors found", "plugins: timeout-2.3.1", "12→ } catch (error) {", "+    raise ValueError", "def failed():"],
)
def test_lines_that_report_no_failure_are_not_taken_for_one(line: str) -> None:
    assert collect_notes([result("a", line)], redact)[Section.BLOCKED] == []


@pytest.mark.parametrize(
    "line",
    [
        "FAILED tests/test_a.py::test_b",
        "bash: foo: command not found",
        "npm ERR! error code 1",
        "panic: fatal",
        "错误：超时",
        "TypeError: x",
    ],
)
def test_lines_that_report_a_failure_are_taken(line: str) -> None:
    assert collect_notes([result("a", f"ok\n{line}\nok")], redact)[Section.BLOCKED] == [line]


@given(histories(), st.integers(60, 3_000))
def test_any_history_gives_a_body_that_fits_and_reads_back(history: list[Message], limit: int) -> None:
    body = notes(history, limit=limit)
    assert len(body) <= limit
    again = notes([], previous=body, limit=limit, opening="")
    assert parse_notes(again).keys() == parse_notes(body).keys()


@pytest.mark.parametrize("section", SOURCES)
def test_no_section_is_longer_than_its_limit(section: Section) -> None:
    turns = [
        m for n in range(200) for m in (user(f"must {n}"), assistant(f"decided {n}.5 in /a/b{n}.py", [call("c", "f", {"path": f"/p/{n}"})]))
    ]
    found = collect_notes(turns, redact)[section]
    assert len(found) <= SOURCES[section].limit
    assert all(len(item) <= SOURCES[section].chars for item in found)


def test_nothing_renders_as_nothing() -> None:
    assert render({}) == "" == notes([], opening="")
