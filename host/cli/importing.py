"""``ctxhost import``: the sessions that other clients recorded, in the archive."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from host.cli.config import say_json
from host.cli.globals import Globals
from host.cli.options import json_option
from host.cli.store_opening import watched
from host.errors import CtxhostError

if TYPE_CHECKING:
    from host.importing.values import Imported

SOURCES = ("claude-code", "codex", "openai")  # of host.importing.places, not imported for a help page
SHOWN = 20  # complaints in full; --json has all


def named_paths(context: click.Context, parameter: click.Parameter, names: Sequence[str]) -> tuple[Path, ...]:
    """The paths of an argument; an empty one is a mistake."""
    from host.cli.paths import named_path

    return tuple(path for name in names if (path := named_path(context, parameter, name)) is not None)


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(), callback=named_paths)
@click.option("--from", "client", type=click.Choice(SOURCES), help="Whose sessions; openai: message files, which PATH has to name.")
@json_option
@click.pass_obj
def import_command(settings: Globals, paths: tuple[Path, ...], client: str | None, as_json: bool) -> int:
    """Bring the sessions of other clients into the archive.

    PATH is a file or a folder; without one the session folders of Claude Code and Codex are read (CLAUDE_CONFIG_DIR and CODEX_HOME
    are heeded), the newest session first. What is read can be searched at once. Run it again at any time: it goes on where it
    was, and nothing is archived twice.

    The files are only read. A damaged line is named and passed over. Exit status 1 if there was one, or a file or folder could
    not be read, or a message not be kept.
    """
    from host.importing.values import Imported

    done = Imported()
    try:
        for portion in portions(settings, paths, client):
            done += portion
    except (KeyboardInterrupt, CtxhostError, OSError):
        if done.read or done.messages or done.versions:
            tell(done, settings, as_json=as_json)
        raise
    tell(done, settings, as_json=as_json)
    return 0 if done.is_complete else 1


def portions(settings: Globals, paths: Sequence[Path], client: str | None) -> Iterator[Imported]:
    """Read them into the archive of the home folder, which is made where there is none but something to read."""
    from host.app import open_archive
    from host.app.recalling import importer_for
    from host.importing.finding import found
    from host.importing.places import Places

    finds = found(Places(Path.home(), os.environ), paths, client)
    with closing(open_archive(settings.home, durability="normal")) as store, watched(settings) as progress:
        yield from importer_for(store, Path.home(), os.environ).portions(finds, progress=progress)


def tell(done: Imported, settings: Globals, *, as_json: bool) -> None:
    """Print what a run brought; one that was cut short kept what it had read by then."""
    if as_json:
        say_json(done.as_json())
        return
    for line in summary(done, settings):
        click.echo(line)
    for line in complaints(done):
        click.echo(line, err=True)


def summary(done: Imported, settings: Globals) -> Iterator[str]:
    """What came, from when to when, and what to do next."""
    from host.cli.store_text import counted, local, sized

    if done.messages or done.versions:
        spoken = f", from {local(done.since)} to {local(done.until)}" if done.since is not None else ""
        yield f"imported {counted(done.messages, 'message')} in {counted(done.conversations, 'new session')}{spoken}"
    else:
        yield "nothing new"
    yield f"read {counted(done.read, 'file')} ({sized(done.bytes)}) in {done.seconds:,.1f} s" + "".join(
        f"; {more}" for more in others(done)
    )
    yield f'next: {settings.command("grep")} "PATTERN"; `{settings.command("mcp", "connect", "claude-code")}` lets the agent search itself'


def others(done: Imported) -> Iterator[str]:
    """What happened beside new messages, as far as it did."""
    from host.cli.store_text import counted

    told = (
        (done.versions, f"{counted(done.versions, 'message')} had changed"),
        (done.compactions, f"{counted(done.compactions, 'compaction')} of the client"),
        (done.unchanged, f"{counted(done.unchanged, 'file')} unchanged"),
        (done.passed_over, f"{counted(done.passed_over, 'file')} of another kind"),
        (done.empty, f"{counted(done.empty, 'file')} without a message"),
        (done.deleted, f"{counted(done.deleted, 'file')} of sessions that were deleted"),
        (len(done.erased), f"{counted(len(done.erased), 'message')} left out, erased before"),
        (done.unfinished, f"{counted(done.unfinished, 'last line')} not finished yet"),
    )
    return (text for count, text in told if count)


def complaints(done: Imported) -> Iterator[str]:
    """What could not be read or kept, the first of it by name."""
    from host.cli.store_text import counted, plain

    every = [*map(str, done.unreadable), *map(str, done.damaged), *(f"not kept: {trouble}" for trouble in done.refused)]
    yield from map(plain, every[:SHOWN])
    if len(every) > SHOWN:
        yield f"and {counted(len(every) - SHOWN, 'more line')} of that kind; --json has them all"
