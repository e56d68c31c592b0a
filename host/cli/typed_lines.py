"""Lines as they are typed in a chat: with a history and completion where somebody sits in front of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

HISTORY = "chat-history"  # in the home folder
KEPT_LINES = 1_000
CONTINUED = "\\"  # at the end of a line: the next one belongs to it


class TypedLines:
    """Lines of standard input. ``prompt`` is shown where it is a terminal; ``complete`` gives what a beginning may become."""

    def __init__(self, history: Path, complete: Callable[[str], Sequence[str]], *, prompt: str = "> ") -> None:
        self._history = history
        self._prompt = prompt
        self.is_terminal = sys.stdin.isatty()
        if self.is_terminal:
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
        """Write the history, for its owner alone."""
        if self.is_terminal:
            _keep(self._history)

    def _line(self, prompt: str) -> str | None:
        if not self.is_terminal:
            raw = sys.stdin.buffer.readline()
            return raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r") if raw else None
        try:
            return input(prompt)
        except EOFError:
            return None


def _prepare(history: Path, complete: Callable[[str], Sequence[str]]) -> None:
    """Arrow keys, history and Tab; a Python without readline types without them."""
    with suppress(ImportError):
        import readline

        with suppress(OSError):
            readline.read_history_file(history)
        readline.set_history_length(KEPT_LINES)
        readline.set_completer_delims(" \t\n")
        readline.set_completer(lambda text, index: [*complete(text), None][: index + 1][-1] if index <= len(complete(text)) else None)
        readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")


def _keep(history: Path) -> None:
    with suppress(ImportError, OSError):
        import readline

        os.close(os.open(history, os.O_CREAT | os.O_WRONLY, 0o600))  # what was typed is nobody else's to read
        readline.write_history_file(history)
