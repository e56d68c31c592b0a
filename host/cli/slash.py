"""What may be typed behind a slash in a chat."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from host.cli.screen import say
from host.cli.store_text import aligned, plain

if TYPE_CHECKING:
    from host.cli.sitting import Chat

LEAVE = ("/exit", "/quit")
COMPLETED = 200  # newest sessions
SHOWN_NAME = 40  # characters


@dataclass(frozen=True)
class Slash:
    """One command: what follows its name, a line for the help, and what it does with the words behind its name."""

    arguments: str
    summary: str
    run: Callable[[Chat, str], None]


def slash(chat: Chat, line: str) -> None:
    """Do what a line that begins with a slash says; one that nobody knows is told, with the nearest name."""
    name, _, words = line.strip().partition(" ")
    known = SLASHES.get(ALIASES.get(name, name))
    offered = next((command for command in chat.commands if f"/{command.name}" == name), None)
    if known is not None:
        _done(chat, name, known, words.strip())
    elif offered is not None:
        say(chat.answer_of(offered, words.strip()))
    elif name in LEAVE:
        chat.is_over = True
    else:
        near = get_close_matches(name, _names(chat), n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        shown = plain(name if len(name) <= SHOWN_NAME else name[:SHOWN_NAME] + "…")
        click.echo(f"there is no command {shown}; {hint}/help lists them. A text that begins with a slash: put a space before it")


def is_slash(word: str) -> bool:
    """Whether this is a command of every chat."""
    return word in SLASHES or word in ALIASES or word in LEAVE


def _done(chat: Chat, name: str, command: Slash, words: str) -> None:
    try:
        command.run(chat, words)
    except click.UsageError as wrong:
        say(f"{name}: {wrong.message.rstrip('.')}; it goes: {name} {command.arguments}".rstrip(), err=True)


def completions(chat: Chat, line: str) -> list[str]:
    """What the last word of this line may become: a command, behind ``/resume`` a session."""
    first, blank, word = line.partition(" ")
    if not blank:
        return sorted(name for name in _names(chat) if first.startswith("/") and name.startswith(first))
    if first != "/resume" or " " in word:
        return []
    listed = chat.store.sessions.listed(limit=COMPLETED)
    named = [name for session in listed for name in (session.id, session.title or "") if name and " " not in name]
    return sorted(name for name in dict.fromkeys(named) if name.startswith(word))


def _names(chat: Chat) -> list[str]:
    return [*SLASHES, *ALIASES, *LEAVE, *(f"/{command.name}" for command in chat.commands)]


def compress(chat: Chat, words: str) -> None:
    """``/compress [focus | --preview | here N]``."""
    from host.cli.compressing import leaving_lines
    from host.conversation.feedback import compact_by_hand
    from host.conversation.manual import parse_compress_arguments

    _show(list(compact_by_hand(chat.agent.conversation, parse_compress_arguments(words), leaving_lines)))


def status(chat: Chat, words: str) -> None:
    """``/status``."""
    from host.cli.status_line import status_lines

    _show(aligned(status_lines(chat.agent, chat.tally, chat.guess)))


def model(chat: Chat, words: str) -> None:
    """``/model [NAME]``."""
    if not words:
        click.echo(plain(chat.agent.model.name))
        return
    chat.use(words)
    guess = chat.guess
    window = f"window {chat.agent.conversation.services.facts.window:,} tokens{f' ({guess})' if guess else ''}"
    click.echo(f"{plain(chat.agent.model.name)} answers from now on, {window}")
    if guess and not words.startswith("scripted:"):
        click.echo("nothing is known of a model of this name; whether there is one shows when it is asked")


def new(chat: Chat, words: str) -> None:
    """``/new [TITLE]``."""
    chat.begin(words or None)
    click.echo(f"session {chat.agent.conversation.session}")


def resume(chat: Chat, words: str) -> None:
    """``/resume ID``."""
    if not words:
        _run(chat, "sessions", "list", "--limit", "10")
        return
    chat.go_on(chat.store.sessions.find(words))
    click.echo(f"session {chat.agent.conversation.session}, {len(chat.agent.conversation.view.messages):,} messages in the window")
    chat.say_what_is_open()


def grep(chat: Chat, words: str) -> None:
    """``/grep PATTERN``."""
    if not words:
        click.echo("/grep needs something to look for")
        return
    chat.store.search.catch_up()
    _run(chat, "grep", "--session", chat.agent.conversation.session, "--", words)


def help_page(chat: Chat, words: str) -> None:
    """``/help``."""
    rows = [(f"{name} {each.arguments}".strip(), each.summary) for name, each in SLASHES.items()]
    rows += [(plain(f"/{command.name}"), plain(str(command.summary))) for command in chat.commands]
    _show(aligned([*rows, ("/exit", "End the chat, as Ctrl-D does.")]))
    _show(["", f"The model may call: {', '.join(chat.agent.toolbox.names()) or 'nothing'}."])


def _same_command(*words: str) -> Callable[[Chat, str], None]:
    """A command of the command line, with the session of the chat and what was typed behind the slash."""

    def call(chat: Chat, typed: str) -> None:
        try:
            behind = shlex.split(typed)
        except ValueError as error:
            click.echo(f"{error}: put it in quotes")
            return
        _run(chat, *words, chat.agent.conversation.session, *behind)

    return call


def _run(chat: Chat, *words: str) -> None:
    """Run a command line that looks where this one does. Raises click.UsageError for words that it does not take."""
    from host.cli import cli

    places = [*chat.settings.typed, *(() if chat.settings.color else ("--no-color",))]
    try:
        cli.main(args=[*places, *words], prog_name="ctxhost", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None


def _show(lines: list[str]) -> None:
    for line in lines:
        say(line)


SLASHES: Mapping[str, Slash] = {
    "/compress": Slash("[FOCUS | --preview | here N]", "Compact now, whatever the threshold says.", compress),
    "/undo": Slash("[--dry-run]", "Take the newest compaction back.", _same_command("sessions", "undo")),
    "/diff": Slash("[FROM] [TO]", "Show what the last compaction took out of the window.", _same_command("sessions", "diff")),
    "/pin": Slash("[ROW]... [--remove]", "Keep messages in every window; without ROW list them.", _same_command("sessions", "pin")),
    "/status": Slash("", "Show model, window, cache, cost, engine.", status),
    "/model": Slash("[NAME]", "Ask another model from now on.", model),
    "/new": Slash("[TITLE]", "Begin a new conversation; this one stays in the archive.", new),
    "/resume": Slash("[ID]", "Go on with another session; without ID list the newest.", resume),
    "/retry": Slash("", "Ask again for the answer to the last message, where there was none.", lambda chat, words: chat.turn(None)),
    "/grep": Slash("PATTERN", "Search every message of this conversation.", grep),
    "/help": Slash("", "Show this list.", help_page),
}
"""Name -> command, in the order of the help."""

ALIASES = {"/compact": "/compress", "/?": "/help"}
