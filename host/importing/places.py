"""Where the clients keep their recordings, and what a recorded file is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from host.errors import UsageError
from host.formats.loose import did_you_mean
from host.formats.sessions import CLIENTS
from host.store.spelling import spelled

OPENAI = "openai"  # message files of whatever container: they have no folder of their own
SOURCES = (*CLIENTS, OPENAI)
NOT_IN_FOLDER_NAMES = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True)
class RecordedFile:
    """A file that may hold conversations. ``client`` is whose it is, None where its content has to tell.

    ``name`` is by what it is remembered: its real path, as text whatever bytes it is made of. ``is_named``: by the user;
    ``is_asked``: the user said whose it is.
    """

    path: Path
    name: str
    client: str | None = None
    is_named: bool = False
    is_asked: bool = False

    @property
    def shown(self) -> str:
        """Its path as it was found, as text."""
        return spelled(self.path)


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

    def searched(self, name: str) -> list[Place]:
        """Where the session files of a client are looked for."""
        known = CLIENTS[name]
        roots = known.roots(self.user_home, self.environ)
        return [Place(root, pattern, name) for root in roots for pattern in (known.pattern, *known.beside)]

    def searched_for(self, directories: Sequence[str]) -> list[Place]:
        """Where the session files of these working directories are looked for, as far as a client's folders bear their names."""
        names = sorted({spelled for directory in directories for spelled in project_folders(directory)})
        return [
            replace(place, pattern=place.pattern.replace("*", folder, 1))
            for client, known in CLIENTS.items()
            for place in self.searched(client)
            for folder in (names if known.by_directory else ["*"])
        ]


def project_folders(directory: str) -> set[str]:
    """The names that a client gives to the folder of a working directory, as it is and with its links followed."""
    return {NOT_IN_FOLDER_NAMES.sub("-", spelled) for spelled in (directory, os.path.realpath(directory))}


def refuse_unknown_client(name: str) -> None:
    """Raise UsageError for a client that has no folders of its own."""
    if name in CLIENTS:
        return
    if name == OPENAI:
        raise UsageError("OpenAI messages have no folder of their own", "name the files or folders: ctxhost import --from openai PATH")
    raise UsageError(f"no sessions are known of a client {name!r}{did_you_mean(name, SOURCES)}", f"there are: {', '.join(SOURCES)}")
