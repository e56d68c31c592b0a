"""Why a client's file is left alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from host.errors import UsageError


class Obstacle(Exception):
    """Something in a text that stands in the way; ``line`` counts from 1. It becomes a NotEdited where the file is known."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


class Taken(Obstacle):
    """The place has an entry that does not start ctxhost."""


class NotEdited(UsageError):
    """A client's file cannot be changed without risk to what else is in it. ``text`` is for the user to put in."""

    def __init__(self, path: Path, obstacle: Obstacle, text: str) -> None:
        super().__init__(f"{path}:{obstacle.line}: {obstacle.why}; nothing was written", f"put this in by hand:\n{text}")


class NotTakenOut(UsageError):
    """Our entry cannot be taken out of a client's file without risk to what else is in it."""

    def __init__(self, path: Path, obstacle: Obstacle, place: str) -> None:
        super().__init__(f"{path}:{obstacle.line}: {obstacle.why}; nothing was written", f"take what starts ctxhost out of {place} by hand")


class NotText(UsageError):
    """A path that is part of the command is not UTF-8."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(
            f"a client's file cannot hold this command, it is not UTF-8: {list(words)!a}",
            "install ctxhost in, or name, another folder",
        )


class NameTaken(UsageError):
    """Another program's entry has the name of ours; nothing was written."""

    def __init__(self, path: Path, obstacle: Obstacle) -> None:
        super().__init__(f"{path}:{obstacle.line}: {obstacle.why}; nothing was written", "rename it, or put ours in its place with --force")


class NoRegularFile(UsageError):
    """Something else than a file is in a file's place."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path} is {what}; nothing was written", "move it away, then run this again")


class NotWritable(UsageError):
    """A client's file, or the folder it is in, cannot be written."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} cannot be written: {why}", "check who may write there; without --write you see what to put in by hand")


class Outpaced(UsageError):
    """The file changed between reading and writing; it was left as it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} was changed by another program just now and left as it is", "close the client, then run this again")


class DamagedRecord(UsageError):
    """What ctxhost keeps about its changes cannot be read."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} cannot be read: {why}", "move it away; --undo then takes out what starts ctxhost and leaves the rest")
