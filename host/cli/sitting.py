"""One sitting of a chat: an agent at a time, and what is shown of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from host.cli.globals import Globals
from host.cli.running import STATUS, Answer
from host.cli.status_line import Tally, status_line

if TYPE_CHECKING:
    from host.engine.offers import Command
    from host.errors import CtxhostError
    from host.loop.agent import Agent
    from host.loop.events import Event
    from host.store.sqlite.store import SqliteStore
    from host.store.values import Session as Kept

SOURCE = "chat"


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line, for every session of the chat."""

    model: str | None
    engine: str | None
    window: int | None


@dataclass
class Chat:
    """One sitting: an agent at a time, and what is shown of it."""

    settings: Globals
    store: SqliteStore
    wanted: Wanted
    tally: Tally = field(default_factory=Tally)
    is_over: bool = False
    status: int = 0
    agent: Agent = field(init=False)
    _screen: Answer = field(init=False)

    def __post_init__(self) -> None:
        self._screen = Answer(sys.stdout, quiet=False, verbose=self.settings.verbose)

    @property
    def commands(self) -> Sequence[Command]:
        """What plugins let the user type."""
        return self.agent.commands

    def begin(self, title: str | None) -> None:
        """Go on in a new session."""
        self.go_on(self.store.sessions.create(title=title, source=SOURCE))

    def go_on(self, kept: Kept) -> None:
        """Go on in this session; the one before is closed and stays in the archive."""
        from host.app.agents import open_agent

        opened = open_agent(
            self.settings,
            self.store,
            kept,
            model=self.wanted.model,
            engine=self.wanted.engine,
            window=self.wanted.window,
            tell=self._tell,
        )
        self.close()
        self.agent, self.tally = opened, Tally()

    def close(self) -> None:
        """Close the agent there is; a session in which nothing was said leaves no trace."""
        if not hasattr(self, "agent"):
            return
        conversation = self.agent.conversation
        self.agent.close()
        if conversation.archive.range() == (0, 0):
            self.store.sessions.delete(self.store.sessions.get(conversation.session).conversation)

    def failed(self, error: CtxhostError) -> None:
        """Tell what failed; the chat goes on."""
        self._screen.end()
        self.status = error.exit_status
        click.echo(f"error: {error}", err=True)

    def interrupted(self) -> None:
        """A command was interrupted; the chat goes on."""
        self._screen.end()
        click.echo("interrupted", err=True)

    def say_what_is_open(self) -> None:
        """Say what a process before left without an answer."""
        if self.agent.is_unanswered:
            click.echo("the last message of this session has no answer yet; /retry asks for it", err=True)

    def answer_of(self, command: Command, words: str) -> str:
        """What a plugin's command shows; what it raises is told."""
        try:
            return str(command.run(words))
        except Exception as error:  # noqa: BLE001  a plugin's door: the chat goes on
            return f"/{command.name} failed: {type(error).__name__}: {error}"

    def turn(self, text: str | None) -> None:
        """Ask the model, and show how things stand after it; None: what was left without an answer."""
        turn = self.agent.resume() if text is None else self.agent.turn(text)
        if turn is None:
            click.echo("nothing is left unanswered")
            return
        self._screen.end()
        self.status = STATUS[turn.reason]
        if turn.reason != "answered":
            click.echo(f"{turn.reason}{': ' * bool(turn.detail)}{turn.detail}", err=True)
        click.echo(status_line(self.agent, self.tally), err=True)

    def _tell(self, event: Event) -> None:
        if hasattr(self, "agent"):
            self.tally.tell(event, self.agent)
        self._screen.tell(event)
