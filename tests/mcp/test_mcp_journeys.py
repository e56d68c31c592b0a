"""``ctxhost mcp`` as a real client meets it: the SDK's own, over stdio, against the real process."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from host.app.recalling import COUNTED_AS
from host.recall.answers import as_text
from host.tokens import Counter
from tests.mcp.conftest import Wires
from tests.mcp.session_files import SessionFile

OWN, OTHER = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002"
EVIL = "import pathlib\npathlib.Path({marker!r}).write_text('ran')\n"
EVIL_CONFIG = """\
context: {{engine: evil}}
model: {{name: gpt-4o, base_url: "http://127.0.0.1:9/v1"}}
plugins: {{paths: [plugins/context_engine], enabled: [evil]}}
recall: {{scope: all}}
"""


@dataclass(frozen=True)
class User:
    """A user's home with two projects in which an agent has worked."""

    home: Path
    project: Path
    other: Path
    own: SessionFile  # the session of the project

    def ctxhost(self, *arguments: str) -> StdioServerParameters:
        """How a client starts the server in the project."""
        command = ["-P", "-m", "host", "--home", str(self.home / "ctxhost"), "mcp", *arguments]
        return StdioServerParameters(command=sys.executable, args=command, cwd=self.project, env={"HOME": str(self.home)})


@pytest.fixture
def person(tmp_path: Path) -> User:
    project, other = tmp_path / "work", tmp_path / "private"
    project.mkdir()
    other.mkdir()
    user = User(tmp_path, project, other, SessionFile(tmp_path, str(project), OWN))
    user.own.user("Keep the port at 48213, please.").assistant("The port stays 48213.")
    SessionFile(tmp_path, str(other), OTHER).user("The safe opens with 31-07-55.")
    return user


@asynccontextmanager
async def connected(server: StdioServerParameters, errors: Path) -> AsyncIterator[ClientSession]:
    with errors.open("w") as log:
        async with stdio_client(server, errlog=log) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield session
    assert errors.read_text() == ""


async def used(session: ClientSession, tool: str, arguments: dict[str, Any] | None) -> tuple[Any, bool]:
    """A tool's answer, read from JSON, and whether it is an error."""
    result = await session.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, TextContent)
    return json.loads(content.text), bool(result.is_error)


async def found(session: ClientSession, query: str) -> str:
    """Everything that a search says, as text."""
    answer, is_error = await used(session, "lcm_grep", {"query": query})
    assert not is_error, answer
    return json.dumps(answer, ensure_ascii=False)


def test_a_client_lists_and_calls_every_tool_and_no_argument_is_fatal(person: User, tmp_path: Path) -> None:
    huge = "needle " + "x-ray. " * 60_000
    for _ in range(40):
        person.own.user("the needle is in the haystack, and so on and so forth. " * 8)
    person.own.assistant(huge)

    async def journey() -> None:
        async with connected(person.ctxhost(), tmp_path / "errors") as session:
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert set(tools) == {"lcm_grep", "lcm_expand"}
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
            assert "48213" in await found(session, "port")
            hits, _ = await used(session, "lcm_grep", {"query": '"The port stays"'})
            opened, is_error = await used(session, "lcm_expand", hits["hits"][0]["open"])
            assert not is_error and "The port stays 48213." in json.dumps(opened)
            for tool, arguments in (
                ("lcm_grep", None),
                ("lcm_grep", {"query": ["a", {"b": 1}]}),
                ("lcm_grep", {"query": "x", "mode": "psychic", "limit": -5}),
                ("lcm_grep", {"query": "(", "mode": "regex"}),
                ("lcm_grep", {"query": "x", "nonsense": True}),
                ("lcm_grep", {"query": "x", "scope": "all"}),
                ("lcm_expand", {"message": "nobody:1"}),
                ("lcm_expand", {"message": f"{OTHER}:1"}),
                ("no_such_tool", {}),
            ):
                answer, is_error = await used(session, tool, arguments)
                assert is_error and answer["error"]["what"], (tool, arguments, answer)
            big, _ = await used(session, "lcm_grep", {"query": "needle", "limit": 50})
            page, _ = await used(session, "lcm_expand", big["hits"][0]["open"])
            for answer in (big, page):
                assert 1_000 < Counter(COUNTED_AS).text(as_text(answer)) <= 2_000

    anyio.run(journey)


def test_what_the_sdk_cannot_parse_is_answered_by_the_tools(person: User, wires: Wires, tmp_path: Path) -> None:
    server = wires.ctxhost(tmp_path, cwd=person.project)
    server.begin()
    call = '{"jsonrpc":"2.0","id":"z","method":"tools/call","params":{"name":"lcm_grep","arguments":%s}}'
    for arguments, said in (
        (r'{"query":"\ud800"}', "hits"),
        (f'{{"query":"port","limit":{"9" * 5_000}}}', "48213"),
        ('{"query":' + '{"a":' * 200 + "1" + "}" * 201, "right_form"),
    ):
        server.line((call % arguments).encode())
        told = server.hear()
        assert told["id"] == "z" and said in told["result"]["content"][0]["text"]
    assert server.end()[:3] == (0, b"", b"")


def test_a_growing_session_file_is_found_line_by_line_by_two_servers(person: User, tmp_path: Path) -> None:
    async def journey() -> None:
        file = SessionFile(person.home, str(person.project), "33333333-aaaa-4bbb-8ccc-000000000003")
        async with connected(person.ctxhost(), tmp_path / "a") as one, connected(person.ctxhost(), tmp_path / "b") as two:
            for number in range(6):
                file.user(f"Step word-{number}-x is next.")
                for session in (one, two):
                    assert f"Step word-{number}-x" in await found(session, f'"word-{number}-x"')
            first, second = file.halves("A line that was cut at cut-line-7.")
            file.append(first)
            assert "A line that was cut" not in await found(two, '"cut-line-7"')
            file.append(second)
            for session in (two, one):
                hits, _ = await used(session, "lcm_grep", {"query": '"cut-line-7"'})
                assert len(hits["hits"]) == 1

    anyio.run(journey)


def test_a_hostile_project_runs_nothing_and_reaches_nobody_elses_sessions(person: User, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for folder in (person.project / "plugins" / "context_engine" / "evil", person.project / "host", person.project / "mcp"):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(EVIL.format(marker=str(marker)))
    (person.project / "config.yaml").write_text(EVIL_CONFIG)
    (person.project / ".env").write_text("CTXHOST_RECALL__SCOPE=all\n")
    server = person.ctxhost()
    server.env = {**(server.env or {}), "CTXHOST_RECALL__SCOPE": "all", "CLAUDE_PROJECT_DIR": str(person.other), "PWD": str(person.other)}
    before = {path: path.stat().st_mtime_ns for path in person.project.rglob("*")}

    async def journey() -> None:
        async with connected(server, tmp_path / "errors") as session:
            assert "48213" in await found(session, "port")
            assert "31-07-55" not in await found(session, "safe")

    anyio.run(journey)
    assert not marker.exists()
    assert {path: path.stat().st_mtime_ns for path in person.project.rglob("*")} == before


@pytest.mark.parametrize("where", ["by flag", "at home"])
def test_the_user_may_open_everything(person: User, tmp_path: Path, where: str) -> None:
    if where == "at home":
        (tmp_path / "ctxhost").mkdir()
        (tmp_path / "ctxhost" / "config.yaml").write_text("recall: {scope: all}\n")

    async def journey() -> None:
        async with connected(person.ctxhost(*(["--scope", "all"] if where == "by flag" else [])), tmp_path / "errors") as session:
            assert "31-07-55" in await found(session, "safe")

    anyio.run(journey)


def test_an_archive_that_cannot_be_opened_is_an_error_that_the_next_call_tries_again(person: User, wires: Wires, tmp_path: Path) -> None:
    archive = tmp_path / "ctxhost" / "archive.db"
    archive.parent.mkdir()
    archive.write_bytes(b"no database, whatever its name says" * 100)
    server = wires.ctxhost(tmp_path, cwd=person.project)
    server.begin()
    answer, is_error = server.used("lcm_grep", {"query": "port"})
    assert is_error and "archive.db" in answer["error"]["what"] and "archive repair" in answer["error"]["what_to_do"]
    archive.unlink()
    answer, is_error = server.used("lcm_grep", {"query": "port"})
    assert not is_error and "48213" in json.dumps(answer)
    archive.rename(tmp_path / "gone.db")
    overdue = time.monotonic() + 30
    while not archive.exists() and time.monotonic() < overdue:  # it is looked for now and then
        answer, is_error = server.used("lcm_grep", {"query": "port"})
    assert not is_error and "48213" in json.dumps(answer)
    assert server.end()[:3] == (0, b"", b"")


def test_where_nothing_was_imported_a_search_says_so_and_how(wires: Wires, tmp_path: Path) -> None:
    server = wires.ctxhost(tmp_path)
    server.begin()
    answer, is_error = server.used("lcm_grep", {"query": "anything"})
    home = tmp_path / "ctxhost"
    assert not is_error and f"ctxhost --home {home} import" in json.dumps(answer) and str(tmp_path) in json.dumps(answer)
    assert server.end()[:3] == (0, b"", b"")


def test_a_search_that_takes_long_can_be_cancelled_or_left(person: User, wires: Wires, tmp_path: Path) -> None:
    person.own.assistant("a" * 4_000 + "b")
    slow = {"query": "(?:a|aa)+c", "mode": "regex"}  # until its time is over

    async def journey() -> None:
        async with connected(person.ctxhost(), tmp_path / "errors") as session:
            await found(session, "port")
            with anyio.move_on_after(0.3) as limit:
                await used(session, "lcm_grep", slow)
            assert limit.cancelled_caught
            assert "48213" in await found(session, "port")

    anyio.run(journey)
    server = wires.ctxhost(tmp_path, cwd=person.project)
    server.begin()
    server.used("lcm_grep", {"query": "port"})
    server.use("lcm_grep", slow)
    server.ask("ping")
    server.hear()
    status, _, errors, taken = server.end()
    assert (status, errors) == (0, b"") and taken < 1.0
