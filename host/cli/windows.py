"""``ctxhost sessions view``, ``diff``, ``undo``: the window as the model sees it, version by version."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from host.cli.config import say_json
from host.cli.globals import Globals
from host.cli.options import json_option
from host.cli.store_opening import opened, replay_option

if TYPE_CHECKING:
    from host.cli.store_windows import History
    from host.messages.types import Message
    from host.store.protocols import FileStore


@click.command("view")
@click.argument("session_id", metavar="ID")
@click.option("--version", type=click.IntRange(min=0), metavar="N", help="As this version was published (0: before any compaction).")
@replay_option
@json_option
@click.pass_obj
def view_command(settings: Globals, session_id: str, version: int | None, replay: str | None, as_json: bool) -> None:
    """Show the window as the model sees it now.

    A line a message: its position in the archive, what it is (as archived, or made by whom), role, tokens, first words.
    """
    from host.cli.store_text import fitted
    from host.cli.store_windows import entry_lines, window_json

    with windows_of(settings, session_id, replay) as windows:
        shown = windows.history.now() if version is None else windows.history.at(version)
    if as_json:
        say_json(window_json(windows.history.newest if version is None else version, shown, windows.tokens))
        return
    for line in entry_lines(shown.ledger[:], windows.tokens) if len(shown.ledger) else ["no messages yet"]:
        click.echo(fitted(line))
    click.echo(f"{shown.name}: {shown.sizes(windows.tokens)}")


@click.command("diff")
@click.argument("session_id", metavar="ID")
@click.argument("start", metavar="[FROM]", type=click.IntRange(min=0), required=False)
@click.argument("end", metavar="[TO]", type=click.IntRange(min=0), required=False)
@replay_option
@json_option
@click.pass_obj
def diff_command(settings: Globals, session_id: str, start: int | None, end: int | None, replay: str | None, as_json: bool) -> None:
    """Show what left the window and what came, from FROM to TO.

    Both are versions, as `sessions show` lists them. Default: from the last but one to the newest. Version 0 is the archive
    before any compaction.
    """
    from host.cli.store_text import fitted
    from host.cli.store_windows import change_json, change_lines

    with windows_of(settings, session_id, replay) as windows:
        last = windows.history.newest if end is None else end
        change = windows.history.between(max(0, last - 1) if start is None else start, last)
    if as_json:
        say_json(change_json(change, windows.tokens))
        return
    for line in change_lines(change, windows.tokens):
        click.echo(fitted(line))


@click.command("undo")
@click.argument("session_id", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only say what would come back.")
@json_option
@click.pass_obj
def undo_command(settings: Globals, session_id: str, dry_run: bool, as_json: bool) -> None:
    """Take the newest compaction back.

    The window before it is published again, with all that came since. Nothing is erased. Where the compaction began a new
    session, the old one is open again. A second undo takes back the compaction before.
    """
    from host.cli.store_text import fitted
    from host.cli.store_windows import change_json, change_lines

    with windows_of(settings, session_id) as windows:
        undone, change = windows.history.undone()
        published = None if dry_run else windows.store.views(windows.conversation).undo(expected=windows.history.newest)
    if as_json:
        version, session = (published.version, published.session) if published else (None, None)
        say_json({"applied": not dry_run, "undone": undone, "version": version, "session": session, **change_json(change, windows.tokens)})
        return
    for line in change_lines(change, windows.tokens):
        click.echo(fitted(line))
    if published is None:
        click.echo(f"nothing was changed: this is what taking back version {undone} would do")
        return
    click.echo(f"version {undone} is taken back by version {published.version}; the conversation goes on in session {published.session}")


@dataclass(frozen=True)
class Windows:
    """A conversation's windows, and a way to count them."""

    store: FileStore
    conversation: str
    history: History
    tokens: Callable[[Message], int]


@contextmanager
def windows_of(settings: Globals, session_id: str, replay: str | None = None) -> Iterator[Windows]:
    """Look at the windows of the conversation that a session belongs to."""
    from host.cli.store_windows import History
    from host.tokens import Counter, Remembered

    with opened(settings, replay) as store:
        conversation = store.sessions.find(session_id).conversation
        history = History(store.archive(conversation), store.views(conversation).history())
        yield Windows(store, conversation, history, Remembered(Counter(model_name(settings), sampled=False)).message)


def model_name(settings: Globals) -> str:
    """The model whose tokens are counted; none where the configuration is broken, which is no reason not to look."""
    from host.app import load_config, main_model
    from host.errors import ConfigError

    try:
        return main_model(load_config(settings)).name
    except ConfigError:
        return ""


def is_automatic(settings: Globals) -> bool:
    """Whether conversations are compacted by themselves; a configuration that is broken is no reason not to look."""
    from host.app import load_config
    from host.errors import ConfigError

    try:
        return load_config(settings).config.compression.enabled
    except ConfigError:
        return True
