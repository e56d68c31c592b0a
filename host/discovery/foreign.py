"""The door through which foreign code enters: whatever a plugin raises becomes one reason why it cannot be used."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from host.discovery.names import printable
from host.errors import ConfigError
from host.messages.redact import redact

LONGEST_CAUSE = 300  # characters; a warning is one line


class Unusable(Exception):
    """Why a plugin, or what it offers, cannot be used; whoever asked for it says where it was found."""


@contextmanager
def foreign(deed: str) -> Iterator[None]:
    """Run a plugin's code; what it raises leaves as Unusable, told as "``deed`` raised ...".

    A ConfigError (the user's settings for this engine have no meaning) and KeyboardInterrupt pass.
    """
    try:
        yield
    except (Unusable, ConfigError, KeyboardInterrupt):
        raise
    except BaseException as error:  # the plugin door: SystemExit and native panics too become the reason of the fallback
        raise Unusable(f"{deed} raised {described(error)}") from error


def described(error: BaseException) -> str:
    """An exception in one line: its type, its text without secrets, and for a syntax error its place."""
    text = traceback.format_exception_only(error)[-1]
    if isinstance(error, SyntaxError) and error.filename:
        text = f"{text} ({error.filename}:{error.lineno})"
    line = printable(redact(text, force=True))
    return line if len(line) <= LONGEST_CAUSE else line[:LONGEST_CAUSE] + "..."


def words_of(error: BaseException) -> str:
    """The text of an exception, all its lines, without secrets; some raise when they are asked for it."""
    try:
        return redact(str(error), url_credentials=True, force=True)
    except Exception:  # noqa: BLE001  foreign code; its class is told
        return "(no text)"
