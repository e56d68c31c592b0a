"""Which session files belong to a working directory, as far as that is known."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from host.formats.feeds import FEEDS
from host.formats.sessions import CLIENTS
from host.formats.source import Broken, parsed
from host.importing.places import RecordedFile
from host.store.protocols import Store
from host.store.spelling import unspelled

DIRECTORY = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')


class Owners:
    """What was found out of files, for as long as it lives: whose a file is does not change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: dict[tuple[str, ...], set[str]] = {}
        self._ours: dict[tuple[str, ...], dict[str, RecordedFile]] = {}
        self._directories: dict[str, str] = {}
        self.foreign: dict[tuple[str, ...], set[str]] = defaultdict(set)  # directories -> names of files that began elsewhere

    def remembered(self, directories: Sequence[str], known: Iterable[str]) -> dict[str, RecordedFile]:
        """The files, by name, whose conversations were recorded in these directories. ``known`` are all that were ever read."""
        key, names = tuple(directories), set(known)
        if not names <= self._seen.get(key, set()):
            self._ours[key] = {file.name: file for file in self._recorded(directories)}
            self._seen[key] = names
        return self._ours.get(key, {})

    def directory_of(self, file: RecordedFile) -> str:
        """Where a client's session says that it began; empty where it says nothing, or not yet."""
        directory = self._directories.get(file.name) or _directory_in(file)
        if directory:
            self._directories[file.name] = directory
        return directory

    def _recorded(self, directories: Sequence[str]) -> Iterable[RecordedFile]:
        for session in self._store.sessions.listed(directories=directories):
            if session.source in FEEDS and isinstance(name := session.about.get("file"), str):
                yield RecordedFile(_path_of(name), name, session.source)


def spellings(directories: Sequence[str]) -> set[str]:
    """Directories as they are named and with their links followed."""
    return {spelled for directory in directories for spelled in (directory, os.path.realpath(directory))}


def _directory_in(file: RecordedFile) -> str:
    head = CLIENTS[file.client].head if file.client in CLIENTS else 0
    with suppress(OSError, Broken), file.path.open("rb") as opened:
        if (found := DIRECTORY.search(opened.read(head))) is not None:
            return str(parsed(found[1]))
    return ""


def _path_of(name: str) -> Path:
    """The path of a remembered name; a name may look as if something were spelled out in it and is none."""
    return Path(name if os.path.exists(name) else unspelled(name))  # noqa: PTH110  thousands of times
