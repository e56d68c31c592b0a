"""The plugins that ship with ctxhost, loaded as ``plugins.enabled`` loads them."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from host.discovery import Places, Plugins, bundled_engines, load_plugins
from host.plugin import Place, Tool, ToolError

Tools = dict[str, Tool]


def shipped(name: str) -> Plugins:
    return load_plugins(Places({}, bundled=bundled_engines(), enabled=frozenset({name}), entry_points=list), pytest.fail)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    workspace = tmp_path / "work"
    workspace.mkdir()
    return Place(workspace, tmp_path / "notes")


@pytest.fixture
def note(place: Place) -> Callable[..., str]:
    ((_, tool),) = shipped("memory").tools(place)
    return lambda **arguments: tool.call(arguments)


@pytest.fixture
def tools(place: Place) -> Tools:
    return {tool.name: tool for _, tool in shipped("workspace").tools(place)}


def test_notes_are_on_disk_at_once_and_in_the_next_block(place: Place, note: Callable[..., str]) -> None:
    (memory,) = shipped("memory").memory(place)
    assert memory.block() == ""
    note(action="add", text="uses\n pnpm")
    note(action="add", target="user", text="likes short answers")
    note(action="replace", old="pnpm", text="uses npm")
    assert (place.folder / "MEMORY.md").read_text() == "- uses npm\n"
    assert memory.block() == "## Notes on the work\n\n- uses npm\n\n## Notes on the user\n\n- likes short answers"
    note(action="remove", old="npm")
    assert note(action="show") == "There are no notes yet."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"action": "add"}, "text is blank"),
        ({"action": "add", "text": "a\x1bb"}, "control characters"),
        ({"action": "add", "text": "\ud800"}, "control characters"),
        ({"action": "add", "text": "key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"}, "holds a secret"),
        ({"action": "add", "text": "a" * 2_300}, "remove or shorten"),
        ({"action": "add", "target": "user", "text": "a" * 1_500}, "remove or shorten"),
        ({"action": "remove", "old": "nothing"}, "0 notes contain"),
        ({"action": "remove", "old": ""}, "0 notes contain"),
        ({"action": "erase"}, "give one of add, replace, remove, show"),
    ],
)
def test_what_cannot_be_noted_says_what_to_do(note: Callable[..., str], place: Place, arguments: dict[str, str], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        note(**arguments)
    assert not (place.folder / "MEMORY.md").exists() and not (place.folder / "USER.md").exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "is no file"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "is not UTF-8"),
        (lambda path: path.write_text("a" * 100_001), "is larger than"),
        (lambda path: os.mkfifo(path), "is no file"),
    ],
)
def test_an_odd_file_is_a_line_and_stays(place: Place, note: Callable[..., str], make: Callable[[Path], object], words: str) -> None:
    place.folder.mkdir()
    make(place.folder / "MEMORY.md")
    (memory,) = shipped("memory").memory(place)
    assert words in memory.block()
    with pytest.raises(ToolError, match=words):
        note(action="add", text="a")


def test_no_beginning_of_a_key_is_left_at_the_cut(place: Place) -> None:
    place.folder.mkdir()
    key = "sk-proj-" + "0123456789abcdefghij" * 2
    (place.folder / "MEMORY.md").write_text(f"- {'a' * 2_170}\n- key {key}\n- {'b' * 50}\n")
    (memory,) = shipped("memory").memory(place)
    assert key[:14] not in memory.block() and "[cut here: 2,200 of" in memory.block()


def write_notes(folder: Path, word: str) -> None:
    ((_, tool),) = shipped("memory").tools(Place(folder, folder))
    for number in range(20):
        tool.call({"action": "add", "text": f"{word}{number}"})


def test_two_processes_lose_no_note(place: Place) -> None:
    writers = [get_context("fork").Process(target=write_notes, args=(place.folder, word)) for word in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    written = (place.folder / "MEMORY.md").read_text().splitlines()
    assert sorted(written) == sorted(f"- {word}{number}" for word in "ab" for number in range(20))


def test_the_summary_hears_what_was_noted(note: Callable[..., str]) -> None:
    voice = shipped("memory").memories
    assert voice is not None
    call = {"id": "1", "type": "function", "function": {"name": "memory", "arguments": "{}"}}
    said = voice(
        [
            {"role": "assistant", "content": None, "tool_calls": [call]},  # type: ignore[list-item]
            {"role": "tool", "tool_call_id": "1", "content": note(action="add", text="uses npm")},
            {"role": "tool", "tool_call_id": "2", "content": "Noted elsewhere"},
        ],
        "S",
    )
    assert "uses npm" in said and "elsewhere" not in said
    assert voice([{"role": "user", "content": "a"}], "S") == ""


@pytest.mark.parametrize("path", ["..", "../notes", "/etc/passwd", "out", "a/../../x", "a\0b", "/proc/self/environ"])
def test_nothing_outside_the_workspace_is_read(place: Place, tools: Tools, path: str) -> None:
    (place.workspace / "out").symlink_to("/etc")
    for name in ("read_file", "list_files"):
        with pytest.raises(ToolError, match="out of the workspace"):
            tools[name].call({"path": path})


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("data", b"a\0b", "binary"),
        ("huge", b"a" * 2_000_001, "larger than"),
        ("id_rsa", b"x", "holds a secret"),
        ("none", None, "there is no"),
    ],
)
def test_what_is_not_shown_says_why(place: Place, tools: Tools, name: str, raw: bytes | None, words: str) -> None:
    if raw is not None:
        (place.workspace / name).write_bytes(raw)
    with pytest.raises(ToolError, match=words):
        tools["read_file"].call({"path": name})


@pytest.mark.parametrize("path", ["\ud800", "a" * 5_000])
def test_a_path_that_no_file_has_is_told(tools: Tools, path: str) -> None:
    with pytest.raises(ToolError, match="no path of a file"):
        tools["read_file"].call({"path": path})


def test_a_pipe_is_not_waited_for(place: Place, tools: Tools) -> None:
    os.mkfifo(place.workspace / "pipe")
    with pytest.raises(ToolError, match="no regular file"):
        tools["read_file"].call({"path": "pipe"})
    assert "no line" in tools["search_files"].call({"pattern": "a"})


def test_reading_is_bounded_and_says_how_to_go_on(place: Place, tools: Tools) -> None:
    (place.workspace / "a.txt").write_bytes(b"one\ntwo\xff\nthree\n")
    assert tools["read_file"].call({"path": "a.txt", "offset": "2", "limit": 1}) == "2: two\ufffd\n[lines 2 to 2 of 3; go on with offset 3]"
    with pytest.raises(ToolError, match="has 3 lines"):
        tools["read_file"].call({"path": "a.txt", "offset": 9})


def test_settings_show_their_names_only(place: Place, tools: Tools) -> None:
    (place.workspace / ".env").write_text("# local\nexport PORT=8123\nPASSWORD='two\nlines'\n")
    assert tools["read_file"].call({"path": ".env"}) == "1: # local\n2: export PORT=***\n3: PASSWORD=***\n4: ***"
    assert "no line" in tools["search_files"].call({"pattern": "8123"})


def test_a_comment_within_a_quoted_value_is_no_comment(place: Place, tools: Tools) -> None:
    (place.workspace / "prod.ENV").write_text("nothing")
    (place.workspace / ".env.local").write_text('KEY="one\n# hunter2-two\nthree" # why\n# a comment\nOPEN=\'four\n# hunter2-five\n')
    shown = tools["read_file"].call({"path": ".env.local"})
    assert shown == "1: KEY=***\n2: ***\n3: ***\n4: # a comment\n5: OPEN=***\n6: ***\n7: ***"
    assert "no line" in tools["search_files"].call({"pattern": "hunter2"})


def test_passwords_in_addresses_are_not_shown_and_version_control_is_not_read(place: Place, tools: Tools) -> None:
    (place.workspace / ".git").mkdir()
    for name in (".git/config", "remotes.txt"):
        (place.workspace / name).write_text("url = https://bob:hunter2@host.invalid/a.git\n")
    assert tools["read_file"].call({"path": "remotes.txt"}) == "1: url = https://bob:***@host.invalid/a.git"
    for name, path in (("read_file", ".git/config"), ("list_files", ".git"), ("list_files", ".GIT/hooks")):
        with pytest.raises(ToolError, match="version control"):
            tools[name].call({"path": path})


@pytest.mark.parametrize("name", ["db.PEM", "Server.Key", "ID_RSA", ".NETRC"])
def test_a_secret_is_one_however_its_name_is_written(place: Place, tools: Tools, name: str) -> None:
    (place.workspace / name).write_text("hunter2")
    with pytest.raises(ToolError, match="holds a secret"):
        tools["read_file"].call({"path": name})


def test_listing_and_searching_leave_out_what_nobody_wants_and_follow_no_loop(place: Place, tools: Tools) -> None:
    for name in (".git/a.py", "src/a.py"):
        (place.workspace / name).parent.mkdir()
        (place.workspace / name).write_text("x = 1\ny = 22\n")
    (place.workspace / "src" / "loop").symlink_to(place.workspace)
    assert tools["list_files"].call({"depth": 9}) == "src/\nsrc/a.py (13)\nsrc/loop (link)"
    assert tools["search_files"].call({"pattern": r"\d\d$", "regex": True}) == "src/a.py:2: y = 22"
    assert tools["search_files"].call({"pattern": "x =", "path": "src/a.py"}) == "src/a.py:1: x = 1"


def test_an_expression_that_never_ends_is_stopped(place: Place, tools: Tools) -> None:
    (place.workspace / "a.txt").write_text("a" * 5_000 + "b")
    with pytest.raises(ToolError, match="takes too long"):
        tools["search_files"].call({"pattern": "(a|aa)+$", "regex": True})
    with pytest.raises(ToolError, match="no regular expression"):
        tools["search_files"].call({"pattern": "(", "regex": True})


@pytest.mark.parametrize("name", ["memory", "workspace"])
def test_a_shipped_plugin_knows_nothing_of_the_host_but_its_door(name: str) -> None:
    bundled = bundled_engines()
    assert bundled is not None
    tree = ast.parse((bundled.parent / name / "__init__.py").read_text("utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert {module for module in modules if module and module.split(".")[0] == "host"} == {"host.plugin"}
