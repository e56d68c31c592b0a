"""``ctxhost mcp`` on the command line: what it refuses, and what a client's hook gets."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host.app.recalling import config_at_home, names_of_folder
from host.cli.globals import Globals
from host.errors import ConfigError
from host.mcp.hooks import HookInput, hook_input
from host.tokens import Counter
from tests.cli.conftest import Home
from tests.mcp.session_files import SessionFile

Printed = pytest.CaptureFixture[str]
Tell = Callable[[object], None]
OWN, OTHER = "44444444-aaaa-4bbb-8ccc-000000000004", "55555555-aaaa-4bbb-8ccc-000000000005"


@pytest.fixture
def tell() -> Iterator[Tell]:
    """Puts something on standard input, as a client does for its hooks."""
    kept = os.dup(0)

    def put(told: object) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(told if isinstance(told, bytes) else json.dumps(told).encode())
            file.seek(0)
            os.dup2(file.fileno(), 0)

    yield put
    os.dup2(kept, 0)
    os.close(kept)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionFile:
    """A session with rules and values, and another one of the same project."""
    monkeypatch.setenv("HOME", str(tmp_path))
    SessionFile(tmp_path, "/srv/shop", OTHER).user("Never touch the attic at /srv/attic/box.db.").assistant("I will not.")
    file = SessionFile(tmp_path, "/srv/shop", OWN)
    file.user("Move the tills to the new service. Never write to /srv/tills/live.db. Ticket TILL-3319 has the plan.")
    return file.assistant("Understood: /srv/tills/live.db is read only, and TILL-3319 leads.")


def asked(file: SessionFile, **more: object) -> dict[str, object]:
    """What a client tells its hook."""
    return {"session_id": file.session, "transcript_path": str(file.path), "hook_event_name": "SessionStart", "source": "compact", **more}


@pytest.mark.parametrize("recorded", ["not yet", "in the file"])
def test_the_hook_after_a_compaction_says_what_was_lost_of_this_session(
    home: Home, session: SessionFile, tell: Tell, capsys: Printed, recorded: str
) -> None:
    if recorded == "in the file":
        session.compaction("Summary: the tills move to a new service.")
    for _ in range(2):  # the second time there is nothing to import
        tell(asked(session))
        assert home.run("mcp", "recall", "--hook") == 0
        said = capsys.readouterr()
        assert "Never write to /srv/tills/live.db" in said.out and "TILL-3319" in said.out
        assert "attic" not in said.out and said.err == ""
        assert Counter().text(said.out) <= 800 and not said.out.startswith(("{", "["))  # Codex would take it for JSON
    assert home.run("mcp", "recall", "--session", OWN[:6]) == 0  # by hand, by the beginning of its id
    assert "TILL-3319" in capsys.readouterr().out


def test_an_earlier_compaction_is_past_and_a_hook_for_it_may_name_the_session_itself(
    home: Home, session: SessionFile, tell: Tell, capsys: Printed
) -> None:
    session.compaction("Summary: the tills move.").user("The printer is at 10.20.30.40.")
    tell(asked(session, session_id="something else", source=""))
    assert home.run("mcp", "recall", "--session", OWN) == 0
    said = capsys.readouterr().out
    assert "TILL-3319" in said and "10.20.30.40" not in said


@pytest.mark.parametrize("source", ["startup", "resume", "clear"])
def test_nothing_is_said_where_nothing_left_the_window(home: Home, session: SessionFile, tell: Tell, capsys: Printed, source: str) -> None:
    tell(asked(session, source=source))
    assert home.run("mcp", "recall", "--hook") == 0
    assert capsys.readouterr() == ("", "")
    assert not home.path.exists()


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (b"", "no session is named"),
        (b"{broken", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'["session_id"]', "no session is named"),
        ({"session_id": OWN, "source": "compact", "transcript_path": None}, "no archive"),
        ({"session_id": OWN, "source": "compact", "transcript_path": "/nowhere/at/all.jsonl"}, "no session is called"),
        ({"session_id": OWN, "source": "compact", "transcript_path": "/dev/null"}, "no session is called"),
        ({"transcript_path": __file__, "source": "compact"}, "test_cli_mcp.py"),
    ],
)
def test_a_hook_that_cannot_do_its_work_says_why_aside_and_never_fails(
    home: Home, tell: Tell, capsys: Printed, told: object, why: str
) -> None:
    tell(told)
    assert home.run("mcp", "recall", "--hook") == 0
    said = capsys.readouterr()
    assert said.out == "" and why in said.err


def test_the_session_that_the_client_tells_counts_and_not_that_of_another_file(
    home: Home, session: SessionFile, tell: Tell, capsys: Printed, tmp_path: Path
) -> None:
    other = session.path.with_name(f"{OTHER}.jsonl")
    for names, said, aside in (
        ({"transcript_path": str(other)}, "", OWN),  # its own file was never imported
        ({}, "TILL-3319", ""),
        ({"transcript_path": str(other)}, "TILL-3319", ""),
        ({"transcript_path": str(other), "session_id": "44444444"}, "", "44444444"),  # the beginning of an id is none
        ({"transcript_path": str(other), "session_id": None}, "attic", ""),
        ({"transcript_path": "~nobody-at-all/x.jsonl"}, "TILL-3319", ""),
    ):
        tell(asked(session, **names))
        assert home.run("mcp", "recall", "--hook") == 0
        heard = capsys.readouterr()
        assert said in heard.out and bool(said) == bool(heard.out) and aside in heard.err and bool(aside) == bool(heard.err), names
        assert ("attic" in heard.out) == (said == "attic")


def test_a_hook_whose_input_cannot_be_read_at_all_does_not_fail(home: Home, capsys: Printed) -> None:
    kept = os.dup(0)
    os.close(0)
    try:
        assert home.run("mcp", "recall", "--hook", "--session", OWN) == 0
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    said = capsys.readouterr()
    assert said.out == "" and said.err


def test_a_hook_over_a_broken_archive_does_not_fail_either(home: Home, session: SessionFile, tell: Tell, capsys: Printed) -> None:
    home.path.mkdir()
    (home.path / "archive.db").write_bytes(b"no database" * 1000)
    tell(asked(session))
    assert home.run("mcp", "recall") == 0  # without --hook, too: it was told as a hook is
    said = capsys.readouterr()
    assert said.out == "" and "archive.db" in said.err


def test_by_hand_errors_are_errors(home: Home, tell: Tell, capsys: Printed) -> None:
    for words, status, why in (
        (["recall"], 2, "no session is named"),
        (["recall", "--session", OWN], 1, "there is no archive"),
        (["recall", "--session", OWN, "--budget", "0"], 2, "--budget"),
        (["--directory", "/no/such/folder"], 2, "/no/such/folder"),
        (["--scope", "galaxy"], 2, "--scope"),
    ):
        tell(b"")
        assert home.run("mcp", *words) == status
        assert why in capsys.readouterr().err
    assert not home.path.exists()


def test_without_the_sdk_the_extra_is_named(home: Home, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "host.mcp.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server.context", None)
    assert home.run("mcp") == 2
    assert "pip install 'ctxhost[mcp]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("told", "heard"),
    [
        (b'{"session_id": "a", "transcript_path": "/t.jsonl", "source": "compact", "cwd": "/x", "new": [1]}', ("a", "/t.jsonl", "compact")),
        (b'{"session_id": "a", "transcript_path": null, "source": 7}', ("a", None, "")),
        (b'{"session_id": "a\\u0000b", "transcript_path": "/t"}', ("", "/t", "")),
        ('{"session_id": "猫", "transcript_path": "/tmp/猫.jsonl"}'.encode(), ("猫", "/tmp/猫.jsonl", "")),
        (b'{"cwd": "/x"}', None),
        (b'["session_id"]', None),
        (b"", None),
        (b" \n", None),
        (b"\xef\xbb\xbf" + b'{"session_id": "a"}', ("a", None, "")),
        (b'{"session_id": "a", "transcript_path": "~nobody-at-all/x"}', ("a", "~nobody-at-all/x", "")),
    ],
)
def test_what_a_client_tells_its_hook(told: bytes, heard: tuple[str, str | None, str] | None, tmp_path: Path) -> None:
    (tmp_path / "told").write_bytes(told)
    with (tmp_path / "told").open("rb") as file:
        found = hook_input(file.fileno(), 1.0)
    assert found == (heard and HookInput(heard[0], Path(heard[1]) if heard[1] else None, heard[2]))


@pytest.mark.parametrize("told", [b"[" * 100_000, b"words", b"{'session_id': 'a'}"])
def test_what_is_no_json_is_said_to_be_none(told: bytes, tmp_path: Path) -> None:
    (tmp_path / "told").write_bytes(told)
    with (tmp_path / "told").open("rb") as file:
        found = hook_input(file.fileno(), 1.0)
    assert found is not None and found.fault and not found.session


def test_a_client_that_keeps_the_pipe_open_is_not_waited_for() -> None:
    read, write = os.pipe()
    os.write(write, b'{"session_id": "a"}')
    assert hook_input(read, 0.05) == HookInput("a")
    os.close(read)
    os.close(write)


def test_a_folder_counts_by_its_names_and_by_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, link = tmp_path.resolve() / "real", tmp_path.resolve() / "link"
    real.mkdir()
    link.symlink_to(real)
    monkeypatch.chdir(link)
    here = str(real)
    assert names_of_folder(link, {}) == (str(link), here)
    assert names_of_folder(Path(), {"PWD": str(link)}) == (here,)
    assert names_of_folder(None, {"PWD": str(link)}) == (str(link), here)
    for lie in (str(tmp_path), "/", "", "link", "/no/such/folder"):
        assert names_of_folder(None, {"PWD": lie}) == (here,)


@pytest.mark.parametrize(
    ("at_home", "named", "scope"),
    [
        ("", None, "directory"),
        ("recall: {scope: all}", None, "all"),
        ("", "recall: {scope: all}", "all"),
        ("recall: {scope: all}", "", "directory"),
    ],
)
def test_the_scope_is_configured_at_home_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_home: str, named: str | None, scope: str
) -> None:
    project = tmp_path / "project"
    for folder in (project, tmp_path / "home"):
        folder.mkdir()
    (project / "config.yaml").write_text("context: {engine: compressor}\nrecall: {scope: all}\n")
    (tmp_path / "home" / "config.yaml").write_text(at_home)
    (tmp_path / "named.yaml").write_text(named or "")
    monkeypatch.chdir(project)
    monkeypatch.setenv("CTXHOST_RECALL__SCOPE", "all")
    options = Globals(config_file=None if named is None else tmp_path / "named.yaml", home=tmp_path / "home")
    assert config_at_home(options).recall.scope == scope


def test_a_wrong_scope_at_home_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("recall: {scope: everything}")
    with pytest.raises(ConfigError, match=r"recall\.scope"):
        config_at_home(Globals(home=tmp_path))
