"""The archives of replays: each has a folder of its own, is held while it is used, and the newest ones are kept."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from host.app.stores import IN_USE, REPLAYS, UNSAFE, archive_of, replays_in
from host.errors import CtxhostError
from host.store.values import FILE

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from host.store.sqlite.store import SqliteStore

KEPT_REPLAYS = 10
LOCK = ".lock"  # beside the replays: one process at a time takes hold of one, or removes some
BARE = 256 * 1024  # bytes: an archive without a message is smaller, a larger one need not be looked into
OWN = re.compile(rf"{re.escape(IN_USE)}|{re.escape(FILE)}(-wal|-shm|-journal|\.lock)?")  # what may lie in the folder of a replay


@contextmanager
def open_replay(home: Path, recording: str) -> Iterator[tuple[str, SqliteStore]]:
    """A new archive for a replay of the recording, and its name, until the block is left; one without a message is removed then.

    Of those that nobody uses all but the newest are removed, before and after.
    """
    from host.store.sqlite.store import SqliteStore

    stem = UNSAFE.sub("-", recording).strip("-.")[:40] or "replay"
    with _alone(home):
        folder = _new_folder(home / REPLAYS, f"{stem}-{datetime.now():%Y%m%d-%H%M%S}")
        handle = _held(folder)
        _remove_old(home)
    try:
        store = SqliteStore(folder / FILE, durability="normal")
        try:
            yield folder.name, store
        finally:
            store.close()
    finally:
        os.utime(handle)
        os.close(handle)
        with _alone(home):
            _remove_old(home)


@contextmanager
def using_replay(home: Path, replay: str | None) -> Iterator[None]:
    """Keep a replay from being removed until the block is left; nothing where none is named. UsageError where it is not there."""
    if replay is None:
        yield
        return
    archive_of(home, replay)
    with _alone(home):
        handle = _held(archive_of(home, replay).parent)
    try:
        yield
    finally:
        os.close(handle)


def _alone(home: Path) -> AbstractContextManager[None]:
    """Keep other processes from taking hold of replays and from removing them."""
    from host.store.sqlite.opening import file_lock, prepare_folder

    prepare_folder(home / REPLAYS)
    return file_lock(home / REPLAYS / LOCK)


def _new_folder(replays: Path, name: str, number: int = 1) -> Path:
    """A folder that nobody had before."""
    folder = replays / (name if number == 1 else f"{name}-{number}")
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return _new_folder(replays, name, number + 1)
    return folder


def _held(folder: Path) -> int:
    """A handle that marks the folder as in use until it is closed; others may use it at the same time."""
    handle = os.open(folder / IN_USE, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def _remove_old(home: Path) -> None:
    """Remove what nobody uses: what holds no message, and all but the newest replays."""
    free = [folder for folder in (home / REPLAYS).iterdir() if folder.is_dir() and not _is_used(folder)]
    bare = {folder for folder in free if _is_bare(folder)}
    old = [folder for folder in replays_in(home) if folder in free and folder not in bare][KEPT_REPLAYS:]
    for folder in (*bare, *old):
        shutil.rmtree(folder, ignore_errors=True)


def _is_used(folder: Path) -> bool:
    try:
        handle = os.open(folder / IN_USE, os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # whatever it is, it is left alone
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _is_bare(folder: Path) -> bool:
    """Whether nothing was archived in it, and nobody laid anything into it."""
    from host.store.sqlite.glance import glance

    try:
        files = list(folder.iterdir())
        if not all(OWN.fullmatch(file.name) and file.stat().st_size < BARE for file in files):
            return False
        if folder / FILE not in files:
            return True
        found = glance(folder / FILE)
    except (CtxhostError, OSError):
        return False  # damaged, or not ours to read
    return found.messages == 0 and found.unread == 0
