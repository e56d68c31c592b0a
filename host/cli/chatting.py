"""``ctxhost chat``: a conversation that is kept, under the configured engine."""

from __future__ import annotations

from contextlib import closing

import click

from host.cli.ending import TERMINATED, Order, obeyed
from host.cli.globals import Globals
from host.cli.options import engine_option, model_option, window_option
from host.cli.sitting import Chat, Wanted
from host.cli.slash import completions, slash
from host.cli.store_text import plain
from host.cli.typed_lines import HISTORY, TypedLines

HELLO = "session {}, model {}; /help lists the commands, Ctrl-C stops an answer, Ctrl-D ends the chat"


@click.command("chat")
@click.option("--session", metavar="ID", help="Go on with this session (default: a new one).")
@model_option
@engine_option
@window_option
@click.pass_obj
def chat_command(settings: Globals, session: str | None, model: str | None, engine: str | None, window: int | None) -> int:
    """Talk with a model; every message is archived, and the window is compacted before it is full.

    The answer streams to standard output. A line that begins with a slash is a command, /help lists them; a line that ends with a
    backslash goes on in the next. Without a terminal each line of standard input is one message.

    Exit status 2 where no model is set, 1 or 3 where the last message got no answer, 130 if that was interrupted, 143 if the chat was
    told to end (SIGTERM).
    """
    from host.app import open_archive
    from host.app.agents import check_model

    check_model(settings, model)
    with (
        closing(open_archive(settings.home)) as store,
        obeyed() as order,
        closing(Chat(settings, store, Wanted(model, engine, window))) as chat,
    ):
        chat.go_on(store.sessions.find(session)) if session is not None else chat.begin(None)
        status = talk(chat, order)
        return TERMINATED if order.came else status


def talk(chat: Chat, order: Order) -> int:
    """Read and answer until the end; the exit status is that of the last message."""
    lines = TypedLines(chat.settings.home / HISTORY, lambda line: completions(chat, line))
    if lines.is_typed:
        click.echo(HELLO.format(chat.agent.conversation.session, plain(chat.agent.model.name)), err=True)
    chat.say_what_is_open()
    with closing(lines):
        while not chat.is_over and not order.came:
            try:
                if (entry := lines.read()) is None:
                    break
                take(chat, entry)
            except KeyboardInterrupt:
                if not lines.is_typed and not order.came:
                    raise
                click.echo(err=True)  # what was typed is dropped, the chat goes on
    return chat.status


def take(chat: Chat, entry: str) -> None:
    """Answer one entry: a command, or a message to the model."""
    from host.errors import CtxhostError

    if not entry.strip():
        return
    try:
        slash(chat, entry) if entry.startswith("/") else chat.turn(entry)
    except CtxhostError as error:
        chat.failed(error)
    except KeyboardInterrupt:
        chat.interrupted()
