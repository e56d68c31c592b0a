"""``ctxhost mcp``: the recall tools for agents of any make, and what a client's hook prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from host.cli.globals import Globals
from host.cli.paths import named_path
from host.errors import UsageError
from host.mcp import SDK

if TYPE_CHECKING:
    from host.mcp.hooks import HookInput

SDK_PACKAGES = (SDK, "mcp_types", "anyio")
HOOK_SECONDS = 1.0  # how long what a client tells its hook is waited for; it is there at once, or never comes
CONNECT = "connect"


class ExtraMissing(UsageError):
    """The MCP SDK is not installed."""

    def __init__(self) -> None:
        super().__init__("the MCP server needs a package that is not installed", "pip install 'ctxhost[mcp]'")


class NoHookInput(UsageError):
    """What was written to the hook's standard input is no JSON."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"what came on standard input is no JSON: {why}", "a client writes one object with session_id; or give --session ID"
        )


class McpGroup(click.Group):
    """``connect`` is imported when it is wanted: the server starts without it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        return sorted([*super().list_commands(ctx), CONNECT])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One command."""
        if cmd_name == CONNECT:
            from host.cli.mcp_connect import connect

            return connect
        return super().get_command(ctx, cmd_name)


@click.group(cls=McpGroup, invoke_without_command=True)
@click.option(
    "--directory",
    type=click.Path(exists=True, file_okay=False),
    callback=named_path,
    metavar="DIR",
    help="The project whose sessions may be searched; default: the current folder.",
)
@click.option("--scope", type=click.Choice(["directory", "all"]), help="all: every project's sessions; default: recall.scope at home.")
@click.pass_context
def mcp(context: click.Context, directory: Path | None, scope: str | None) -> None:
    """Serve lcm_grep and lcm_expand over stdio, for the agent that you already use.

    Without a command: the server, that an MCP client starts by itself. Before each search it reads what is new in the
    client's session files. `ctxhost mcp connect CLIENT` configures a client.
    """
    if context.invoked_subcommand is None:
        serve_here(context.ensure_object(Globals), directory, scope)


@mcp.command("recall")
@click.option("--session", metavar="ID", help="The session, as its client calls it; default: the one that the hook's input names.")
@click.option("--budget", type=click.IntRange(min=1), default=800, show_default=True, metavar="N", help="Most tokens to print.")
@click.option("--hook", is_flag=True, help="Run as a client's hook: errors go to standard error and the status is 0 whatever happens.")
@click.pass_obj
def recall_command(settings: Globals, session: str | None, budget: int, hook: bool) -> None:
    """Print the user's rules and exact values of the part of a session that a compaction took out of the window.

    For a session hook: its JSON input is read from standard input, and the session file that it names is imported first.
    Prints nothing where there is nothing to say.
    """
    told = None
    try:
        told = hook_told()
        text = left_behind_text(settings, session, told, budget)
    except Exception as error:  # the door of a client's hook: why it has nothing to say is said aside, and the client goes on
        if not hook and (told is None or told.fault):
            raise
        aside(str(error))
        return
    if text:
        click.echo(text.encode("utf-8", "replace"))  # whatever the locale is: the client reads UTF-8


def serve_here(settings: Globals, directory: Path | None, scope: str | None) -> None:
    """Serve until the client goes away, and end the process."""
    from host.app.recalling import recalling

    try:
        from host.mcp.server import leave, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in SDK_PACKAGES:
            raise
        raise ExtraMissing from error
    tools = recalling(settings, directory, scope=scope, import_command=settings.command("import"))
    if sys.stdin is not None and sys.stdin.isatty():
        click.echo("waiting for an MCP client on standard input; `ctxhost mcp connect CLIENT` configures one, Ctrl-D ends this", err=True)
    serve(tools, verbose=settings.verbose)
    tools.close()
    leave()


def left_behind_text(settings: Globals, session: str | None, told: HookInput | None, budget: int) -> str | None:
    """What is to be printed; UsageError where no session is named, NoArchive where there is nothing to look into."""
    from host.app import archive_of
    from host.app.hook import left_behind_in
    from host.cli.store_opening import NoArchive
    from host.mcp.hooks import HookInput

    told = told or HookInput()
    if told.fault and not session:
        raise NoHookInput(told.fault)
    if not (session or told.session or told.transcript):
        raise UsageError("no session is named", "give --session ID, or run it as a client's session hook; `ctxhost sessions` lists the ids")
    if told.transcript is None and not archive_of(settings.home).exists():
        raise NoArchive(settings)
    return left_behind_in(settings.home, session, told, budget=budget, warn=aside)


def aside(text: str) -> None:
    """Say something on standard error; standard output joins an agent's context."""
    click.echo(f"ctxhost mcp recall: {text}", err=True)


def hook_told() -> HookInput | None:
    """What the client wrote to standard input, where this is its hook."""
    from host.mcp.hooks import hook_input

    return None if sys.stdin is None or sys.stdin.isatty() else hook_input(0, HOOK_SECONDS)
