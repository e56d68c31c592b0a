"""Connecting a client: which files, what they hold, backups, and the way back."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.errors import UsageError
from host.mcp.connect import CLIENTS, Level, Start, Surroundings, files, plan, undo, write
from host.mcp.connect.obstacles import DamagedRecord, NotEdited, NotTakenOut, NotText, Outpaced

NOW = datetime(2026, 11, 30, 19, 30, tzinfo=UTC)
START = Start(("/opt/x y/ctxhost", "--home", "/h"))
FOLDER = "${workspaceFolder}"


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    """A user with a project and no settings."""
    project = tmp_path / "user" / "work"
    project.mkdir(parents=True)
    return Surroundings(tmp_path / "user", {}, project)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home folder of ctxhost."""
    return tmp_path / "home"


CLIENT_FILES = [
    ("claude-code", Level.USER, ".claude.json", ".claude/settings.json"),
    ("claude-code", Level.PROJECT, "work/.mcp.json", "work/.claude/settings.json"),
    ("codex", Level.USER, ".codex/config.toml", ".codex/hooks.json"),
    ("codex", Level.PROJECT, "work/.codex/config.toml", "work/.codex/hooks.json"),
    ("cursor", Level.USER, ".cursor/mcp.json", None),
    ("cursor", Level.PROJECT, "work/.cursor/mcp.json", None),
    ("vscode", Level.USER, ".config/Code/User/mcp.json", None),
    ("vscode", Level.PROJECT, "work/.vscode/mcp.json", None),
]
TOLD = {"claude-code": {"type": "stdio"}, "codex": {}, "cursor": {}, "vscode": {"type": "stdio"}}
DIRECTORY = {("cursor", Level.USER), ("cursor", Level.PROJECT), ("vscode", Level.PROJECT)}
ELSEWHERE = [
    ("claude-code", {"CLAUDE_CONFIG_DIR": "/c"}, "linux", ["/c/.claude.json", "/c/settings.json"]),
    ("codex", {"CODEX_HOME": "/x"}, "linux", ["/x/config.toml", "/x/hooks.json"]),
    ("vscode", {"XDG_CONFIG_HOME": "/d"}, "linux", ["/d/Code/User/mcp.json"]),
    ("vscode", {}, "darwin", ["/u/Library/Application Support/Code/User/mcp.json"]),
]
OWN_COMMANDS = [
    ("claude-code", Level.USER, "claude mcp add --scope user ctxhost -- '/opt/x y/ctxhost' --home /h mcp"),
    ("claude-code", Level.PROJECT, "claude mcp add --scope project ctxhost -- '/opt/x y/ctxhost' --home /h mcp"),
    ("codex", Level.USER, "codex mcp add ctxhost -- '/opt/x y/ctxhost' --home /h mcp"),
    ("codex", Level.PROJECT, None),
    ("cursor", Level.USER, None),
    ("vscode", Level.PROJECT, None),
    ("vscode", Level.USER, """code --add-mcp '{"name": "ctxhost", "command": "/opt/x y/ctxhost", "args": ["--home", "/h", "mcp"]}'"""),
]


def test_every_client_and_reach_is_in_the_table_of_this_test() -> None:
    assert {(client, level) for client, level, *_ in CLIENT_FILES} == {(name, level) for name, it in CLIENTS.items() for level in it.places}


@pytest.mark.parametrize("client, level, servers, hooks", CLIENT_FILES)
def test_each_client_gets_its_entry_and_its_hook_where_it_looks(
    client: str, level: Level, servers: str, hooks: str | None, around: Surroundings, home: Path
) -> None:
    write(plan(client, level, around, START), home, NOW)
    directory = ["--directory", FOLDER] if (client, level) in DIRECTORY else []
    path = around.user_home / servers
    document = tomllib.loads(path.read_text("utf-8")) if path.suffix == ".toml" else json.loads(path.read_text("utf-8"))
    entry = {**TOLD[client], "command": "/opt/x y/ctxhost", "args": ["--home", "/h", "mcp", *directory]}
    assert document == {CLIENTS[client].key: {"ctxhost": entry}}
    assert {each.path for each in plan(client, level, around, START).changes} == {
        around.user_home / name for name in (servers, hooks) if name
    }
    if hooks:
        hook = {"type": "command", "command": "'/opt/x y/ctxhost' --home /h mcp recall --hook", "timeout": 30}
        said = json.loads((around.user_home / hooks).read_text("utf-8"))
        assert said == {"hooks": {"SessionStart": [{"matcher": "compact", "hooks": [hook]}]}}


@pytest.mark.parametrize("client, environ, platform, paths", ELSEWHERE)
def test_variables_and_platforms_move_the_files(client: str, environ: dict[str, str], platform: str, paths: list[str]) -> None:
    at = Surroundings(Path("/u"), environ, Path("/p"), platform)
    assert [str(path) for path, _ in CLIENTS[client].files(Level.USER, at, START, hook=True)] == paths


@pytest.mark.parametrize("client, level, command", OWN_COMMANDS)
def test_a_clients_own_command_line_is_ready_for_a_shell(client: str, level: Level, command: str | None) -> None:
    assert CLIENTS[client].own_command(level, START) == command


def test_searching_everything_and_leaving_out_the_hook_are_asked_for(around: Surroundings) -> None:
    planned = plan("claude-code", None, around, Start(("ctxhost",), everything=True), hook=False)
    (change,) = planned.changes
    assert json.loads(change.after)["mcpServers"]["ctxhost"]["args"] == ["mcp", "--scope", "all"]


def test_a_plan_writes_nothing(around: Surroundings, home: Path) -> None:
    for client in CLIENTS:
        plan(client, None, around, START)
    assert list(around.user_home.rglob("*")) == [around.project] and not home.exists()


BEFORE: dict[str, tuple[str, bytes]] = {
    "claude-code": (".claude.json", b'\xef\xbb\xbf{\r\n\t"oauth": "SECRET",\r\n\t"mcpServers": {\r\n\t}\r\n}'),
    "codex": (".codex/config.toml", b'# mine\r\n[mcp_servers]\r\nx = {command = "y"} # z\r\n\r\n'),
    "cursor": (".cursor/mcp.json", b'{"mcpServers":{"x":{"url":"http://localhost/"}}}'),
    "vscode": ("work/.vscode/mcp.json", b'{\n    "inputs": [],\n    "servers": {\n        "a": {}\n    }\n}\n'),
}


@pytest.mark.parametrize("client, file", [(client, name) for client, (name, _) in BEFORE.items()])
def test_an_undo_gives_the_bytes_mode_and_folder_back(client: str, file: str, around: Surroundings, home: Path) -> None:
    path = around.user_home / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(BEFORE[client][1])
    path.chmod(0o640)
    (saved, *_) = write(plan(client, None, around, START), home, NOW)
    assert saved.backup is not None and saved.backup.read_bytes() == BEFORE[client][1]
    assert path.stat().st_mode & 0o777 == saved.backup.stat().st_mode & 0o777 == 0o640
    assert path.read_bytes() != BEFORE[client][1]
    assert {each.how for each in undo(client, None, around, home, NOW)} <= {"restored", "removed"}
    assert path.read_bytes() == BEFORE[client][1] and path.stat().st_mode & 0o777 == 0o640
    assert [each for each in around.user_home.rglob("*") if each.is_file()] == [path]


DOCUMENTS = st.dictionaries(
    st.text(max_size=5), st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=4), max_size=4
)


@given(DOCUMENTS, st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_write_and_undo_give_the_bytes_of_any_object_back(document: dict[str, Any], indent: int | str | None, ascii_only: bool) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        at = Surroundings(Path(folder), {}, Path(folder))
        path = Path(folder, ".cursor", "mcp.json")
        path.parent.mkdir()
        data = json.dumps({**document, "mcpServers": {"other": document}}, indent=indent, ensure_ascii=ascii_only).encode(
            "utf-8", "replace"
        )
        path.write_bytes(data)
        write(plan("cursor", None, at, START), Path(folder, "home"), NOW)
        said, was = json.loads(path.read_bytes()), json.loads(data)
        assert said["mcpServers"].pop("ctxhost")["command"] == START.words[0]
        assert said == was and list(said) == list(was)
        undo("cursor", None, at, Path(folder, "home"), NOW)
        assert path.read_bytes() == data


def test_what_was_not_there_is_gone_after_an_undo(around: Surroundings, home: Path) -> None:
    for client in CLIENTS:
        write(plan(client, None, around, START), home, NOW)
        assert {each.how for each in undo(client, None, around, home, NOW)} == {"removed"}
    assert not [path for path in around.user_home.rglob("*") if path.is_file()]


def edited(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")


def test_a_file_that_changed_since_only_loses_what_is_ours(around: Surroundings, home: Path) -> None:
    path = around.user_home / ".claude.json"
    path.write_text('{"a": 1}')
    write(plan("claude-code", None, around, START), home, NOW)
    edited(path, lambda document: document["mcpServers"].update(later={"command": "x"}))
    edited(around.user_home / ".claude" / "settings.json", lambda document: document.update(model="m"))
    done = undo("claude-code", None, around, home, NOW)
    assert [each.how for each in done] == ["taken out", "taken out"]
    assert all(each.backup is not None and b"ctxhost" in each.backup.read_bytes() for each in done)
    assert json.loads(path.read_text("utf-8")) == {"a": 1, "mcpServers": {"later": {"command": "x"}}}
    assert json.loads((around.user_home / ".claude" / "settings.json").read_text("utf-8")) == {"model": "m"}
    assert [each.how for each in undo("claude-code", None, around, home, NOW)] == ["nothing there"] * 2


def test_a_second_write_changes_nothing_and_a_changed_one_goes_back_to_the_first(around: Surroundings, home: Path) -> None:
    path = around.user_home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{}")
    write(plan("cursor", None, around, START), home, NOW)
    left = sorted(path.parent.iterdir())
    assert plan("cursor", None, around, START).is_done
    assert write(plan("cursor", None, around, START), home, NOW) == [] and sorted(path.parent.iterdir()) == left
    (saved,) = write(plan("cursor", None, around, Start(("/new/ctxhost",))), home, NOW)
    assert saved.backup not in left, "a backup of the same second has another name"
    undo("cursor", None, around, home, NOW)
    assert path.read_text() == "{}"


def test_what_changed_between_two_writes_is_not_undone(around: Surroundings, home: Path) -> None:
    path = around.user_home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{}")
    write(plan("cursor", None, around, START), home, NOW)
    edited(path, lambda document: document.update(new=1))
    write(plan("cursor", None, around, Start(("/new/ctxhost",))), home, NOW)
    assert [each.how for each in undo("cursor", None, around, home, NOW)] == ["taken out"]
    assert json.loads(path.read_text()) == {"new": 1}


def test_an_undo_needs_neither_backup_nor_record(around: Surroundings, home: Path) -> None:
    path = around.user_home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    for lost in ("backup", "record"):
        path.write_text('{"mcpServers": {"x": {}}}')
        (saved,) = write(plan("cursor", None, around, START), home, NOW)
        assert saved.backup is not None
        (saved.backup if lost == "backup" else home / "connect.json").unlink()
        assert [each.how for each in undo("cursor", None, around, home, NOW)] == ["taken out"]
        assert path.read_text() == '{"mcpServers": {"x": {}}}'


@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor", "vscode"])
def test_an_undo_without_record_leaves_no_container_that_held_only_ours(client: str, around: Surroundings, home: Path) -> None:
    saved = write(plan(client, None, around, START), home, NOW)
    (home / "connect.json").unlink()
    undo(client, None, around, home, NOW)
    assert [each.path.read_text().strip() for each in saved] == ["{}" if each.path.suffix == ".json" else "" for each in saved]


def test_a_switch_that_keeps_hooks_from_running_is_named_where_one_is_written(around: Surroundings) -> None:
    path = around.user_home / ".codex" / "config.toml"
    path.parent.mkdir()
    for text, hook, said in (
        ("[features]\nhooks = false\n", True, True),
        ("features = {hooks = false}\n", True, True),
        ("[features]\nhooks = false\n", False, False),
        ("[features]\nhooks = true\n", True, False),
        ("features = 7\n", True, False),
        ("", True, False),
    ):
        path.write_text(text)
        notes = plan("codex", None, around, START, hook=hook).notes
        assert any(f"{path} has features.hooks = false" in note for note in notes) is said, text


@pytest.mark.parametrize("fails", [1, 2, 3, 4])
def test_a_write_that_fails_leaves_nothing_new(around: Surroundings, home: Path, monkeypatch: pytest.MonkeyPatch, fails: int) -> None:
    around.user_home.joinpath(".claude.json").write_text("{}")
    left = iter(range(1, 100))

    def fsync(handle: int) -> None:
        if next(left) >= fails:
            raise OSError(28, "No space left on device")

    before = {path: path.is_file() and path.read_bytes() for path in around.user_home.parent.rglob("*")}
    planned = plan("vscode", None, around, START) if fails < 3 else plan("claude-code", Level.PROJECT, around, START)
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(UsageError, match="disk is full"):
        write(planned, home, NOW)
    after = {path: path.is_file() and path.read_bytes() for path in around.user_home.parent.rglob("*")}
    if fails < 3:  # the first file was not written: all is as it was
        assert after == before
    assert not any(path.is_dir() and not any(path.iterdir()) for path in after.keys() - before.keys())


def test_an_undo_touches_one_project_and_no_other(around: Surroundings, home: Path) -> None:
    other = Surroundings(around.user_home, {}, around.user_home / "other")
    for at in (around, other):
        write(plan("vscode", None, at, START), home, NOW)
    undo("vscode", None, around, home, NOW)
    assert not (around.project / ".vscode" / "mcp.json").exists()
    assert (other.project / ".vscode" / "mcp.json").exists()


def test_an_entry_that_was_not_ours_comes_back(around: Surroundings, home: Path) -> None:
    path = around.user_home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"ctxhost": {"url": "http://localhost/?key=SECRET"}}}')
    with pytest.raises(UsageError, match="--force") as caught:
        plan("cursor", None, around, START)
    assert "SECRET" not in str(caught.value)
    write(plan("cursor", None, around, START, force=True), home, NOW)
    undo("cursor", None, around, home, NOW)
    assert "SECRET" in path.read_text()


def test_links_are_followed_and_stay_links(around: Surroundings, home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_text('{"a": 1}')
    link = around.user_home / ".claude.json"
    link.symlink_to(kept)
    (saved, _) = write(plan("claude-code", None, around, START), home, NOW)
    assert link.is_symlink() and "ctxhost" in kept.read_text()
    assert saved.backup is not None and saved.backup.parent == kept.parent
    undo("claude-code", None, around, home, NOW)
    assert link.is_symlink() and kept.read_text() == '{"a": 1}'


def test_a_file_that_the_client_writes_meanwhile_is_left_as_it_is(around: Surroundings, home: Path) -> None:
    path = around.user_home / ".claude.json"
    path.write_text('{"a": 1}')
    planned = plan("claude-code", None, around, START)
    path.write_text('{"a": 2}')
    with pytest.raises(Outpaced):
        write(planned, home, NOW)
    assert path.read_text() == '{"a": 2}'
    assert [each.name for each in around.user_home.iterdir() if each.is_file()] == [".claude.json"], "no backup, no temporary file"
    assert undo("claude-code", None, around, home, NOW)[0].how == "nothing there"


def test_a_file_that_appears_meanwhile_is_left_as_it_is(around: Surroundings, home: Path) -> None:
    planned = plan("cursor", None, around, START)
    path = around.user_home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{}")
    with pytest.raises(Outpaced):
        write(planned, home, NOW)
    assert path.read_text() == "{}"


def test_the_second_file_may_fail_and_the_first_is_known_to_the_undo(around: Surroundings, home: Path) -> None:
    settings = around.user_home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    settings.chmod(0o444)
    with pytest.raises(UsageError, match="read-only"):
        write(plan("claude-code", None, around, START), home, NOW)
    assert settings.read_text() == "{}" and list(settings.parent.iterdir()) == [settings]
    assert "ctxhost" in (around.user_home / ".claude.json").read_text()
    undo("claude-code", None, around, home, NOW)
    assert not (around.user_home / ".claude.json").exists()


def a_folder(path: Path) -> None:
    path.mkdir(parents=True)


def a_pipe(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)


def a_file_for_a_folder(path: Path) -> None:
    path.parent.write_text("x")


def a_link_to_itself(path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(path)


def no_utf8(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{\n"a": "\xff"}')


ODD_FILES = [
    (a_folder, "is a folder"),
    (a_pipe, "is no regular file"),
    (a_file_for_a_folder, "cannot be written: Not a directory"),
    (a_link_to_itself, "cannot be written: Too many levels"),
    (no_utf8, "mcp.json:2: this is no UTF-8"),
]


@pytest.mark.parametrize("make, why", ODD_FILES)
def test_what_is_no_file_to_write_is_named(make: Callable[[Path], None], why: str, around: Surroundings) -> None:
    make(around.user_home / ".cursor" / "mcp.json")
    with pytest.raises(UsageError, match=why):
        plan("cursor", None, around, START)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(around: Surroundings, home: Path) -> None:
    path = around.user_home / ".claude.json"
    path.write_text("{}")
    os.chown(path, 12_345, 12_346)
    (saved, _) = write(plan("claude-code", None, around, START), home, NOW)
    assert saved.backup is not None
    assert {(each.stat().st_uid, each.stat().st_gid) for each in (path, saved.backup)} == {(12_345, 12_346)}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(around: Surroundings, home: Path) -> None:
    folder = around.user_home / ".cursor"
    folder.mkdir(mode=0o500)
    with pytest.raises(UsageError, match="cannot be written: Permission denied"):
        write(plan("cursor", None, around, START), home, NOW)


def test_a_file_with_comments_is_left_alone_and_the_text_is_given(around: Surroundings, home: Path) -> None:
    path = around.project / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{\n  // "key": "SECRET"\n  "servers": {"ctxhost": {"command": "ctxhost", "args": ["mcp"]}}\n}')
    with pytest.raises(NotEdited, match=r"mcp\.json:2: comments would be lost") as caught:
        plan("vscode", None, around, START)
    assert '"command": "/opt/x y/ctxhost"' in caught.value.advice and "SECRET" not in str(caught.value)
    with pytest.raises(NotTakenOut, match=r"servers\.ctxhost by hand"):
        undo("vscode", None, around, home, NOW)


def test_a_command_that_is_no_text_is_refused(around: Surroundings) -> None:
    with pytest.raises(NotText):
        plan("cursor", None, around, Start((os.fsdecode(b"/opt/\xff/ctxhost"),)))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"files": {"/x": {"odd": 1}}}', '{"files": []}'])
def test_a_damaged_record_is_named_and_nothing_is_written(text: str, around: Surroundings, home: Path) -> None:
    home.mkdir()
    (home / "connect.json").write_text(text)
    with pytest.raises(DamagedRecord):
        write(plan("cursor", None, around, START), home, NOW)
    assert not (around.user_home / ".cursor").exists()


def test_a_backup_never_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("1")
    kept = [files.back_up(files.read(path), NOW) for _ in range(3)]
    assert [each and each.name for each in kept] == [
        "a.json.ctxhost-20261130-193000.bak",
        "a.json.ctxhost-20261130-193000-2.bak",
        "a.json.ctxhost-20261130-193000-3.bak",
    ]
