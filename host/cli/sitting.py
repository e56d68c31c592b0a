"""One sitting of a chat: an agent at a time, and what is shown of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from host.cli.globals import Globals
from host.cli.screen import Answer, say
from host.cli.status_line import Tally, status_line
from host.cli.talking import STATUS, advise_to_ask_again, ending_of, forget_empty
from host.errors import CtxhostError

if TYPE_CHECKING:
    from host.engine.offers import Command
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
    _begun: set[str] = field(default_factory=set)  # conversations of this sitting: empty ones are its own to delete
    _is_open: bool = False

    def __post_init__(self) -> None:
        self._screen = Answer(sys.stdout, quiet=False, verbose=self.settings.verbose)

    @property
    def commands(self) -> Sequence[Command]:
        """What plugins let the user type."""
        return self.agent.commands

    def begin(self, title: str | None) -> None:
        """Go on in a new session. Raises TitleTaken."""
        kept = self.store.sessions.create(title=title, source=SOURCE)
        self._begun.add(kept.conversation)
        self.go_on(kept)

    def go_on(self, kept: Kept) -> None:
        """Go on in this session; the one before is closed and stays in the archive. Where it cannot be opened, the old one goes on."""
        before = self.agent.conversation.session if self._is_open else None
        if before is not None and self.store.sessions.get(before).conversation == kept.conversation:
            return
        self._close_agent()
        try:
            self._open(kept)
        except BaseException:
            self._forget(kept.conversation)
            if before is not None:
                self._open(self.store.sessions.get(before))
            raise
        if before is not None:
            self._forget(self.store.sessions.get(before).conversation)

    @property
    def guess(self) -> str:
        """Where nobody knows the window that counts now, the words for that."""
        from host.app.agents import with_model
        from host.app.models import main_model
        from host.app.wiring import load_config

        known = main_model(with_model(load_config(self.settings), self.wanted.model), self.wanted.window, home=self.settings.home)
        is_so = known.window_is_guessed and known.window == self.agent.conversation.services.facts.window
        return known.source if is_so else ""

    def use(self, model: str) -> None:
        """Ask another model from now on, in the sessions to come too. Raises NoModel, BadScript."""
        from host.app.agents import agent_model

        self.agent.use(agent_model(self.settings, model, self.wanted.window, wait=self.agent.wait))
        self.wanted = replace(self.wanted, model=model)

    def close(self) -> None:
        """Close the agent there is; a session in which nothing was said leaves no trace."""
        if self._is_open:
            session = self.agent.conversation.session
            self._close_agent()
            self._forget(self.store.sessions.get(session).conversation)

    def _open(self, kept: Kept) -> None:
        from host.app.agents import open_agent

        wanted = self.wanted
        self.agent = open_agent(
            self.settings, self.store, kept, model=wanted.model, engine=wanted.engine, window=wanted.window, tell=self._tell
        )
        self.tally, self._is_open = Tally(), True

    def _close_agent(self) -> None:
        if self._is_open:
            self._is_open = False
            self.agent.close()

    def _forget(self, conversation: str) -> None:
        if conversation in self._begun:
            forget_empty(self.store, conversation)

    def failed(self, error: CtxhostError) -> None:
        """Tell what failed; the chat goes on."""
        self._screen.end()
        say(f"error: {error}", err=True)

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
        from host.discovery.foreign import words_of

        try:
            return str(command.run(words))
        except Exception as error:  # noqa: BLE001  a plugin's door: the chat goes on
            return f"/{command.name} failed: {type(error).__name__}: {words_of(error)}"

    def turn(self, text: str | None) -> None:
        """Ask the model, and show how things stand after it; None: what was left without an answer."""
        try:
            turn = self.agent.resume() if text is None else self.agent.turn(text)
        except CtxhostError as error:
            self.status = error.exit_status
            advise_to_ask_again(error, "/retry asks again for the answer")
            raise
        if turn is None:
            click.echo("nothing is left unanswered")
            return
        self._screen.end()
        self.status = STATUS[turn.reason]
        if turn.reason != "answered":
            say(ending_of(turn), err=True)
        click.echo(status_line(self.agent, self.tally), err=True)

    def _tell(self, event: Event) -> None:
        if self._is_open:
            self.tally.tell(event, self.agent)
        self._screen.tell(event)
