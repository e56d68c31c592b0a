"""``ctxhost grep`` as a user and a pipe meet it."""

from __future__ import annotations

import json
import shlex
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from host.cli import run
from host.errors import UsageError
from host.store.moments import moment_of
from host.testing.messages import user
from tests.cli.conftest import Home

Printed = pytest.CaptureFixture[str]
NOW = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)


def hits(printed: Printed) -> list[str]:
    """The lines of hits, as a pipe that leaves the rest out sees them."""
    return [line for line in printed.readouterr().out.splitlines() if not line.startswith("--")]


def shown(printed: Printed) -> Any:
    """What --json said."""
    return json.loads(printed.readouterr().out)


def test_a_pipe_gets_a_line_a_hit_with_tabs_between_and_the_text_as_it_is(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    assert home.run("grep", "needle-42") == 0
    lines = capsys.readouterr().out.splitlines()
    where, time, role, title, text = lines[0].split("\t")
    assert where == f"{conversation}:4" and role == "tool (read_file)" and title == "work"
    assert datetime.fromisoformat(time)
    assert "and a needle-42" in text and "\\x1b[2J" in text and "\x1b" not in text and "\x07" not in text
    assert lines[1] == "-- 1 hit (literal); scanned all 7 messages"


def test_a_terminal_gets_highlights_and_without_color_marks(home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = home.talk()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    home.run("grep", "needle-42")
    where, text, _ = capsys.readouterr().out.splitlines()
    assert f"{conversation}:4" in where and "\x1b[1;31mneedle-42\x1b[0m" in text and "\x1b[2J" not in text
    home.run("--no-color", "grep", "needle-42")
    assert "«needle-42»" in capsys.readouterr().out


def test_no_hit_is_status_1_and_says_how_far_the_search_got(home: Home, capsys: Printed) -> None:
    home.talk()
    assert home.run("grep", "nowhere-to-be-found") == 1
    assert "scanned all 7 messages" in capsys.readouterr().out


def test_a_pattern_that_is_none_is_status_2_with_what_to_do(home: Home, capsys: Printed) -> None:
    home.talk()
    assert home.run("grep", "(", "--mode", "regex") == 2
    what, advice = capsys.readouterr().err.splitlines()
    assert "is no regular expression" in what and advice


def test_without_an_archive_that_is_said_and_no_file_is_made(home: Home, capsys: Printed) -> None:
    assert home.run("grep", "x") == 1
    assert capsys.readouterr().err.startswith("error: there is no archive in")
    assert not home.path.exists()


def test_a_replay_is_searched_by_its_name_and_an_unknown_one_lists_them(home: Home, capsys: Printed) -> None:
    home.path.mkdir()
    assert home.run("grep", "x", "--replay", "nothing") == 2
    assert "no replay is called 'nothing'" in capsys.readouterr().err
    recording = home.path / "talk.json"
    recording.write_text(json.dumps([user("a needle-42"), user("and more")]))
    home.run("replay", str(recording), "--json")
    name = shown(capsys)["replay"]
    assert home.run("grep", "needle-42", "--replay", name) == 0
    assert len(hits(capsys)) == 1


def test_the_line_for_the_next_page_can_be_typed_as_it_stands(home: Home, capsys: Printed) -> None:
    home.talk("many", [user(f"it's number {number}, --odd") for number in range(5)])
    words = ["grep", "--limit", "2", "--since", "1h", "--session", "many", "--", "it's number"]
    found: list[str] = []
    for _ in range(4):
        assert home.run(*words) == 0
        lines = capsys.readouterr().out.splitlines()
        found += [line.split("\t")[-1] for line in lines if not line.startswith("--")]
        more = next((line for line in lines if line.startswith("-- more: ")), None)
        if more is None:
            break
        words = shlex.split(more.removeprefix("-- more: "))[1:]
    assert found == [f"it's number {number}, --odd" for number in range(4, -1, -1)]


def test_a_cursor_of_another_search_is_refused(home: Home, capsys: Printed) -> None:
    home.talk("many", [user(f"number {number}") for number in range(3)])
    home.run("grep", "number", "--limit", "1", "--json")
    cursor = shown(capsys)["cursor"]
    assert home.run("grep", "other", "--cursor", cursor) == 2


def test_a_session_means_its_whole_conversation_unless_it_is_wanted_alone(home: Home, capsys: Printed) -> None:
    conversation = home.talk("work", [user("needle one"), user("x"), user("y"), user("z"), user("q")])
    home.compact(conversation, covers=range(2, 4), rotate=True)
    with home.opened() as store:
        store.archive(conversation).append(user("needle two"))
    home.talk("other", [user("needle three")])
    counts = []
    for narrowed in ([], ["--session", "work #2"], ["--session", conversation, "--session-only"]):
        home.run("grep", "needle", *narrowed)
        counts.append(len(hits(capsys)))
    assert counts == [3, 2, 1]
    assert home.run("grep", "needle", "--session-only") == 2


def test_role_tool_and_time_narrow_the_search(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    with home.opened() as store:
        store.archive(conversation).append(user("接入 long ago"), time=NOW - timedelta(days=900))
    for narrowed, positions in (
        (["--role", "assistant"], [3]),
        (["--tool", "read_file"], [3]),
        (["--before", "2025-01-01"], [8]),
        (["--since", "1d"], [3, 2]),
        ([], [8, 3, 2]),
    ):
        home.run("grep", "接入", *narrowed, "--json")
        assert [hit["position"] for hit in shown(capsys)["hits"]] == positions, narrowed


def test_context_shows_the_messages_around(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.run("grep", "opens", "--context", "1")
    lines = hits(capsys)
    assert [line.split("\t")[0] for line in lines] == [f"{conversation}:{row}" for row in (4, 5, 6)]
    assert [bool(line.split("\t")[1]) for line in lines] == [False, True, False]  # only the hit has a time


def test_explain_says_how_it_was_found(home: Home, capsys: Printed) -> None:
    home.talk()
    home.run("grep", "needle-42", "--explain")
    assert "-- plan: " in capsys.readouterr().out


def test_json_has_every_hit_with_its_id_and_how_far_it_got(home: Home, capsys: Printed) -> None:
    conversation = home.talk()
    home.run("grep", "door", "--json")
    page = shown(capsys)
    assert page["hits"][0]["id"] == f"{conversation}:5" and page["complete"] is True and page["mode"] == "words"


def midnight(moment: datetime) -> datetime:
    """The beginning of its day, where the user is."""
    return moment.astimezone().replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None).astimezone()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("15m", NOW - timedelta(minutes=15)),
        ("2h ago", NOW - timedelta(hours=2)),
        ("3d", NOW - timedelta(days=3)),
        (" 1W ", NOW - timedelta(days=7)),
        ("2026-11-30T10:00:00+02:00", datetime(2026, 11, 30, 8, 0, tzinfo=UTC)),
        ("2026-11-30T10:00Z", datetime(2026, 11, 30, 10, 0, tzinfo=UTC)),
        ("2026-11-29", datetime(2026, 11, 29).astimezone()),
        ("3 days", NOW - timedelta(days=3)),
        ("15min", NOW - timedelta(minutes=15)),
        ("1y", NOW - timedelta(days=365)),
        ("2 months ago", NOW - timedelta(days=60)),
        ("2026-11", datetime(2026, 11, 1).astimezone()),
        ("Today", midnight(NOW)),
        ("yesterday", midnight(NOW - timedelta(days=1))),
        ("2026-11-29 08:30", datetime(2026, 11, 29, 8, 30).astimezone()),
    ],
)
def test_a_time_is_a_date_a_moment_or_an_age_and_naive_ones_are_local(text: str, moment: datetime) -> None:
    assert moment_of(text, NOW) == moment


@pytest.mark.parametrize(
    "text", ["", "yesterdayish", "3x", "99999999999999d", "2026-13-01", "-3d", "３d", "1M", "2026-13", "9" * 5_000 + "d"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        moment_of(text, NOW)


@pytest.mark.parametrize("pattern", ["(?R)", "((?1))", "(?:" * 3_000 + ")" * 3_000, "a{99999999999999999999}"])
def test_a_pattern_without_end_is_a_users_mistake(home: Home, capsys: Printed, pattern: str) -> None:
    home.talk("short", [user("a b")])
    assert home.run("grep", "--mode", "regex", "--", pattern) == 2
    what, advice = capsys.readouterr().err.splitlines()
    assert ("is no regular expression" in what or "cannot be searched for" in what) and "--mode literal" in advice


def test_the_next_command_looks_where_this_one_did(capsys: Printed, tmp_path: Path) -> None:
    home, config = Home(tmp_path / "a home; of mine"), tmp_path / "my config.yaml"
    config.write_text("compression: {threshold: 0.6}\n")
    home.talk("many", [user(f"number {number}") for number in range(3)])
    assert run(["--config", str(config), "--home", str(home.path), "grep", "number", "--limit", "2"]) == 0
    words = shlex.split(capsys.readouterr().out.splitlines()[-1].removeprefix("-- more: "))
    assert words[:6] == ["ctxhost", "--config", str(config), "--home", str(home.path), "grep"]
    assert run(words[1:]) == 0
    assert "number 0" in capsys.readouterr().out
    recording = tmp_path / "talk.json"
    recording.write_text(json.dumps([user("a needle-42"), user("and more")]))
    assert home.run("replay", str(recording)) == 0
    words = shlex.split(capsys.readouterr().out.splitlines()[-1].partition("window:  ")[2])
    assert run([word.replace("PATTERN", "needle-42") for word in words[1:]]) == 0


def test_what_the_environment_says_need_not_be_typed(home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    home.talk("many", [user(f"number {number}") for number in range(3)])
    monkeypatch.setenv("CTXHOST_HOME", str(home.path))
    assert run(["grep", "number", "--limit", "2"]) == 0
    assert "-- more: ctxhost grep " in capsys.readouterr().out


HUGE = str(1 << 70)


@pytest.mark.parametrize(
    "words",
    [
        ("grep", "door", "--limit", HUGE),
        ("grep", "door", "--context", HUGE),
        ("sessions", "list", "--limit", HUGE),
        ("sessions", "view", "work", "--version", HUGE),
        ("sessions", "diff", "work", "0", HUGE),
        ("archive", "forget", f"last:{HUGE}", "--json"),
        ("archive", "expire", "--older-than", f"{HUGE}d"),
        ("archive", "expire", "--older-than", "999999999d"),
        ("archive", "expire", "--older-than", "9" * 5_000 + "d"),
    ],
)
def test_a_number_beyond_all_bounds_is_a_users_mistake(home: Home, capsys: Printed, words: tuple[str, ...]) -> None:
    home.talk()
    assert home.run(*words) == 2
    assert "ctxhost failed" not in capsys.readouterr().err


def test_the_widest_page_that_may_be_asked_for_is_given(home: Home, capsys: Printed) -> None:
    home.talk()
    assert home.run("grep", "door", "--limit", "1000000", "--context", "10000") == 0
    assert len(hits(capsys)) == 7


def test_a_role_is_one_of_a_list_in_any_case(home: Home, capsys: Printed) -> None:
    home.talk()
    for role in ("assistant", "Assistant", "ASSISTANT"):
        assert home.run("grep", "door", "--role", role) == 0
    for role in ("", "nobody", "assistant "):
        assert home.run("grep", "door", "--role", role) == 2
        assert "'user', 'assistant', 'tool', 'system', 'developer', 'function'" in capsys.readouterr().err
    for tool in ("", "  "):
        assert home.run("grep", "door", "--tool", tool) == 2
        assert "--tool" in capsys.readouterr().err
