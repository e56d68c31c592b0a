"""The summary that needs no model: what it keeps, how it is carried on, what it leaves out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.compressor.grounding import ground_snapshot
from host.compressor.marks import is_marked
from host.compressor.notes import CHARS, LEAST, allows, collect_notes, notes_budget, parse_notes, render, write_notes
from host.compressor.sources import SOURCES, Turns
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
    assert "Build the importer. You must never write to /srv/live." in rules
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
    assert "Build the importer. You must never write to /srv/live." in items(second, Section.CONSTRAINTS)
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


def test_a_grounded_snapshot_becomes_an_older_request_when_a_new_one_comes() -> None:
    previous = ground_snapshot("## Blocked\nNone\n\n## Goal\nShip it.", [user('Don\'t port the "old" parser.')], redact)
    assert parse_notes(previous)[Section.TASK] == ['Don\'t port the "old" parser.']
    body = notes([user("go on")], previous=previous)
    assert items(body, Section.ASKS) == ['Don\'t port the "old" parser.']
    assert "deterministic" not in body and "None" not in body


def test_values_of_an_earlier_state_stay_known() -> None:
    first = notes([assistant("All is calm. The importer now reads 250 rows from /srv/in/a.csv.")])
    second = notes([assistant("Done.")], previous=first)
    assert items(second, Section.STATE) == ["Done."]
    assert items(second, Section.CONTEXT) == ["The importer now reads 250 rows from /srv/in/a.csv."]


def test_secrets_are_masked_before_a_text_is_cut() -> None:
    key = "sk-" + "a1B2c3D4" * 6
    body = notes([user(f"Use {key} for the api, you must.")])
    assert key not in body and key[:20] not in body


KEY = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow+IBAAKCAQ/EAx9vd2Q5\nkq3Zr7Lm5bN8Qp\n-----END RSA PRIVATE " + "KEY-----"


@pytest.mark.parametrize(
    "turn",
    [
        user(f"You must use this:\n{KEY}\nand never print it."),
        assistant(f"I decided on `this` because of it:\n{KEY}\nin /srv/keys/a.pem."),
        assistant(None, [call("a", "terminal", {"command": f"echo '{KEY}' > a.pem"})]),
        assistant(None, [call("a", "deploy", {"steps": ["one", f"with {KEY}"], "to": {"key": KEY}})]),
        result("a", f"error: bad key\n{KEY}\nerror: gave up"),
    ],
)
def test_a_secret_of_several_lines_is_masked_before_it_is_taken_apart(turn: Message) -> None:
    body = notes([turn], opening=f"{'x' * 1_950} {KEY}")
    assert body and not any(part in body for part in ("MIIEow", "kq3Zr7", "x9vd2Q5"))


def test_instructions_that_came_after_the_prompt_are_rules_as_well() -> None:
    assert "Never answer in prose." in items(notes([system("Never answer in prose.")]), Section.CONSTRAINTS)


@pytest.mark.parametrize(
    "line",
    ["0 failed, 12 passed", "no errors found", "plugins: timeout-2.3.1", "12→ } catch (error) {", "+    raise ValueError", "def failed():"],
)
def test_lines_that_report_no_failure_are_not_taken_for_one(line: str) -> None:
    assert collect_notes(Turns([result("a", line)], redact))[Section.BLOCKED] == []


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
    assert collect_notes(Turns([result("a", f"ok\n{line}\nok")], redact))[Section.BLOCKED] == [line]


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
    found = collect_notes(Turns(turns, redact))[section]
    assert len(found) <= SOURCES[section].limit
    assert all(len(item) <= SOURCES[section].chars for item in found)


def test_what_the_user_replaced_is_told_no_longer() -> None:
    first = notes([user("The budget cap is $305 in total, never exceed it."), user("Deploy to eu-north-1 on port 8080.")])
    assert "$305" in first and "8080" in first
    second = notes([user("The budget cap is $727 in total, never exceed it."), user("Use port 9090 instead of 8080.")], previous=first)
    assert "$727" in second and "$305" not in second
    assert "9090" in second and "eu-north-1" in second
    assert "port 8080" not in second


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ("The weekly report goes out on Monday.", "Send the weekly report on Tuesday instead.", "Monday"),
        ("The staging API is at https://a.internal/v2.", "The staging API is now at https://b.internal/v2.", "a.internal"),
        ("The deadline is 2027-03-01.", "The deadline moved to 2027-04-15.", "2027-03-01"),
    ],
)
def test_what_an_earlier_summary_says_is_replaced_as_well(before: str, after: str, gone: str) -> None:
    first = notes([user(before), assistant("Noted."), user("go on")])
    assert gone in first
    second = notes([user(after), assistant("Noted."), user("go on")], previous=first)
    assert gone not in second and after.split()[-1].rstrip(".") in second


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Rule 1: never touch file number 37 of the set.", "Rule 2: never touch file number 74 of the set."),
        ("<name>/create-spec</name>", "<name>/clear</name>"),
        ("Report all times in Zone/Alpha.", "The launch is fixed at 2027-07-03; the date does not move."),
    ],
)
def test_two_statements_of_two_things_stand_side_by_side(before: str, after: str) -> None:
    body = notes([user(before), user(after)], previous=notes([user(before)]))
    assert before in body and after in body and not is_marked(body)


def test_what_is_said_again_holds_again() -> None:
    first = notes([user("The report goes out on Monday."), user("The report goes out on Tuesday instead.")])
    assert "Monday" not in first
    assert "Monday" in notes([user("The report goes out on Monday after all.")], previous=first)


def test_a_request_that_gave_way_to_a_newer_one_is_cut_like_the_others() -> None:
    long = "Please look at the importer. " + "It is slow and nobody knows why. " * 20
    first = notes([user(long)])
    assert len(items(first, Section.TASK)[0]) > 600
    second = notes([user("Now the docs.")], previous=first)
    assert [len(item) <= SOURCES[Section.ASKS].chars for item in items(second, Section.ASKS)] == [True]


def test_what_the_room_leaves_goes_to_rules_before_it_goes_to_small_talk() -> None:
    rules = [user(f"Never rename the {name} module without asking me first.") for name in ("billing", "search", "import", "export", "mail")]
    chatter = [user(f"Walking through the {name} pages for a while.") for name in ("billing", "search", "import", "export", "mail")]
    body = notes([*rules, *chatter], limit=560)
    assert len(items(body, Section.CONSTRAINTS)) == 5


@pytest.mark.parametrize(("new", "before", "budget"), [(400, 0, LEAST), (8_000, 0, 2_000), (400, 900, 1_000), (0, 10, LEAST)])
def test_the_budget_follows_what_is_replaced(new: int, before: int, budget: int) -> None:
    assert notes_budget(new, before) == budget


@pytest.mark.parametrize(("size", "costs", "is_allowed"), [(LEAST, [], True), (LEAST + 1, [400], False), (2_000, [4_000, 4_000], True)])
def test_a_budget_is_looked_up_in_what_the_turns_cost(size: int, costs: list[int], is_allowed: bool) -> None:
    assert allows(size, costs, 0) is is_allowed


def test_no_more_turns_are_counted_than_a_size_needs() -> None:
    costs = iter([4_000, 4_000, 4_000])
    assert allows(2_000, costs, 0)
    assert list(costs) == [4_000]


def test_look_alikes_replace_nothing() -> None:
    body = notes([user("Staging runs on port 8080."), user("Production runs on port 9090."), user("Never call eu-north-1 before 09:00.")])
    assert all(value in body for value in ("8080", "9090", "eu-north-1"))


def test_a_rule_keeps_what_it_is_about() -> None:
    body = notes([user("The cap is $500. Never go over it without asking."), user("x " * 200 + ". You must never sleep.")])
    assert "The cap is $500. Never go over it without asking." in items(body, Section.CONSTRAINTS)
    assert "You must never sleep." in items(body, Section.CONSTRAINTS)


def test_requests_that_state_something_come_before_those_that_do_not() -> None:
    chatter = [user(f"Going through module {name} of the pipeline, all calm there.") for name in "abcdefghijkl"]
    body = notes([user("I would like answers in a playful tone."), *chatter], limit=420)
    assert "playful tone" in body


@given(histories(), st.integers(400, 3_000))
def test_nothing_that_a_summary_holds_is_lost_by_summarising_it_again(history: list[Message], limit: int) -> None:
    body = notes(history, limit=limit)
    for _ in range(3):
        again = notes([], previous=body, limit=limit, opening="")
        assert sorted(map(str.strip, again.splitlines())) == sorted(map(str.strip, body.splitlines()))
        body = again


def test_the_room_is_used_to_its_end() -> None:
    turns = [user(f"Rule {n}: never touch file number {n * 37} of the set.") for n in range(300)]
    assert len(notes(turns, limit=2_000)) > 1_500


def test_nothing_renders_as_nothing() -> None:
    assert render({}) == "" == notes([], opening="")
