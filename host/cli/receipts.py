"""``ctxhost sessions receipt`` and ``pin``: what a compaction took out of the window, and what no compaction may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from host.cli.config import say_json
from host.cli.globals import Globals
from host.cli.options import json_option
from host.cli.store_opening import opened, replay_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.conversation.conversation import Conversation
    from host.store.protocols import FileStore

ROW = click.IntRange(min=1)
NEVER = "nothing left the window: it was never compacted"


@click.command("receipt")
@click.argument("session_id", metavar="ID")
@click.argument("version", metavar="[N]", type=click.IntRange(min=1), required=False)
@click.option("--lost", "only_lost", is_flag=True, help="Only what still holds and the window does not say.")
@replay_option
@json_option
@click.pass_obj
def receipt_command(settings: Globals, session_id: str, version: int | None, only_lost: bool, replay: str | None, as_json: bool) -> int:
    """List what left the window with a compaction.

    The exact values in the messages that it took out, and the rules of the user. N is the version of the window that the
    compaction made, as `sessions show` lists them; the newest compaction without it. A line each: what it is, in which message
    it stood and who said that, whether the window still says it, to the letter, and what replaced it. Of an erased message
    nothing is listed. Exit status 1 where there is nothing to list.
    """
    from host.cli.store_receipts import receipt_json, receipt_lines
    from host.cli.store_text import fitted
    from host.conversation.receipts import compactions, receipt_at

    with opened(settings, replay) as store:
        conversation = store.sessions.find(session_id).conversation
        history = store.views(conversation).history()
        is_compacted = version is not None or bool(compactions(history))
        page = receipt_at(store.archive(conversation), history, version) if is_compacted else None
    shown = () if page is None else page.lost if only_lost else page.listed
    if as_json:
        say_json({"version": None, "reason": NEVER, "listed": []} if page is None else receipt_json(page, shown))
    elif page is None:
        click.echo(NEVER)
    else:
        for line in receipt_lines(page, shown):
            click.echo(fitted(line))
    return 0 if shown else 1


@click.command("pin")
@click.argument("session_id", metavar="ID")
@click.argument("rows", metavar="[ROW]...", type=ROW, nargs=-1)
@click.option("--remove", is_flag=True, help="Unpin the messages.")
@json_option
@click.pass_obj
def pin_command(settings: Globals, session_id: str, rows: tuple[int, ...], remove: bool, as_json: bool) -> int:
    """Pin messages, or list the pinned ones.

    ROW is a message's position in the archive; without one the pinned messages are listed. A pinned message stays in every
    window as it is, under every engine, until it is unpinned; a tool's result stays with the call that it answers. Pins hold a
    quarter of the room for input at most: one that goes beyond is refused, then none of the messages is pinned. No model is called.
    Exit status 1 where a message to unpin was not pinned.
    """
    from host.cli.store_receipts import pin_lines, pins_json
    from host.cli.store_text import fitted
    from host.errors import UsageError

    if remove and not rows:
        raise UsageError(
            "there is nothing to unpin", "name the messages by their positions; `ctxhost sessions pin ID` lists the pinned ones"
        )
    with opened(settings) as store:
        conversation = conversation_of(settings, store, session_id)
        missing = unpinned(conversation, rows) if remove else ()
        if not remove:
            pinned(conversation, rows)
        pins = conversation.pins()
    if as_json:
        say_json({**pins_json(pins), "not_pinned": list(missing)})
    else:
        for row in missing:
            click.echo(f"message {row} was not pinned", err=True)
        for line in pin_lines(pins):
            click.echo(fitted(line))
    return 1 if missing else 0


def conversation_of(settings: Globals, store: FileStore, session_id: str) -> Conversation:
    """The conversation of a session, as its engine would go on with it; warnings go to standard error."""
    from host.app import open_session
    from host.cli.store_text import plain

    return open_session(settings, store, store.sessions.find(session_id), warn=lambda text: click.echo(plain(text), err=True)).conversation


def pinned(conversation: Conversation, rows: Sequence[int]) -> None:
    """Pin all of the messages, or none where one of them cannot be."""
    from host.errors import CtxhostError

    before = {shown.pin.position for shown in conversation.pins()}
    made: list[int] = []
    try:
        for row in rows:
            made.append(conversation.pin(row, by="user").position)  # noqa: PERF401  what was pinned before it goes wrong counts
    except CtxhostError:
        for position in set(made) - before:
            conversation.unpin(position)
        raise


def unpinned(conversation: Conversation, rows: Sequence[int]) -> tuple[int, ...]:
    """Unpin the messages; returns those that were not pinned."""
    return tuple([row for row in dict.fromkeys(rows) if not conversation.unpin(row)])
