"""Which files hold recordings: those in the clients' own folders, and those that were named."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from host.errors import NotAConversation, UsageError
from host.formats.loose import did_you_mean
from host.formats.sessions import CLIENTS

OPENAI = "openai"  # message files of whatever container: they have no folder of their own
SOURCES = (*CLIENTS, OPENAI)
SUFFIXES = frozenset({".jsonl", ".json", ".traj"})
CLAUDE_CODE, CODEX = "claude-code", "codex"
NOT_IN_FOLDER_NAMES = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True)
class RecordedFile:
    """A file that may hold conversations. ``client`` is whose it is, None where its content has to tell; ``is_named``: by the user.

    ``name`` is by what it is remembered: its real path, as text whatever bytes it is made of.
    """

    path: Path
    name: str
    client: str | None = None
    is_named: bool = False

    @property
    def shown(self) -> str:
        """Its path as it was found, as text."""
        return as_text(self.path)


@dataclass(frozen=True)
class Place:
    """A folder with the pattern of a client's files below it."""

    root: Path
    pattern: str
    client: str


@dataclass(frozen=True)
class Places:
    """Whose home folder the clients keep their sessions in."""

    user_home: Path
    environ: Mapping[str, str]

    def found(self, paths: Sequence[Path], client: str | None) -> list[RecordedFile]:
        """The files at these paths, or where none is given those of one or all clients. Raises UsageError where there is none."""
        return named_files(paths, client) if paths else self.of_clients(client)

    def of_clients(self, client: str | None = None) -> list[RecordedFile]:
        """Every session file of one or all clients. Raises UsageError where there is none, saying where was looked."""
        names = [_client(client)] if client is not None else list(CLIENTS)
        found = [file for name in names for file in self.of_client(name)]
        if not found:
            looked = " and ".join(CLIENTS[name].looked_for(self.user_home, self.environ) for name in names)
            variables = " or ".join(CLIENTS[name].variable for name in names)
            whose = names[0] if client is not None else "any client"
            raise UsageError(f"no session of {whose} was found; looked for {looked}", f"name files or folders, or set {variables}")
        return found

    def of_client(self, name: str) -> list[RecordedFile]:
        """Every session file of a client, what belongs to sessions or was put away included."""
        return _each_once((path for place in self.searched(name) for path in place.root.glob(place.pattern)), name)

    def searched(self, name: str) -> list[Place]:
        """Where the session files of a client are looked for."""
        known = CLIENTS[name]
        roots = known.roots(self.user_home, self.environ)
        return [Place(root, pattern, name) for root in roots for pattern in (known.pattern, *known.beside)]

    def searched_for(self, directories: Sequence[str]) -> list[Place]:
        """Where the Claude Code files of these working directories are looked for: their folders bear the directory's name."""
        names = {spelled for directory in directories for spelled in project_folders(directory)}
        return [
            replace(place, pattern=place.pattern.replace("*", name, 1)) for place in self.searched(CLAUDE_CODE) for name in sorted(names)
        ]


def project_folders(directory: str) -> set[str]:
    """The names that Claude Code gives to the folder of a working directory, as it is and with its links followed."""
    return {NOT_IN_FOLDER_NAMES.sub("-", spelled) for spelled in (directory, os.path.realpath(directory))}


def named_files(paths: Sequence[Path], client: str | None) -> list[RecordedFile]:
    """The files that were named, and those in the folders that were.

    Raises UsageError for a path that is not there, and where no folder holds a file of a known kind.
    """
    if client is not None and client not in SOURCES:
        _client(client)
    found = _each_once((file for path in paths for file in _files_at(path, client)), client, named=frozenset(paths))
    if not found:
        looked = " and ".join(map(str, paths))
        raise UsageError(f"no recording was found in {looked}; looked for {', '.join(sorted(SUFFIXES))}", "name the files themselves")
    return found


def as_text(path: str | Path) -> str:
    """A path as text, with what is no text in it spelled out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _files_at(path: Path, client: str | None) -> Iterator[Path]:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a file or folder that exists and may be read") from error
    if stat.S_ISDIR(mode):
        yield from _inside(path, frozenset({".jsonl"}) if client in CLIENTS else SUFFIXES)
    elif stat.S_ISREG(mode):
        yield path
    else:
        raise NotAConversation(path, "no regular file; save it first, an import comes back to what it has read")


def _inside(folder: Path, suffixes: frozenset[str]) -> Iterator[Path]:
    """The files below a folder; links to folders are not followed, so there are no circles."""
    for where, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(where, name) for name in sorted(files) if Path(name).suffix.lower() in suffixes)


def _each_once(paths: Iterable[Path], client: str | None, *, named: frozenset[Path] = frozenset()) -> list[RecordedFile]:
    """Regular files, each once however many ways lead to it; what may not even be looked at is for the reading to complain about."""
    found: dict[str, RecordedFile] = {}
    folders: dict[Path, str] = {}  # there may be thousands of files: the links of a folder are followed once
    for path in paths:
        try:
            is_file, is_link = path.is_file(), path.is_symlink()
        except OSError:
            is_file, is_link = True, True
        if is_file:
            folder = path.parent
            if folder not in folders:
                folders[folder] = os.path.realpath(folder)
            name = as_text(os.path.realpath(path) if is_link else Path(folders[folder], path.name))
            found.setdefault(name, RecordedFile(path, name, client, is_named=path in named))
    return list(found.values())


def _client(name: str) -> str:
    """The name of a client with folders of its own; UsageError for another."""
    if name in CLIENTS:
        return name
    if name == OPENAI:
        raise UsageError("OpenAI messages have no folder of their own", "name the files or folders: ctxhost import --from openai PATH")
    raise UsageError(f"no sessions are known of a client {name!r}{did_you_mean(name, SOURCES)}", f"there are: {', '.join(SOURCES)}")
