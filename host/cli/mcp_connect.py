"""``ctxhost mcp connect``: put the MCP server into a client's configuration, and take it out again."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from host.cli.config import say_json
from host.cli.globals import Globals
from host.mcp import SDK

if TYPE_CHECKING:
    from host.mcp.connect import Change, Plan, Saved, Surroundings, TakenBack

CLIENT_NAMES = ("claude-code", "codex", "cursor", "vscode")  # of CLIENTS, which a test compares: help imports nothing
AS_MODULE = ("-P", "-m", "host")  # -P: a folder `host` in the project where the client starts it is not ours
STATES = {"new": "would be made", "changed": "would be changed", "unchanged": "says it already"}
UNDONE = {
    "restored": "is as it was before",
    "removed": "was made by ctxhost and is gone",
    "taken out": "was changed since: only what starts ctxhost was taken out",
    "nothing there": "holds nothing of ctxhost",
}


@click.command("connect")
@click.argument("client", type=click.Choice(CLIENT_NAMES))
@click.option("--write", "writes", is_flag=True, help="Change the files; each is backed up beside itself first.")
@click.option("--undo", "undoes", is_flag=True, help="Put the files back; one that changed since only loses what starts ctxhost.")
@click.option("--user", "level", flag_value="user", help="For every project (default; for vscode: --project).")
@click.option("--project", "level", flag_value="project", help="For the project in this folder.")
@click.option("--no-hook", is_flag=True, help="Leave out the hook that recalls rules and exact values after a compaction.")
@click.option("--scope", type=click.Choice(["directory", "all"]), default="directory", help="all: searches cover every project's sessions.")
@click.option("--force", is_flag=True, help="Replace an entry of the same name that does not start ctxhost.")
@click.option("--json", "as_json", is_flag=True, help="Print the same facts as JSON.")
@click.pass_obj
def connect(
    settings: Globals, client: str, writes: bool, undoes: bool, level: str | None, no_hook: bool, scope: str, force: bool, as_json: bool
) -> None:
    """Tell CLIENT of the MCP server: claude-code, codex, cursor or vscode.

    Prints what would be put into which file, and the client's own command for it where it has one; --write does it.
    Everything else in the files stays as it is. A file with comments is left alone: the text to put in is printed.
    """
    from host.errors import UsageError
    from host.mcp.connect import Level, Start, plan, undo, write

    if writes and undoes:
        raise UsageError("--write and --undo contradict each other", "give one of them")
    around, where, now = surroundings(), Level(level) if level else None, datetime.now().astimezone()
    if undoes:
        _say_undone(undo(client, where, around, settings.home, now), client, as_json=as_json)
        return
    planned = plan(client, where, around, Start(command_words(settings), scope == "all"), hook=not no_hook, force=force)
    saved = write(planned, settings.home, now) if writes else []
    if as_json:
        say_json(_as_json(planned, saved, wrote=writes))
        return
    for line in _written_lines(settings, planned, saved) if writes else _planned_lines(planned):
        click.echo(line)
    if not has_package(SDK):
        click.echo("warning: the server cannot start before `pip install 'ctxhost[mcp]'`", err=True)


def surroundings() -> Surroundings:
    """Where clients' files are looked for in this process."""
    from host.mcp.connect import Surroundings

    return Surroundings(Path.home(), os.environ, Path.cwd(), sys.platform)


def command_words(settings: Globals) -> tuple[str, ...]:
    """What starts this ctxhost with this home from any folder, in the environment of any client."""
    from platformdirs import user_config_path

    named = [] if settings.config_file is None else ["--config", str(settings.config_file.absolute())]
    if settings.home.absolute() != user_config_path("ctxhost"):  # a client passes on no CTXHOST_HOME
        named += ["--home", str(settings.home.absolute())]
    return (*launcher(sys.argv[0]), *named)


def launcher(called_as: str) -> tuple[str, ...]:
    """The command that runs this installation: its script where it was called as one, else the interpreter with the module."""
    script = shutil.which(called_as)
    if script is not None and Path(script).name == "ctxhost":
        return (str(Path(script).absolute()),)
    return (sys.executable, *AS_MODULE)


def has_package(name: str) -> bool:
    """Whether a package is installed here; it is not imported."""
    from importlib.util import find_spec

    return find_spec(name) is not None


def _planned_lines(planned: Plan) -> Iterator[str]:
    for change in planned.changes:
        yield f"{change.path} {STATES[change.state]}: {change.part.place}"
        yield from (f"  {line}" for line in change.part.shown().splitlines())
        yield ""
    if planned.own_command is not None:
        yield from ("the client's own command for the server, instead of --write:", f"  {planned.own_command}", "")
    yield from (f"note: {note}" for note in planned.notes)
    yield "nothing to change" if planned.is_done else "nothing was written; --write does it (with backups), --undo takes it back"


def _written_lines(settings: Globals, planned: Plan, saved: list[Saved]) -> Iterator[str]:
    from host.mcp.connect import CLIENTS

    written = {each.path: each for each in saved}
    for change in planned.changes:
        yield _written_line(change, written.get(change.path))
    if not saved:
        yield "nothing was changed"
        return
    yield from (f"note: {note}" for note in planned.notes)
    yield f"undo: {settings.command('mcp', 'connect', planned.client, '--undo', f'--{planned.level}')}"
    yield f"next: {CLIENTS[planned.client].then}"


def _written_line(change: Change, saved: Saved | None) -> str:
    if saved is None:
        return f"{change.path} {STATES['unchanged']}"
    backup = "" if saved.backup is None else f"; as it was: {saved.backup}"
    return f"{change.path} {'made' if change.state == 'new' else 'changed'}: {change.part.place}{backup}"


def _as_json(planned: Plan, saved: list[Saved], *, wrote: bool) -> dict[str, Any]:
    backups = {each.path: each.backup for each in saved}
    return {
        "client": planned.client,
        "for": str(planned.level),
        "wrote": wrote and bool(saved),
        "files": [
            {
                "path": str(change.path),
                "state": change.state,
                "place": change.part.place,
                "text": change.part.shown(),
                "backup": None if backups.get(change.path) is None else str(backups[change.path]),
            }
            for change in planned.changes
        ],
        "own_command": planned.own_command,
        "notes": list(planned.notes),
    }


def _say_undone(done: list[TakenBack], client: str, *, as_json: bool) -> None:
    if as_json:
        files = [{"path": str(each.path), "undone": each.how, "backup": None if each.backup is None else str(each.backup)} for each in done]
        say_json({"client": client, "files": files})
        return
    for each in done:
        click.echo(f"{each.path} {UNDONE[each.how]}{'' if each.backup is None else f'; as it was: {each.backup}'}")
