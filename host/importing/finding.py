"""Which files an import reads: those in the clients' own folders, or those that were named."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from host.errors import NotAConversation, UsageError
from host.formats.sessions import CLIENTS
from host.importing.folders import Folders
from host.importing.places import SOURCES, Places, RecordedFile, refuse_unknown_client
from host.importing.values import Trouble
from host.store.spelling import spelled

SUFFIXES = frozenset({".jsonl", ".json", ".traj"})


@dataclass(frozen=True)
class Finds:
    """Files, each once however many ways lead to it, where they were looked for, and the folders that may not be looked into."""

    files: list[RecordedFile]
    looked: str
    unreadable: tuple[Trouble, ...] = ()


def found(places: Places, paths: Sequence[Path], client: str | None) -> Finds:
    """The files at these paths, or where none is given those of one or all clients.

    Raises UsageError where there is none, saying where was looked, and for a path that is not there.
    """
    return found_at(paths, client) if paths else found_of_clients(places, client)


def found_of_clients(places: Places, client: str | None) -> Finds:
    """Every session file of one or all clients, what belongs to sessions or was put away included."""
    if client is not None:
        refuse_unknown_client(client)
    names = [client] if client is not None else list(CLIENTS)
    folders = Folders()
    searched = [place for name in names for place in places.searched(name)]
    files: dict[str, RecordedFile] = {}
    for file in (file for place in searched for file in folders.files(place, math.inf)):
        files.setdefault(file.name, file.recorded())
    looked = " and ".join(CLIENTS[name].looked_for(places.user_home, places.environ) for name in names)
    if not files and not folders.forbidden:
        variables = " or ".join(CLIENTS[name].variable for name in names)
        whose = names[0] if client is not None else "any client"
        raise UsageError(f"no session of {whose} was found; looked for {looked}", f"name files or folders, or set {variables}")
    return Finds(list(files.values()), looked, tuple(Trouble(spelled(folder), why) for folder, why in folders.forbidden.items()))


def found_at(paths: Sequence[Path], client: str | None) -> Finds:
    """The files that were named, and those in the folders that were."""
    if client is not None and client not in SOURCES:
        refuse_unknown_client(client)
    unreadable: list[Trouble] = []
    files = _each_once((file for path in paths for file in _files_at(path, client, unreadable)), client, frozenset(paths))
    looked = " and ".join(map(str, paths))
    if not files and not unreadable:
        raise UsageError(f"no recording was found in {looked}; looked for {', '.join(sorted(SUFFIXES))}", "name the files themselves")
    return Finds(files, looked, tuple(unreadable))


def _files_at(path: Path, client: str | None, unreadable: list[Trouble]) -> Iterator[Path]:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a file or folder that exists and may be read") from error
    if stat.S_ISDIR(mode):
        yield from _inside(path, frozenset({".jsonl"}) if client in CLIENTS else SUFFIXES, unreadable)
    elif stat.S_ISREG(mode):
        yield path
    else:
        raise NotAConversation(path, "no regular file; save it first, an import comes back to what it has read")


def _inside(folder: Path, suffixes: frozenset[str], unreadable: list[Trouble]) -> Iterator[Path]:
    """The files below a folder; links to folders are not followed, so there are no circles."""

    def note(error: OSError) -> None:
        unreadable.append(Trouble(spelled(error.filename or folder), error.strerror or str(error)))

    for where, folders, files in os.walk(folder, onerror=note):
        folders.sort()
        yield from (Path(where, name) for name in sorted(files) if Path(name).suffix.lower() in suffixes)


def _each_once(paths: Iterable[Path], client: str | None, named: frozenset[Path]) -> list[RecordedFile]:
    """Regular files; what may not even be looked at is for the reading to complain about."""
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
            name = spelled(os.path.realpath(path) if is_link else Path(folders[folder], path.name))
            found.setdefault(name, RecordedFile(path, name, client, is_named=path in named, is_asked=client is not None))
    return list(found.values())
