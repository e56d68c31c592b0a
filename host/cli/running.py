"""``ctxhost run``: one turn of an agent, for scripts."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from host.cli.ending import TERMINATED, obeyed
from host.cli.globals import Globals
from host.cli.options import engine_option, model_option, window_option
from host.cli.screen import Answer, Events, say
from host.cli.talking import STATUS, advise_to_ask_again, ending_of, forget_empty

if TYPE_CHECKING:
    from host.loop.agent import Agent, Turn

STDIN = "-"
ASK_AGAIN = "the request is archived; to ask again: {}"


@click.command("run")
@click.argument("prompt", metavar="[PROMPT]", required=False)
@click.option("--session", metavar="ID", help="Go on with this session (default: a new one).")
@click.option("--resume", is_flag=True, help="Answer what a run of --session left unanswered, without a prompt.")
@model_option
@engine_option
@window_option
@click.option("--json", "as_json", is_flag=True, help="Print what happens as JSON, one event a line.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing but the answer, and errors.")
@click.pass_obj
def run_command(
    settings: Globals,
    prompt: str | None,
    session: str | None,
    resume: bool,
    model: str | None,
    engine: str | None,
    window: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Ask once and print the answer as it comes.

    PROMPT is the question; without one, or with `-`, it is read from standard input. The answer goes to standard output, everything
    else (tools that are called, compactions, warnings) to standard error. The conversation is archived; --session goes on with one.

    With --json every line is an object with a `type`: said, thought, called, returned, working, compacted, retrying, switched, noticed,
    warned, answered, and ended with the `reason` at last; docs/agent.md lists what each holds.

    Exit status 0 if the model answered, 1 if the turn used up its model calls, 2 for wrong usage or where no model is set,
    3 if no model could be reached, 130 if it was interrupted, 143 if it was told to end (SIGTERM).
    """
    from host.app import open_archive
    from host.app.agents import check_model, open_agent

    asked = None if resume else asked_for(prompt)
    refuse_together(resume, prompt, session)
    check_model(settings, model)
    if asked is not None and not (quiet or as_json):
        hint_at_command(asked)
    screen = Events(sys.stdout) if as_json else Answer(sys.stdout, quiet=quiet, verbose=settings.verbose)
    with closing(open_archive(settings.home)) as store, obeyed() as order:
        kept = store.sessions.create(source="run") if session is None else store.sessions.find(session)
        try:
            agent = open_agent(settings, store, kept, model=model, engine=engine, window=window, tell=screen.tell)
            with closing(agent):
                status = status_of(answered(settings, agent, asked, screen, quiet or as_json))
        finally:
            if session is None:
                forget_empty(store, kept.conversation)
        return TERMINATED if order.came else status


def asked_for(prompt: str | None) -> str:
    """The prompt, from the command line or standard input. UsageError where there is none."""
    from host.errors import UsageError

    raw = os.fsencode(prompt) if prompt not in (None, STDIN) else read_stdin(wait=prompt == STDIN)
    text = raw.decode("utf-8-sig", "replace")
    if not text.strip():
        raise UsageError("the prompt is empty", "give it as an argument, or on standard input")
    if "\N{REPLACEMENT CHARACTER}" in text and b"\xef\xbf\xbd" not in raw:
        click.echo("warning: the prompt is not UTF-8 everywhere; what could not be read is sent as \N{REPLACEMENT CHARACTER}", err=True)
    return text


def read_stdin(*, wait: bool) -> bytes:
    """All of standard input. Somebody who sits in front of it is waited for only where ``-`` said so."""
    if not sys.stdin or (sys.stdin.isatty() and not wait):
        return b""
    return sys.stdin.buffer.read()


def refuse_together(resume: bool, prompt: str | None, session: str | None) -> None:
    """UsageError for what does not go with --resume."""
    from host.errors import UsageError

    if resume and session is None:
        raise UsageError("--resume needs a session to go on with", "name it: --session ID")
    if resume and prompt is not None:
        raise UsageError("--resume answers what was asked before, and there is a prompt too", "leave one of them out")


def hint_at_command(asked: str) -> None:
    """Say that a command of the chat is none here."""
    from host.cli.slash import is_slash

    word = asked.split()[0]
    if is_slash(word):
        click.echo(f"note: {word} is a command of `ctxhost chat`; here it is sent to the model like any other text", err=True)


def answered(settings: Globals, agent: Agent, asked: str | None, screen: Answer | Events, quiet: bool) -> Turn | None:
    """The turn; where it did not come to its end, how to go on is told."""
    from host.errors import CtxhostError

    again = settings.command("run", "--session", agent.conversation.session, "--resume")
    try:
        turn = agent.resume() if asked is None else agent.turn(asked)
    except Exception as error:
        screen.end()
        if not quiet and isinstance(error, CtxhostError):
            advise_to_ask_again(error, ASK_AGAIN.format(again))
        raise
    screen.end()
    if turn is not None and turn.reason != "answered" and not quiet:
        on = again if agent.is_unanswered else settings.command("run", "--session", agent.conversation.session, "PROMPT")
        say(f"{ending_of(turn)}; to go on: {on}", err=True)
    if turn is None and not quiet:
        click.echo("nothing is left unanswered in this session", err=True)
    return turn


def status_of(turn: Turn | None) -> int:
    """The exit status of the command; nothing to resume is fine."""
    return 0 if turn is None else STATUS[turn.reason]
