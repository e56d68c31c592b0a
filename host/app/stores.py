"""Where archives lie in the home folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from host.errors import UsageError
from host.store.values import FILE

if TYPE_CHECKING:
    from host.store.sqlite.store import SqliteStore

REPLAYS = "replays"
IN_USE = "in-use"  # in the folder of a replay: locked by whoever uses it; its time is when the replay ended, or began
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def archive_of(home: Path, replay: str | None = None) -> Path:
    """The file of the archive, or of a replay's; raises UsageError for a replay that is not there."""
    if replay is None:
        return home / FILE
    folder = home / REPLAYS / replay
    if UNSAFE.search(replay) or replay.startswith(".") or not (folder / FILE).is_file():
        known = ", ".join(path.name for path in replays_in(home)) or "none is kept"
        raise UsageError(f"no replay is called {replay!r}", f"there are: {known}")
    return folder / FILE


def open_archive(home: Path, *, durability: str = "full", replay: str | None = None) -> SqliteStore:
    """The archive of a home folder, made where there is none; or a replay's."""
    from host.store.sqlite.store import SqliteStore

    return SqliteStore(archive_of(home, replay), durability=durability)


def replays_in(home: Path) -> list[Path]:
    """The folders of the replays, newest first: by when they ended, or began where they were cut short."""
    folders = [path for path in (home / REPLAYS).glob("*") if (path / FILE).is_file()]
    return sorted(folders, key=lambda path: (_ended(path), path.name), reverse=True)


def _ended(folder: Path) -> float:
    mark = folder / IN_USE
    return (mark if mark.exists() else folder).stat().st_mtime
