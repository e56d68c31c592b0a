"""The command line: thin, each command in a module of its own that is imported when it is called."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from pathlib import Path

import click
from click.core import ParameterSource

from host import __version__
from host.cli.globals import Globals
from host.cli.paths import named_path
from host.errors import CtxhostError, SystemFault
from host.home import default_home

INTERRUPTED = 130
USAGE = 2
PLACES = {"--config": "config_file", "--home": "home"}

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("host.cli.init:init", "Write a commented config.yaml."),
    "demo": ("host.cli.demo:demo", "Watch an engine work on a conversation that comes along."),
    "replay": ("host.cli.replay:replay", "Run a recorded conversation under an engine."),
    "run": ("host.cli.running:run_command", "Ask once: a prompt or standard input, the answer on standard output."),
    "chat": ("host.cli.chatting:chat_command", "Talk with a model; every message is kept, the window never overflows."),
    "grep": ("host.cli.grep:grep", "Search every archived message."),
    "import": ("host.cli.importing:import_command", "Bring the sessions of other clients into the archive."),
    "mcp": ("host.cli.mcp:mcp", "Give your agent what was said before: the recall tools over MCP."),
    "sessions": (
        "host.cli.sessions:sessions",
        "Sessions: list, show, tree, export, view, diff, compress, receipt, pin, undo, rename, end, delete.",
    ),
    "archive": ("host.cli.archive:archive", "The archive: verify, backup, forget, expire, repair."),
    "engines": ("host.cli.engines:engines", "Engines: list them, check one."),
    "config": ("host.cli.config:config", "Configuration: show, check, set, schema, trust."),
    "doctor": ("host.cli.doctor:doctor", "Look whether everything is in place."),
}
"""Name -> where it lives, and its line in the help: listing the commands imports none of them."""


class LazyGroup(click.Group):
    """The commands of COMMANDS, imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one command that is wanted."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of the help page, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config", "config_file", type=click.Path(), callback=named_path, envvar="CTXHOST_CONFIG", help="Configuration file to use alone."
)
@click.option("--home", type=click.Path(file_okay=False), callback=named_path, envvar="CTXHOST_HOME", help="Folder of ctxhost's own files.")
@click.option("-v", "--verbose", is_flag=True, help="Show tracebacks and notices.")
@click.option("--no-color", is_flag=True, help="Plain output.")
@click.version_option(__version__, prog_name="ctxhost")
@click.pass_context
def cli(context: click.Context, config_file: Path | None, home: Path | None, verbose: bool, no_color: bool) -> None:
    """A plugin host for the context of LLM agents: pick an engine, keep every message."""
    color = not no_color and "NO_COLOR" not in os.environ
    context.color = None if color else False
    context.obj = Globals(config_file, home or default_home(), verbose, color, typed_places(context))


def typed_places(context: click.Context) -> tuple[str, ...]:
    """The options that say where to look, as they were typed; the environment's are there for the next command too."""
    typed = [(option, name) for option, name in PLACES.items() if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    return tuple(word for option, name in typed for word in (option, str(context.params[name])))


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; returns the exit status and prints errors as one line what, one line what to do."""
    given = sys.argv[1:] if arguments is None else arguments
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without the letters shows ? instead of ending the command
    verbose = bool({"-v", "--verbose"} & set(given))
    try:
        status = cli.main(args=given, prog_name="ctxhost", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except CtxhostError as error:
        return _failed(str(error), error.exit_status, error if verbose else None)
    except click.ClickException as error:
        error.show()
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return _failed("interrupted", INTERRUPTED, None)
    except (BrokenPipeError, SystemExit):  # click and rich leave by SystemExit when they meet a closed pipe; we never do
        return _reader_left()
    except OSError as error:
        fault = SystemFault(error, is_output=_is_output(error))
        return _failed(str(fault), fault.exit_status, error if verbose else None)
    except Exception as error:  # noqa: BLE001  the last door: a fault of ctxhost is named, its traceback shown with -v
        what = f"ctxhost failed: {type(error).__name__}: {error}"
        return _failed(f"{what}\nrun it again with -v and report the traceback", 1, error if verbose else None)


def open_closed_streams() -> None:
    """Let nothing come of what goes to a stream that was closed before we began, and no other file have its number."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115  as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115


def _is_output(error: OSError) -> bool:
    """Whether it was met in printing, the only thing that click and rich do with a file that has no name."""
    from traceback import walk_tb

    *_, (frame, _) = walk_tb(error.__traceback__)
    return error.filename is None and frame.f_globals.get("__name__", "").partition(".")[0] in ("click", "rich")


def _reader_left() -> int:
    """Whoever read the output has seen enough: no fault, and nothing for the interpreter to complain about at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _failed(text: str, status: int, error: Exception | None) -> int:
    if error is not None:
        import traceback

        traceback.print_exception(error)
    what, *advice = map(_plain, text.splitlines() or [""])
    click.echo("\n".join([f"error: {what}", *advice]), err=True)
    return status


def _plain(line: str) -> str:
    """A line without what would command a terminal."""
    return "".join(char if char.isprintable() else "?" for char in line)
