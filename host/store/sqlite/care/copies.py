"""The files of a repair beside the one under repair: the copy of what it was, and what is taken away again."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from shutil import disk_usage

from host.engine.services import Progress
from host.errors import StoreUnavailable
from host.store.sqlite.care.held import HeldFile
from host.store.sqlite.opening import prepare_folder

COPIES = "damaged-{}.db"  # in the folder of the backups
MEGABYTE = 1_000_000


def keep_copy(held: HeldFile, progress: Progress) -> Path:
    """The file with its log as they are, beside the backups. StoreUnavailable where two copies have no room."""
    path, folder = held.path, held.path.parent / "backups"
    log = path.with_name(path.name + "-wal")
    needed = 2 * (path.stat().st_size + (log.stat().st_size if log.exists() else 0))
    if (free := disk_usage(path.parent).free) < needed:
        room = f"{-(-needed // MEGABYTE):,} MB needed, {free // MEGABYTE:,} MB free"
        raise StoreUnavailable(path, f"not enough room for two copies of it: {room}")
    prepare_folder(folder)
    copy = _free_name(folder / COPIES.format(f"{datetime.now(UTC):%Y%m%d-%H%M%S}"))
    progress(0, 1, f"keeping a copy in {copy}")
    try:
        held.copy_to(copy)
    except BaseException:
        take_away_copy(copy)
        raise
    return copy


def newest_copy(path: Path) -> Path | None:
    """The copy that a repair made which was cut short."""
    return max(path.parent.joinpath("backups").glob(COPIES.format("*")), default=None, key=lambda copy: copy.stat().st_mtime)


def take_away_copy(copy: Path) -> None:
    """The copy, and the folder where nothing else is in it."""
    take_away(copy)
    with suppress(OSError):
        copy.parent.rmdir()


def take_away(copy: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal", ".lock"):
        copy.with_name(copy.name + suffix).unlink(missing_ok=True)


def tidy_beside(copy: Path) -> None:
    """What reading the copy left beside it; its log stays where it says something."""
    copy.with_name(copy.name + "-shm").unlink(missing_ok=True)
    log = copy.with_name(copy.name + "-wal")
    if log.exists() and not log.stat().st_size:
        log.unlink()


def _free_name(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    return free
