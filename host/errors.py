"""Everything that can go wrong, drawn first.

    CtxhostError                    exit status
    ├── ConfigError                 2   config.yaml does not say what it should
    ├── UsageError                  2   a command cannot do what was asked
    ├── SystemFault                 2   the system refuses a file
    ├── FormatError                 2   a transcript cannot be read
    │   ├── NotAConversation        2   the file is something else
    │   └── DamagedLine             2   one line of it is broken
    ├── PluginError                 2   an engine cannot be used
    │   ├── UnsafeName              2   the name could leave the plugin folders
    │   ├── EngineNotFound          2   nobody knows the name
    │   ├── EngineNotLoadable       2   found, but it does not work
    │   └── EngineFailed            2   it broke a rule while it ran, and context.on_error says error
    ├── StoreError                  2   the archive cannot do what was asked
    │   ├── StoreUnavailable        2   it cannot be read or written just now
    │   ├── NewerSchema             2   a later ctxhost made it
    │   ├── ForeignFile             2   another program's database is in its place
    │   ├── DamagedStore            2   the file is broken
    │   ├── NotStorable             2   a message that JSON cannot hold; it is in quarantine
    │   ├── Forgotten               2   a message that was erased for good
    │   ├── Outrun                  2   another process was first
    │   ├── NoSuchSession           2   nothing has this id or title
    │   └── TitleTaken              2   another conversation has this title
    └── ProviderError               3   the model's service failed

A class builds its text; the call site stays short. The first line says what happened, the second what to do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class CtxhostError(Exception):
    """Base of all errors of ctxhost.

    ``advice`` is the line that says what to do; ``exit_status`` is what the command line ends with.
    """

    exit_status = 1

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.what}\n{self.advice}" if self.advice else self.what


class UsageError(CtxhostError):
    """A command cannot do what was asked."""

    exit_status = 2


class SystemFault(CtxhostError):
    """The system refuses a file. ``is_output``: it was standard output."""

    exit_status = 2

    def __init__(self, error: OSError, *, is_output: bool = False) -> None:
        why = meaning_of(error.strerror or str(error))
        where = "standard output" if is_output else _shown(error.filename) or "a file"
        super().__init__(f"{where}: {why}", _remedy(why, "check that it is there and may be used"))


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a configuration, at its place (design, Configuration)."""

    where: str  # "config.yaml:3:5", or the name of an environment variable
    key: str  # dotted, "compression.threshold"
    expected: str
    nearest: str | None = None  # the valid name closest to a misspelt one

    def __str__(self) -> str:
        hint = f"; did you mean {self.nearest!r}?" if self.nearest else ""
        return f"{self.where}: {self.key}: {self.expected}{hint}"


class ConfigError(CtxhostError):
    """One or more values of the configuration have no meaning."""

    exit_status = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)), "`ctxhost config schema` lists the keys; `ctxhost config check` checks again")


class FormatError(CtxhostError):
    """A transcript cannot be read."""

    exit_status = 2


class NotAConversation(FormatError):
    """The file holds something else than a conversation."""

    def __init__(self, path: Path | str, found: str) -> None:
        super().__init__(
            f"{path} is no conversation: {found}",
            "`ctxhost replay --help` lists the formats; --format names one that is not recognised",
        )


class DamagedLine(FormatError):
    """One line of a transcript is broken; nothing was written."""

    def __init__(self, path: Path | str, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: damaged line: {why}", "mend or remove this line and run again")
        self.line, self.why = line, why


class PluginError(CtxhostError):
    """An engine cannot be used."""

    exit_status = 2


class UnsafeName(PluginError):
    """An engine's name that could lead out of the plugin folders."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"engine name {name!r} is not allowed: no path separators, no leading '.' or '_'",
            "set context.engine to a plain name; `ctxhost engines` lists them",
        )


class EngineNotFound(PluginError):
    """No door knows the configured name."""

    def __init__(self, name: str, looked: Sequence[str], nearest: str | None) -> None:
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        super().__init__(
            f"engine {name!r} was not found{hint} (looked in: {'; '.join(looked)})",
            "`ctxhost engines` lists what is there; set context.engine to one of them",
        )


class EngineNotLoadable(PluginError):
    """The engine was found but cannot be used."""

    def __init__(self, name: str, where: str, cause: str) -> None:
        super().__init__(
            f"engine {name!r} in {where} cannot be used: {cause}",
            f"mend the plugin, or set context.engine to another; `ctxhost -v engines check {name}` shows the traceback",
        )


class EngineFailed(PluginError):
    """The engine returned or raised what the host cannot accept, and ``context.on_error`` is ``error``."""

    def __init__(self, name: str, rule: str) -> None:
        super().__init__(
            f"engine {name!r} failed: {rule}",
            "mend the engine, or set context.on_error to fallback to go on with the window as it was",
        )


class StoreError(CtxhostError):
    """The archive cannot do what was asked."""

    exit_status = 2


class StoreUnavailable(StoreError):
    """The archive cannot be read or written just now."""

    def __init__(self, path: Path | str, why: str) -> None:
        why = meaning_of(why, Path(path))
        advice = _remedy(why, "check that the folder is there and may be written")
        super().__init__(f"the archive {path} cannot be used: {why}", f"{advice}; `ctxhost doctor` looks closer")


class NewerSchema(StoreError):
    """A later ctxhost made the archive; nothing was written."""

    def __init__(self, path: Path | str, theirs: int, ours: int) -> None:
        super().__init__(
            f"the archive {path} has schema {theirs}, this ctxhost knows up to {ours}; nothing was written",
            "update ctxhost, or name another folder with --home",
        )


class ForeignFile(StoreError):
    """Another program's database lies where the archive would be; nothing was written."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(f"{path} is the database of another program; nothing was written", "move it, or name another folder with --home")


class DamagedStore(StoreError):
    """The archive's file is broken."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(f"the archive {path} is damaged: {why}", "`ctxhost archive repair` keeps a copy and salvages what can be read")


class NotStorable(StoreError):
    """A message that JSON cannot hold."""

    def __init__(self, why: str) -> None:
        super().__init__(f"a message cannot be kept: {why}", "give what JSON can hold; `ctxhost doctor` lists what is in quarantine")


class Forgotten(StoreError):
    """A message whose content was erased for good. ``position`` is where it was."""

    def __init__(self, position: int) -> None:
        super().__init__(
            f"this message was erased by `ctxhost archive forget` (it was at position {position}) and is not kept again",
            "say it in other words where it is meant",
        )
        self.position = position


class Outrun(StoreError):
    """Another process was first: it published a view, kept messages, or took the lease over."""

    def __init__(self, why: str, *, what: str = "the view was not published") -> None:
        super().__init__(f"{what}: {why}", "nothing to do where the other one's counts; else read it and try again")


class NoSuchSession(StoreError):
    """Nothing has this id, prefix or title."""

    def __init__(self, name: str, candidates: Sequence[str] = ()) -> None:
        several = f"; it could be {', '.join(candidates)}" if candidates else ""
        super().__init__(f"no session is called {name!r}{several}", "`ctxhost sessions` lists them")


class TitleTaken(StoreError):
    """Another conversation has this title."""

    def __init__(self, title: str, session: str) -> None:
        super().__init__(f"Title {title!r} is already in use by session {session}", "choose another title, or rename that session")


FULL, READ_ONLY = "the disk is full", "the file system is read-only"
LEAST_ROOM = 256 * 1024  # bytes: what SQLite needs beside the file for a small transaction

MEANINGS = (("No space left", FULL), ("disk is full", FULL), ("Read-only file system", READ_ONLY))
"""Words of the system or of SQLite -> what they mean."""

VAGUE = ("disk I/O error", "unable to open", "readonly")  # what SQLite says whatever the reason is: the disk tells more

REMEDIES = (
    (FULL, "free some space"),
    (READ_ONLY, "mount it for writing, or copy the folder and name the copy with --home"),
    ("quota", "free some space"),
    ("not enough room", "free some space"),
    ("readonly", "make file and folder writable"),
    ("locked", "another program holds it: wait or end that program"),
)


def meaning_of(why: str, path: Path | None = None) -> str:
    """What a fault that the system or SQLite names comes down to. ``path``: the file, to look at its disk where they are vague."""
    meant = next((meaning for sign, meaning in MEANINGS if sign in why), None)
    if meant is None and path is not None and any(sign in why for sign in VAGUE):
        meant = _fault_of_disk(path)
    return meant or why


def _fault_of_disk(path: Path) -> str | None:
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return None
    if disk.f_flag & os.ST_RDONLY:
        return READ_ONLY
    return FULL if disk.f_bavail * disk.f_frsize < LEAST_ROOM else None


def _remedy(why: str, otherwise: str) -> str:
    return next((advice for sign, advice in REMEDIES if sign in why), otherwise)


def _shown(name: object) -> str:
    return os.fsdecode(name) if isinstance(name, str | bytes) else ""


class ProviderError(CtxhostError):
    """The model's service failed."""

    exit_status = 3
