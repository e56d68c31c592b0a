"""Where archives lie in the home folder."""

from __future__ import annotations

import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from host.errors import UsageError
from host.store.values import FILE

if TYPE_CHECKING:
    from host.store.sqlite.store import SqliteStore

ARCHIVE = FILE
REPLAYS = "replays"
KEPT_REPLAYS = 10
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def archive_of(home: Path, replay: str | None = None) -> Path:
    """The file of the archive, or of a replay's; raises UsageError for a replay that is not there."""
    if replay is None:
        return home / ARCHIVE
    folder = home / REPLAYS / replay
    if UNSAFE.search(replay) or replay.startswith(".") or not (folder / ARCHIVE).is_file():
        known = ", ".join(path.name for path in replays_in(home)) or "none is kept"
        raise UsageError(f"no replay is called {replay!r}", f"there are: {known}")
    return folder / ARCHIVE


def open_archive(home: Path, *, durability: str = "full", replay: str | None = None) -> SqliteStore:
    """The archive of a home folder, made where there is none; or a replay's."""
    from host.store.sqlite.store import SqliteStore

    return SqliteStore(archive_of(home, replay), durability=durability)


def open_replay(home: Path, recording: str) -> tuple[str, SqliteStore]:
    """A new archive for a replay of the recording, and its name; all but the newest replays are removed."""
    from host.store.sqlite.store import SqliteStore

    for old in replays_in(home)[KEPT_REPLAYS - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
    stem = UNSAFE.sub("-", recording).strip("-.")[:40] or "replay"
    made = f"{stem}-{datetime.now():%Y%m%d-%H%M%S}"
    folders = (home / REPLAYS / name for name in [made, *(f"{made}-{number}" for number in range(2, 100))])
    folder = next(folder for folder in folders if not folder.exists())
    return folder.name, SqliteStore(folder / ARCHIVE, durability="normal")


def replays_in(home: Path) -> list[Path]:
    """The folders of the replays, newest first."""
    folders = [path for path in (home / REPLAYS).glob("*") if (path / ARCHIVE).is_file()]
    return sorted(folders, key=lambda path: (path.stat().st_mtime, path.name), reverse=True)
