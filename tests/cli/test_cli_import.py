"""``ctxhost import`` as a user meets it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.engine.services import Progress
from host.errors import StoreUnavailable
from host.importing.finding import Finds
from host.importing.importer import Importer
from host.importing.values import Imported
from tests.cli.conftest import Home
from tests.importing.conftest import Record, encoded, session_id, turns

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Claude Code's sessions; Codex has none."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path / "claude" / "projects"


def planted(projects: Path, name: str, rows: list[Record] | bytes) -> Path:
    """Write a session."""
    path = projects / "-home-ann-shop" / f"{session_id(name)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(rows if isinstance(rows, bytes) else encoded(rows))
    return path


def test_two_commands_lead_from_nothing_to_the_first_hit(home: Home, projects: Path, capsys: Printed) -> None:
    planted(projects, "talk", turns("talk", 3))
    planted(projects, "other", turns("other", 1))
    assert home.run("import") == 0
    shown = capsys.readouterr()
    first, second, third = shown.out.splitlines()
    assert first.startswith("imported 8 messages in 2 new sessions, from 2026-03-0") and " to 2026-03-0" in first
    assert second.startswith("read 2 files (") and " KiB) in " in second
    assert third.startswith("next: ctxhost --home ") and 'grep "PATTERN"' in third and "mcp connect claude-code" in third
    assert shown.err == ""
    assert home.run("grep", "user 3 of talk") == 0
    assert capsys.readouterr().out.startswith(f"{session_id('talk')}:5\t")


def test_the_next_step_can_be_typed_as_it_is_printed(home: Home, projects: Path, capsys: Printed) -> None:
    planted(projects, "talk", turns("talk", 1))
    home.run("import")
    command, _, _ = capsys.readouterr().out.splitlines()[-1].removeprefix("next: ").partition("; ")
    words = shlex.split(command.replace("PATTERN", "user 1 of talk"))
    assert words[0] == "ctxhost" and home.run(*words[3:]) == 0


def test_the_second_time_there_is_nothing_new(home: Home, projects: Path, capsys: Printed) -> None:
    planted(projects, "talk", turns("talk", 3))
    home.run("import")
    capsys.readouterr()
    assert home.run("import", "--from", "claude-code") == 0
    nothing, read, _ = capsys.readouterr().out.splitlines()
    assert nothing == "nothing new" and read.endswith("; 1 file unchanged")


def test_damaged_lines_go_to_standard_error_at_most_twenty_of_them(home: Home, projects: Path, capsys: Printed) -> None:
    path = planted(projects, "talk", encoded(turns("talk", 1)) + b"{damaged\n" * 23 + encoded(turns("talk", 1, first=2)))
    assert home.run("import") == 1
    shown = capsys.readouterr()
    complaints = shown.err.splitlines()
    assert shown.out.startswith("imported 4 messages in 1 new session")
    assert complaints[0].startswith(f"{path}:3: not JSON: ") and len(complaints) == 21
    assert complaints[-1] == "and 3 more lines of that kind; --json has them all"
    assert home.run("import") == 0


def test_json_tells_everything(home: Home, projects: Path, capsys: Printed) -> None:
    path = planted(projects, "talk", encoded(turns("talk", 1)) + b"[]\n" + b'{"unfinished": ')
    assert home.run("import", str(projects), "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["damaged"] == [{"file": str(path), "line": 3, "why": "an object is expected, this is a list"}]
    counted = {key: told[key] for key in ("read", "unchanged", "conversations", "messages", "versions", "unfinished", "refused")}
    assert counted == {"read": 1, "unchanged": 0, "conversations": 1, "messages": 2, "versions": 0, "unfinished": 1, "refused": []}
    assert told["since"] == "2026-03-04T12:02:00+00:00" and told["bytes"] > 0 and told["seconds"] >= 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no session of any client was found; looked for "),
        (["--from", "codex"], "no session of codex was found; looked for "),
        (["--from", "openai"], "OpenAI messages have no folder of their own"),
        (["nowhere.jsonl"], "nowhere.jsonl cannot be read: No such file or directory"),
        ([""], "is empty"),
    ],
)
def test_nothing_to_read_is_status_2_with_what_to_do_and_makes_no_archive(
    home: Home, projects: Path, capsys: Printed, arguments: list[str], says: str
) -> None:
    assert home.run("import", *arguments) == 2
    what, advice = capsys.readouterr().err.splitlines()
    assert says in what and advice
    assert not home.path.exists()


def test_a_file_that_holds_something_else_is_status_2(home: Home, projects: Path, capsys: Printed, tmp_path: Path) -> None:
    other = tmp_path / "package.json"
    other.write_text('{"name": "x", "version": "1", "scripts": {}}')
    assert home.run("import", str(other)) == 2
    assert "is no conversation: a package.json" in capsys.readouterr().err


def test_openai_messages_are_imported_by_their_path(home: Home, projects: Path, capsys: Printed, tmp_path: Path) -> None:
    talk = tmp_path / "my talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": "a needle-42"}, {"role": "assistant", "content": "found"}]))
    assert home.run("import", "--from", "openai", str(talk)) == 0
    assert home.run("grep", "needle-42") == 0
    assert "my-talk:1" in capsys.readouterr().out


def test_a_session_that_was_deleted_is_said_to_be_left_out(home: Home, projects: Path, capsys: Printed) -> None:
    path = planted(projects, "talk", turns("talk", 1))
    home.run("import")
    assert home.run("sessions", "delete", session_id("talk"), "--yes") == 0
    with path.open("ab") as opened:
        opened.write(encoded(turns("talk", 1, first=2)))
    capsys.readouterr()
    assert home.run("import") == 0
    assert "; 1 file of sessions that were deleted" in capsys.readouterr().out


def test_a_file_name_that_commands_a_terminal_is_shown_harmless(home: Home, projects: Path, capsys: Printed, tmp_path: Path) -> None:
    (tmp_path / "a\x1b[2Jb.jsonl").write_bytes(encoded(turns("talk", 1)) + b"oops\n")
    assert home.run("import", str(tmp_path)) == 1
    assert "\x1b" not in (shown := capsys.readouterr().err) and "a\\x1b[2Jb.jsonl:3: " in shown


FULL = StoreUnavailable("archive.db", "database or disk is full")


@pytest.mark.parametrize(("error", "status", "says"), [(KeyboardInterrupt(), 130, "interrupted"), (FULL, 2, "the disk is full")])
@pytest.mark.parametrize("as_json", [False, True])
def test_what_was_kept_before_it_was_cut_short_is_told(
    home: Home,
    projects: Path,
    capsys: Printed,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    status: int,
    says: str,
    as_json: bool,
) -> None:
    planted(projects, "talk", turns("talk", 2))
    planted(projects, "other", turns("other", 1))
    whole = Importer.portions

    def cut_short(importer: Importer, finds: Finds, *, progress: Progress) -> Iterator[Imported]:
        for portion in whole(importer, finds, progress=progress):
            yield portion
            if portion.messages:
                raise error

    monkeypatch.setattr(Importer, "portions", cut_short)
    assert home.run("import", *(["--json"] if as_json else [])) == status
    shown = capsys.readouterr()
    messages = json.loads(shown.out)["messages"] if as_json else int(shown.out.split()[1])
    assert messages in (2, 4) and says in shown.err


def test_a_wrong_client_is_status_2_each_time(home: Home, projects: Path, capsys: Printed, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "a needle-42"}) + "\n")
    for _ in range(2):
        assert home.run("import", "--from", "claude-code", str(talk)) == 2
        assert "talk.jsonl is no conversation" in capsys.readouterr().err
    assert home.run("import", str(talk)) == 0 and capsys.readouterr().out.startswith("imported 1 message in 1 new session")


def test_what_was_erased_stays_away_and_is_no_failure(home: Home, projects: Path, capsys: Printed) -> None:
    planted(projects, "talk", turns("talk", 1))
    home.run("import")
    assert home.run("archive", "forget", "--text", "user 1 of talk", "--yes") == 0
    capsys.readouterr()
    said = [{**row, "sessionId": session_id("copy")} for row in turns("talk", 1)]
    planted(projects, "copy", said)
    assert home.run("import") == 0
    assert "; 1 message left out, erased before" in capsys.readouterr().out
