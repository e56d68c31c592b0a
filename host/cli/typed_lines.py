"""Lines as they are typed in a chat: with a history and completion where somebody sits in front of it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import click

HISTORY = "chat-history"  # in the home folder
KEPT_LINES = 1_000
CONTINUED = "\\"  # at the end of a line: the next one belongs to it


class TypedLines:
    """Lines of standard input.

    ``prompt`` is shown where somebody types them; ``complete`` gives what the last word of a line may become.
    """

    def __init__(self, history: Path, complete: Callable[[str], Sequence[str]], *, prompt: str = "> ") -> None:
        self._history = history
        self._prompt = prompt
        self.is_typed = sys.stdin is not None and sys.stdin.isatty()
        self._is_edited = self.is_typed and sys.stdout.isatty()  # Python edits lines only where both are a terminal
        if self.is_typed and isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        self._typed: list[str] = []
        if self._is_edited:
            _prepare(history, complete)

    def read(self) -> str | None:
        """The next entry, None at the end. A line that ends with a backslash goes on in the next. An interrupt passes."""
        lines: list[str] = []
        while True:
            line = self._line("... " if lines else self._prompt)
            if line is None:
                return "\n".join(lines) if lines else None
            if not line.endswith(CONTINUED):
                return "\n".join([*lines, line])
            lines.append(line.removesuffix(CONTINUED))

    def close(self) -> None:
        """Add to the history what was typed here, without secrets; it is for its owner alone."""
        if self._is_edited:
            _keep(self._history, self._typed)

    def _line(self, prompt: str) -> str | None:
        if self._is_edited:
            try:
                line = input(prompt)
            except EOFError:
                return None
            self._typed.append(line)
            return line
        if sys.stdin is None:
            return None
        if self.is_typed:
            click.echo(prompt, nl=False, err=True)
        raw = sys.stdin.buffer.readline()
        return raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r") if raw else None


def _prepare(history: Path, complete: Callable[[str], Sequence[str]]) -> None:
    """Arrow keys, history and Tab; a Python without readline types without them."""
    with suppress(ImportError):
        import readline

        with suppress(OSError):
            readline.read_history_file(history)
        readline.set_history_length(KEPT_LINES)
        readline.set_completer_delims(" \t\n")
        readline.set_completer(_Completer(complete, lambda: readline.get_line_buffer()[: readline.get_endidx()]))
        readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")


class _Completer:
    """Asks once for each Tab; readline asks for one suggestion after the other."""

    def __init__(self, complete: Callable[[str], Sequence[str]], line: Callable[[], str]) -> None:
        self._complete = complete
        self._line = line
        self._found: Sequence[str] = ()

    def __call__(self, word: str, index: int) -> str | None:
        if index == 0:
            self._found = self._complete(self._line())
        return self._found[index] if index < len(self._found) else None


def _keep(history: Path, typed: Sequence[str]) -> None:
    """Put these lines behind those that other chats have written meanwhile."""
    from host.messages.redact import redact

    with suppress(ImportError, OSError):
        import readline

        os.close(os.open(history, os.O_CREAT | os.O_WRONLY, 0o600))  # what was typed is nobody else's to read
        history.chmod(0o600)
        readline.clear_history()
        readline.read_history_file(history)
        for line in filter(str.strip, typed):
            readline.add_history(redact(line, force=True))
        readline.write_history_file(history)
