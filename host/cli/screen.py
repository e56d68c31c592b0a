"""What a turn shows: the answer as it comes, the rest beside it; or every event as JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO
from unicodedata import category

import click

from host.cli.store_text import JOINERS, clipped, plain
from host.messages.reading import whole

if TYPE_CHECKING:
    from host.loop.events import Event

SHOWN_ARGUMENTS = 100  # characters of a call's arguments
COMPACTING = "Compacting context"
CLEARED = "\r\x1b[K"


class Events:
    """Every event as a line of JSON, the moment it happens."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, event: Event) -> None:
        """Print an event; what JSON does not know is printed by its own words."""
        from host.loop.events import as_json

        click.echo(json.dumps(as_json(event), default=str), file=self._out)

    def end(self) -> None:
        """Nothing more comes."""


class Answer:
    """What the model says on standard output, as it comes; all the rest on standard error.

    The stream is taken once: a tool that prints does so elsewhere. How far a compaction is stands on one line of a terminal, which
    goes when something else is to be said; elsewhere it is said once that one runs. With ``quiet``, where no terminal shows it, an
    answer is kept back until it is whole: what does not count in the end is never said.
    """

    def __init__(self, out: TextIO, *, quiet: bool, verbose: bool) -> None:
        self._out = out
        self._quiet = quiet
        self._verbose = verbose
        self._held: list[str] | None = [] if quiet and not out.isatty() else None
        self._is_streamed = False  # a piece of the message that comes in has been told
        self._open_line = False
        self._is_working = False
        self._half = ""

    def tell(self, event: Event) -> None:
        """Show an event."""
        from host.loop.events import Answered, Noticed, Retrying, Said, Switched, Thought, Working
        from host.messages.reading import text_of

        if isinstance(event, Working):
            self._work(event)
        elif isinstance(event, Said):
            self._piece(event.text)
        elif isinstance(event, Answered):
            self._forget_held()
            if not self._is_streamed:
                self._say(text_of(event.message))
            self.end()
            if event.is_cut and not self._quiet:
                self._note(event)
        elif isinstance(event, Retrying | Switched):
            self._forget_held()
            self.end()
            if not self._quiet:
                self._note(event)
        elif not isinstance(event, Thought) and not self._quiet and (self._verbose or not isinstance(event, Noticed)):
            self._note(event)

    def end(self) -> None:
        """The message is over: what comes next is another."""
        self._break_line()
        self._is_streamed = False

    def _break_line(self) -> None:
        """What comes next begins on a new line."""
        if self._held:
            self._say("".join(self._held))
            self._forget_held()
        if self._open_line or self._half:
            self._say("\n")
        self._open_line = False
        self._clear()

    def _piece(self, text: str) -> None:
        if self._held is not None:
            self._held.append(text)
        else:
            self._is_streamed = True
            self._say(text)

    def _forget_held(self) -> None:
        if self._held is not None:
            self._held.clear()

    def _say(self, text: str) -> None:
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":  # the first half of a character, the second one comes next
            text, self._half = text[:-1], text[-1]
        text = whole(text)
        self._clear()
        click.echo(harmless(text) if self._out.isatty() else text, file=self._out, nl=False, color=True)
        self._open_line = not text.endswith("\n") if text else self._open_line

    def _note(self, event: Event) -> None:
        words = NOTES.get(type(event).__name__)
        if words is not None and (line := words(event)):
            self._break_line()
            click.echo(plain(line), err=True)

    def _work(self, event: Any) -> None:
        """One line that is written again and again; where it cannot be, it is written once."""
        if self._quiet:
            return
        share = f" {event.done / event.total:.0%}" if event.total else ""
        line = plain(f"{COMPACTING}{share}: {event.text}")
        if can_rewrite():
            click.echo(f"\r{clipped(line, shutil.get_terminal_size().columns - 1)}\x1b[K", err=True, nl=False, color=True)
        elif not self._is_working:
            click.echo(line, err=True)
        self._is_working = True

    def _clear(self) -> None:
        if self._is_working and can_rewrite():
            click.echo(CLEARED, err=True, nl=False, color=True)
        self._is_working = False


def can_rewrite() -> bool:
    """Whether standard error is a terminal that can clear a line."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def harmless(text: str) -> str:
    """A text of several lines without what would command a terminal."""
    text = text.replace("\r\n", "\n")
    return text if text.isprintable() else "".join(char if char.isprintable() or is_harmless(char) else "?" for char in text)


def is_harmless(char: str) -> bool:
    """Whether a character that Python would escape belongs in a text: blanks of every width, joiners, emoji newer than Python."""
    return char in "\n\t" or char in JOINERS or category(char) in ("Zs", "Cn", "Co")


def say(text: str, *, err: bool = False) -> None:
    """Print what the host did not write itself: as it is where no terminal reads it."""
    click.echo(harmless(text) if (sys.stderr if err else sys.stdout).isatty() else text, err=err)


def _cut(event: Any) -> str:
    at = f" at {event.usage.completion:,} tokens" if event.usage is not None and event.usage.completion else ""
    return f"warning: the answer was cut{at}: it may not be longer (model.max_tokens)"


def _called(event: Any) -> str:
    from host.messages.reading import call_arguments, call_name

    arguments = call_arguments(event.call)
    shown = arguments if len(arguments) <= SHOWN_ARGUMENTS else arguments[: SHOWN_ARGUMENTS - 1] + "…"
    return f"calls {call_name(event.call)} {shown}"


def _failed(event: Any) -> str:
    lines = event.result.splitlines() if event.failed else []
    return f"failed: {lines[0][:200]}" if lines else ""


def _compacted(event: Any) -> str:
    outcome = event.outcome
    if outcome.trigger == "manual":
        return ""  # who asked for it reads what came of it
    return f"not compacted: {outcome.refused}" if outcome.refused else f"compacted: {outcome.before:,} → {outcome.after:,} tokens"


NOTES: Mapping[str, Callable[[Any], str]] = {
    "Answered": _cut,
    "Called": _called,
    "Returned": _failed,
    "Compacted": _compacted,
    "Retrying": lambda event: f"asked again{f' in {event.wait:.0f} s' if event.wait else ''}: {event.why}",
    "Switched": lambda event: f"{event.model} goes on: {event.why}",
    "Noticed": lambda event: f"note: {event.text}",
    "Warned": lambda event: f"warning: {event.text}",
}
"""Event -> its line on standard error; the events that are not named here have none."""
