"""The clients that can be told of ctxhost: where each keeps its settings, and in which words."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from host.mcp.connect.parts import Entry, Hook, Part, Server
from host.mcp.connect.recognised import NAME


class Level(StrEnum):
    """For which work a client is told: every project of the user, or this one."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True)
class Surroundings:
    """Where files are looked for. ``project`` is the folder of the project, ``platform`` as ``sys.platform`` names it."""

    user_home: Path
    environ: Mapping[str, str]
    project: Path
    platform: str = "linux"

    def folder(self, variable: str, default: str) -> Path:
        """The folder that a variable names, else one below the user's home."""
        named = self.environ.get(variable)
        return Path(named) if named else self.user_home / default


@dataclass(frozen=True)
class Start:
    """How ctxhost is started. ``words`` run it from anywhere, with its global options; ``everything``: searches may leave the project."""

    words: tuple[str, ...]
    everything: bool = False

    def server(self, directory: str | None) -> tuple[str, ...]:
        """The command line of the MCP server; ``directory`` is the client's word for the project's folder, where it has to be told."""
        where = () if directory is None else ("--directory", directory)
        return (*self.words, "mcp", *where, *(("--scope", "all") if self.everything else ()))

    def recall(self) -> str:
        """The command of the hook, for a shell."""
        return shlex.join([*self.words, "mcp", "recall", "--hook"])


Where = Callable[[Surroundings], Path]
Words = Callable[[tuple[str, ...]], tuple[str, ...]]


@dataclass(frozen=True)
class Settings:
    """A client's files for one level. ``directory`` is what it replaces by the project's folder; ``own`` its own command for the same."""

    servers: Where
    hooks: Where | None = None
    directory: str | None = None
    own: Words | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Client:
    """One client. ``kind`` are keys that it wants in every entry; ``then`` is what the user does next.

    ``hooks_switch`` leads to what is false in the file of its servers where it runs no hooks.
    """

    title: str
    syntax: str
    key: str
    places: Mapping[Level, Settings]
    then: str
    usual: Level = Level.USER
    kind: Entry | None = None
    hooks_switch: tuple[str, ...] | None = None

    def files(self, level: Level, around: Surroundings, start: Start, *, hook: bool, force: bool = False) -> list[tuple[Path, Part]]:
        """What goes into which file; with ``force`` also in the place of another program's entry."""
        place = self.places[level]
        command, *arguments = start.server(place.directory)
        entry: Entry = {**(self.kind or {}), "command": command, "args": arguments}
        found: list[tuple[Path, Part]] = [(place.servers(around), Server(self.syntax, self.key, entry, replaces=force))]
        if hook and place.hooks is not None:
            found.append((place.hooks(around), Hook(start.recall())))
        return found

    def own_command(self, level: Level, start: Start) -> str | None:
        """The client's own command line that adds the server, for a shell; None where it has none."""
        place = self.places[level]
        return None if place.own is None else shlex.join(place.own(start.server(place.directory)))


COMMITTED = "this file is often committed: it names the ctxhost of this machine"

CLIENTS: dict[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        "json",
        "mcpServers",
        {
            Level.USER: Settings(
                lambda at: at.folder("CLAUDE_CONFIG_DIR", "") / ".claude.json",
                lambda at: at.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
                own=lambda words: ("claude", "mcp", "add", "--scope", "user", NAME, "--", *words),
                notes=("Claude Code writes .claude.json itself while it runs: close it first, or use its own command",),
            ),
            Level.PROJECT: Settings(
                lambda at: at.project / ".mcp.json",
                lambda at: at.project / ".claude" / "settings.json",
                own=lambda words: ("claude", "mcp", "add", "--scope", "project", NAME, "--", *words),
                notes=(COMMITTED,),
            ),
        },
        then="restart Claude Code; /mcp shows ctxhost (a project's server asks once whether you trust it)",
        kind={"type": "stdio"},
    ),
    "codex": Client(
        "Codex",
        "toml",
        "mcp_servers",
        {
            Level.USER: Settings(
                lambda at: at.folder("CODEX_HOME", ".codex") / "config.toml",
                lambda at: at.folder("CODEX_HOME", ".codex") / "hooks.json",
                own=lambda words: ("codex", "mcp", "add", NAME, "--", *words),
            ),
            Level.PROJECT: Settings(
                lambda at: at.project / ".codex" / "config.toml",
                lambda at: at.project / ".codex" / "hooks.json",
                notes=(COMMITTED, "Codex reads it only in a project that you trust"),
            ),
        },
        then="restart Codex; /mcp shows ctxhost; approve its hook once with /hooks, until then Codex does not run it",
        hooks_switch=("features", "hooks"),
    ),
    "cursor": Client(
        "Cursor",
        "json",
        "mcpServers",
        {
            Level.USER: Settings(lambda at: at.user_home / ".cursor" / "mcp.json", directory="${workspaceFolder}"),
            Level.PROJECT: Settings(lambda at: at.project / ".cursor" / "mcp.json", directory="${workspaceFolder}", notes=(COMMITTED,)),
        },
        then="restart Cursor; Settings, MCP shows ctxhost: switch it on there",
    ),
    "vscode": Client(
        "VS Code",
        "json",
        "servers",
        {
            Level.USER: Settings(
                lambda at: vscode_user_folder(at) / "mcp.json",
                own=lambda words: ("code", "--add-mcp", json.dumps({"name": NAME, "command": words[0], "args": list(words[1:])})),
                notes=("VS Code tells a user's server no project folder: add --scope all to search everything, or use --project",),
            ),
            Level.PROJECT: Settings(lambda at: at.project / ".vscode" / "mcp.json", directory="${workspaceFolder}", notes=(COMMITTED,)),
        },
        then="in VS Code run `MCP: List Servers` and start ctxhost; its tools are there in agent mode",
        usual=Level.PROJECT,
        kind={"type": "stdio"},
    ),
}
"""Name -> client. Cursor and VS Code have no hook whose text reaches the model after a compaction, so they get none."""


def vscode_user_folder(at: Surroundings) -> Path:
    """Where VS Code keeps a user's settings."""
    if at.platform == "darwin":
        return at.user_home / "Library" / "Application Support" / "Code" / "User"
    return at.folder("XDG_CONFIG_HOME", ".config") / "Code" / "User"
