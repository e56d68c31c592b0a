"""``ctxhost run``: one turn of an agent, for scripts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, TextIO

import click

from host.cli.globals import Globals

if TYPE_CHECKING:
    from host.loop.agent import Agent, Turn
    from host.loop.events import Event

LEAST_WINDOW = 2_000  # tokens
SHOWN_ARGUMENTS = 100  # characters of a call's arguments
STDIN = "-"
STATUS = {"answered": 0, "exhausted": 1, "interrupted": 130}


@click.command("run")
@click.argument("prompt", metavar="[PROMPT]", required=False)
@click.option("--session", metavar="ID", help="Go on with this session (default: a new one).")
@click.option("--resume", is_flag=True, help="Answer what a run of --session left unanswered, without a prompt.")
@click.option("--model", metavar="NAME", help="Ask this model instead of model.name; scripted:FILE plays the replies in a file.")
@click.option("--engine", metavar="NAME", help="Engine to use instead of context.engine.")
@click.option("--window", type=click.IntRange(min=LEAST_WINDOW), metavar="N", help="Context window in tokens (default: the model's).")
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

    Exit status 0 if the model answered, 1 if the turn used up its model calls, 2 for wrong usage or where no model is set,
    3 if no model could be reached, 130 if it was interrupted.
    """
    from host.app import open_archive
    from host.app.agents import check_model, open_agent

    asked = None if resume else asked_for(prompt)
    refuse_together(resume, prompt, session)
    check_model(settings, model)
    screen = Events(sys.stdout) if as_json else Answer(sys.stdout, quiet=quiet, verbose=settings.verbose)
    with closing(open_archive(settings.home)) as store:
        kept = store.sessions.create(source="run") if session is None else store.sessions.find(session)
        agent = open_agent(settings, store, kept, model=model, engine=engine, window=window, tell=screen.tell)
        with closing(agent):
            return status_of(answered(settings, agent, asked, screen, quiet or as_json))


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


def answered(settings: Globals, agent: Agent, asked: str | None, screen: Answer | Events, quiet: bool) -> Turn | None:
    """The turn; where it did not come to its end, how to go on is told."""
    again = settings.command("run", "--session", agent.conversation.session, "--resume")
    try:
        turn = agent.resume() if asked is None else agent.turn(asked)
    except Exception:
        screen.end()
        if not quiet:
            click.echo(f"the request is archived; to ask again: {again}", err=True)
        raise
    screen.end()
    if turn is not None and turn.reason != "answered" and not quiet:
        click.echo(f"{turn.reason}{': ' * bool(turn.detail)}{turn.detail}; to go on: {again}", err=True)
    if turn is None and not quiet:
        click.echo("nothing is left unanswered in this session", err=True)
    return turn


def status_of(turn: Turn | None) -> int:
    """The exit status of the command; nothing to resume is fine."""
    return 0 if turn is None else STATUS[turn.reason]


class Events:
    """Every event as a line of JSON, the moment it happens."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, event: Event) -> None:
        """Print an event."""
        from host.loop.events import as_json

        self._out.write(json.dumps(as_json(event)) + "\n")
        self._out.flush()

    def end(self) -> None:
        """Nothing more comes."""


class Answer:
    """What the model says on standard output, as it comes; all the rest on standard error.

    The stream is taken once: a tool that prints does so elsewhere.
    """

    def __init__(self, out: TextIO, *, quiet: bool, verbose: bool) -> None:
        self._out = out
        self._quiet = quiet
        self._verbose = verbose
        self._is_streamed = False  # a piece of the message that comes in has been told
        self._open_line = False

    def tell(self, event: Event) -> None:
        """Show an event."""
        from host.loop.events import Answered, Noticed, Retrying, Said
        from host.messages.reading import text_of

        if isinstance(event, Said):
            self._is_streamed = True
            self._say(event.text)
        elif isinstance(event, Answered):
            if not self._is_streamed:
                self._say(text_of(event.message))
            self.end()
        elif not self._quiet and (self._verbose or not isinstance(event, Noticed)):
            if isinstance(event, Retrying):
                self.end()
            self._note(event)

    def end(self) -> None:
        """The message is over: what comes next begins on a new line."""
        if self._open_line:
            self._say("\n")
        self._is_streamed = self._open_line = False

    def _say(self, text: str) -> None:
        shown = _without_commands(text) if self._out.isatty() else text
        self._out.write(shown)
        self._out.flush()
        self._open_line = bool(text) and not text.endswith("\n") if text else self._open_line

    def _note(self, event: Event) -> None:
        words = NOTES.get(type(event).__name__)
        if words is not None and (line := words(event)):
            from host.cli.store_text import plain

            click.echo(plain(line), err=True)


def _without_commands(text: str) -> str:
    """A text without what would command a terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)


def _called(event: Any) -> str:
    from host.messages.reading import call_arguments, call_name

    arguments = call_arguments(event.call)
    shown = arguments if len(arguments) <= SHOWN_ARGUMENTS else arguments[: SHOWN_ARGUMENTS - 1] + "…"
    return f"calls {call_name(event.call)} {shown}"


def _compacted(event: Any) -> str:
    outcome = event.outcome
    return f"not compacted: {outcome.refused}" if outcome.refused else f"compacted: {outcome.before:,} → {outcome.after:,} tokens"


NOTES: Mapping[str, Callable[[Any], str]] = {
    "Called": _called,
    "Returned": lambda event: f"failed: {event.result.splitlines()[0][:200]}" if event.failed and event.result else "",
    "Working": lambda event: event.text,
    "Compacted": _compacted,
    "Retrying": lambda event: f"asked again{f' in {event.wait:.0f} s' if event.wait else ''}: {event.why}",
    "Switched": lambda event: f"{event.model} goes on: {event.why}",
    "Noticed": lambda event: f"note: {event.text}",
    "Warned": lambda event: f"warning: {event.text}",
}
"""Event -> its line on standard error; the events that are not named here have none."""
