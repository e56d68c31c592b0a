"""What the commands over the archive share: opening it, asking before something is erased, watching what takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import click

from host.cli.globals import Globals
from host.errors import CtxhostError, UsageError

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from host.engine.services import Progress
    from host.store.protocols import FileStore

PATIENCE = 1.0  # seconds after which a bar is shown

replay_option = click.option("--replay", metavar="NAME", help="Look into the archive of a replay instead.")
yes_option = click.option("--yes", is_flag=True, help="Do it without asking.")


class NoArchive(CtxhostError):
    """There is nothing to look into yet; nothing was made."""

    def __init__(self, settings: Globals) -> None:
        super().__init__(
            f"there is no archive in {settings.home} yet",
            "the first conversation makes it; --home names another folder, `ctxhost replay FILE` tries one out",
        )


@contextmanager
def opened(settings: Globals, replay: str | None = None) -> Iterator[FileStore]:
    """The archive of the home folder, or a replay's, until the block is left. NoArchive where there is none: none is made."""
    from host.app import archive_of, open_archive, using_replay

    if not archive_of(settings.home, replay).exists():
        raise NoArchive(settings)
    with using_replay(settings.home, replay), closing(open_archive(settings.home, replay=replay)) as store:
        yield store


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether the user agrees; UsageError where nobody is there to answer."""
    if yes:
        return True
    click.echo(f"{question} [y/N] ", nl=False, err=True)
    answer = sys.stdin.readline() if sys.stdin else ""  # None: it is closed
    if not answer:
        click.echo(err=True)
        raise UsageError("nobody answered, nothing was changed", "--yes does it without asking")
    return answer.strip().lower() in ("y", "yes")


@contextmanager
def watched(settings: Globals) -> Iterator[Progress]:
    """A bar on the terminal for what takes longer than a second."""
    if not sys.stderr.isatty():
        yield lambda done, total, text: None
        return
    with ExitStack() as stack:
        yield _bar(settings, stack)


def _bar(settings: Globals, stack: ExitStack) -> Progress:
    begun = time.monotonic()
    bars: list[tuple[Bar, TaskID]] = []

    def show(done: int, total: int, text: str) -> None:
        if not bars and time.monotonic() - begun >= PATIENCE:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
            bar = Bar(*columns, console=Console(stderr=True, no_color=not settings.color), transient=True)
            bars.append((stack.enter_context(bar), bar.add_task("")))
        for bar, task in bars:
            bar.update(task, completed=done, total=total, description=text)

    return show
