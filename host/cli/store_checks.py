"""What ``ctxhost doctor`` looks at: one function a subject, each giving back remarks and changing nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from host.cli.globals import Globals
from host.cli.store_text import clipped, counted, local, sized
from host.errors import ConfigError, CtxhostError

if TYPE_CHECKING:
    from host.store.sqlite.glance import Glance

OTHERS = 0o077  # permission bits of everybody but the owner
BIG_LOG = 64 << 20  # bytes: a log of this size means that a reader never leaves, or that nobody closes
LEAST_FREE = 50_000_000  # bytes
SHOWN = 160  # cells of a message in quarantine


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Remark:
    """One line of the doctor. ``advice`` says what to do where something is to be done."""

    level: Level
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Patient:
    """The home folder under examination."""

    settings: Globals

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.settings.home

    @property
    def archive(self) -> Path:
        """The archive's file."""
        from host.store.values import FILE

        return self.home / FILE

    @cached_property
    def glance(self) -> Glance | None:
        """What the archive holds; None where there is none, or it cannot be read, which ``check_archive`` tells."""
        from host.store.sqlite.glance import glance

        try:
            return glance(self.archive) if self.archive.exists() else None
        except CtxhostError:
            return None


def check_home(patient: Patient) -> Iterator[Remark]:
    """Is the home folder there, private, and can it be written?"""
    home = patient.home
    if not home.exists():
        yield Remark(Level.OK, f"{home} is not there yet; it is made when something is kept")
        return
    if not home.is_dir():
        yield Remark(Level.ERROR, f"{home} is no folder", "move it away, or name another with --home")
        return
    mode = stat.S_IMODE(home.stat().st_mode)
    if not (mode & 0o222 and os.access(home, os.W_OK | os.X_OK)) or os.statvfs(home).f_flag & os.ST_RDONLY:
        yield Remark(Level.ERROR, f"{home} is read-only (mode {mode:04o}): nothing can be kept", "make it writable, or use --home")
    elif mode & OTHERS:
        yield Remark(Level.WARNING, f"{home} has mode {mode:04o}: others may look into it", f"chmod 700 {home}")
    else:
        yield Remark(Level.OK, f"{home}, mode {mode:04o}")


def check_files(patient: Patient) -> Iterator[Remark]:
    """May only the owner read what is archived, replays and backups included?"""
    archives = [patient.archive, *patient.home.glob("replays/*/archive.db"), *patient.home.glob("backups/*.db")]
    files = [path for one in archives for path in (one, one.with_name(one.name + "-wal")) if path.is_file()]
    for path in files:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OTHERS:
            yield Remark(Level.WARNING, f"{path} has mode {mode:04o}: others may read it", f"chmod 600 {path}")
    if files and not any(stat.S_IMODE(path.stat().st_mode) & OTHERS for path in files):
        yield Remark(Level.OK, f"{counted(len(files), 'file')} of archives, for their owner alone")


def check_writing(patient: Patient) -> Iterator[Remark]:
    """Can the archive's files be written?"""
    files = [patient.archive.with_name(patient.archive.name + suffix) for suffix in ("", "-wal", "-shm", ".lock")]
    there = [path for path in files if path.exists()]
    refused = [path for path in there if not (path.stat().st_mode & 0o200 and os.access(path, os.W_OK))]
    for path in refused:
        yield Remark(Level.ERROR, f"{path} cannot be written: nothing can be kept", f"chmod 600 {path}, or use --home")
    if not refused:
        yield Remark(Level.OK, "yes" if there else "no file yet")


def check_space(patient: Patient) -> Iterator[Remark]:
    """Is there room on the disk?"""
    folder = next(each for each in (patient.home, *patient.home.absolute().parents) if each.exists())
    disk = os.statvfs(folder)
    free, archive = disk.f_bavail * disk.f_frsize, _size([patient.archive])
    if free < max(LEAST_FREE, 2 * archive):
        advice = "free some space: a copy of the archive, which `archive repair` makes too, needs as much as the archive itself"
        yield Remark(Level.WARNING, f"{sized(free)} free", advice)
    else:
        yield Remark(Level.OK, f"{sized(free)} free")


def check_filesystem(patient: Patient) -> Iterator[Remark]:
    """Does it lie where several processes can share it?"""
    from host.store.filesystems import NETWORK, filesystem_of

    kind = filesystem_of(patient.home)
    if kind in NETWORK:
        yield Remark(
            Level.WARNING,
            f"{patient.home} lies on {kind}, a network file system: SQLite's WAL does not work over it between machines",
            "use a folder on a local disk (--home), and `ctxhost archive backup` for the copy on the network",
        )
    else:
        yield Remark(Level.OK, kind or "unknown: this system does not tell")


def check_sqlite(patient: Patient) -> Iterator[Remark]:
    """Can this SQLite search?"""
    from host.store.sqlite.glance import abilities

    found = abilities()
    if found.trouble:
        yield Remark(
            Level.ERROR, f"SQLite {found.version} has no FTS5 with trigrams: {found.trouble}", "use a Python whose SQLite is 3.34 or newer"
        )
    else:
        yield Remark(Level.OK, f"SQLite {found.version} with FTS5 and trigrams")


def check_archive(patient: Patient) -> Iterator[Remark]:
    """Can the archive be read, and is it kept as it should be?"""
    from host.store.sqlite.glance import glance
    from host.store.sqlite.schema import SCHEMA

    if not patient.archive.exists():
        yield Remark(Level.OK, "none yet; the first conversation makes it")
        return
    found = patient.glance or glance(patient.archive)  # the second look raises what the first one met
    if found.unread:
        yield Remark(
            Level.WARNING, f"{sized(found.unread)} in its log were left by a process that died; whoever opens it next takes them in"
        )
    if found.schema < SCHEMA:
        yield Remark(Level.OK, f"schema {found.schema}, brought to {SCHEMA} when it is opened")
    elif found.journal != "wal":
        advice = "`ctxhost archive backup` makes a copy; then open it with sqlite3 and run PRAGMA journal_mode = WAL"
        yield Remark(Level.WARNING, f"schema {found.schema}, journal mode {found.journal} in place of WAL", advice)
    else:
        yield Remark(Level.OK, f"{patient.archive}, schema {found.schema}, journal mode WAL")


def check_contents(patient: Patient) -> Iterator[Remark]:
    """How much is in it?"""
    if found := patient.glance:
        yield Remark(Level.OK, f"{counted(found.messages, 'message')} in {counted(found.conversations, 'conversation')}")


def check_soundness(patient: Patient) -> Iterator[Remark]:
    """Can what was kept last be read?"""
    from host.store.sqlite.glance import damage

    if patient.glance is None or not patient.glance.schema:
        return
    found = damage(patient.archive)
    for fault in found:
        advice = "`ctxhost archive verify` reads everything, `ctxhost archive repair` keeps a copy and salvages what can be read"
        yield Remark(Level.ERROR, f"the archive is damaged: {fault}", advice)
    if not found:
        yield Remark(Level.OK, "the newest rows can be read; `ctxhost archive verify` reads all")


def check_sizes(patient: Patient) -> Iterator[Remark]:
    """How large are archive, log, replays and backups?"""
    log = _size([patient.archive.with_name("archive.db-wal")])
    parts = {
        "archive": _size([patient.archive]),
        "log": log,
        "replays": _size(patient.home.glob("replays/**/*")),
        "backups": _size(patient.home.glob("backups/**/*")),
    }
    text = ", ".join(f"{name} {sized(size)}" for name, size in parts.items())
    if log > BIG_LOG:
        yield Remark(Level.WARNING, f"{text}: the log is large", "end the processes that keep the archive open")
    else:
        yield Remark(Level.OK, text)


def check_index(patient: Patient) -> Iterator[Remark]:
    """How much is not indexed yet?"""
    if found := patient.glance:
        left = counted(found.unindexed, "message")
        yield Remark(
            Level.OK, f"{left} not indexed yet: found all the same, and indexed by the next search" if found.unindexed else "complete"
        )


def check_erasures(patient: Patient) -> Iterator[Remark]:
    """Is what was erased out of the file?"""
    if (found := patient.glance) is None:
        return
    if found.unfinished is None:
        yield Remark(Level.OK, "none is unfinished")
        return
    text = f"the one with receipt {found.unfinished} is not finished: its bytes may still be in the file"
    yield Remark(Level.ERROR, text, "`ctxhost archive repair` finishes it, once there is room on the disk and nobody reads the archive")


def check_quarantine(patient: Patient) -> Iterator[Remark]:
    """Which messages could not be kept?"""
    found = patient.glance
    if found is None:
        return
    if not found.quarantined:
        yield Remark(Level.OK, "empty")
        return
    yield Remark(
        Level.WARNING, f"{counted(found.quarantined, 'message')} could not be kept; the newest:", "give messages that JSON can hold"
    )
    for entry in found.newest:
        yield Remark(Level.WARNING, clipped(f"{local(entry.time)} {entry.error}: {' '.join(entry.shown.split())}", SHOWN))


def check_leases(patient: Patient) -> Iterator[Remark]:
    """Is a conversation being compacted?"""
    if (found := patient.glance) is None:
        return
    for lease in found.leases:
        yield Remark(Level.OK, f"{lease.name} is being compacted by {lease.holder}, until {local(lease.until)} at most")
    if not found.leases:
        yield Remark(Level.OK, "none held")


def check_last_error(patient: Patient) -> Iterator[Remark]:
    """What went wrong last?"""
    if found := patient.glance:
        newest = found.newest[0] if found.newest else None
        yield Remark(Level.OK, f"{local(newest.time)} {newest.error}" if newest else "none noted")


def check_config(patient: Patient) -> Iterator[Remark]:
    """Does config.yaml say what it should?"""
    from host.app import load_config

    try:
        loaded = load_config(patient.settings)
    except ConfigError as error:
        yield from (Remark(Level.ERROR, str(problem)) for problem in error.problems)
        return
    yield from (Remark(Level.WARNING, warning) for warning in loaded.warnings)
    used = [str(use.path) for use in loaded.files if use.used]
    yield Remark(Level.OK, ", ".join(used) or "no file; every value is the default")


def check_engine(patient: Patient) -> Iterator[Remark]:
    """Which engine would run? It is looked up, not loaded."""
    from host.app import engine_places, load_config
    from host.discovery import list_engines

    try:
        context = load_config(patient.settings).config.context
    except ConfigError:
        yield Remark(Level.ERROR, "unknown while the configuration is broken")
        return
    found = next((one for one in list_engines(engine_places(patient.settings)) if one.configured and not one.shadowed_by), None)
    if found is not None and not found.cannot_load:
        yield Remark(Level.OK, f"{found.name} ({found.source})")
        return
    why = f"{context.engine!r} cannot be loaded: {found.cannot_load}" if found else f"{context.engine!r} was not found"
    strict = (context.on_error if found else context.on_missing) == "error"
    advice = "`ctxhost engines` lists what there is"
    yield Remark(Level.ERROR if strict else Level.WARNING, why if strict else f"{why}; compressor runs in its place", advice)


CHECKS: tuple[tuple[str, Callable[[Patient], Iterable[Remark]]], ...] = (
    ("home", check_home),
    ("files", check_files),
    ("writing", check_writing),
    ("space", check_space),
    ("file system", check_filesystem),
    ("sqlite", check_sqlite),
    ("archive", check_archive),
    ("contents", check_contents),
    ("soundness", check_soundness),
    ("sizes", check_sizes),
    ("index", check_index),
    ("erasures", check_erasures),
    ("quarantine", check_quarantine),
    ("leases", check_leases),
    ("last error", check_last_error),
    ("config", check_config),
    ("engine", check_engine),
)
"""Subject -> what is looked at, in the order in which it is told."""


def examined(patient: Patient) -> Iterator[tuple[str, Remark]]:
    """Every check, one after the other; one that cannot be made is a remark too."""
    for subject, check in CHECKS:
        try:
            yield from ((subject, remark) for remark in check(patient))
        except CtxhostError as error:
            yield subject, Remark(Level.ERROR, error.what, error.advice)
        except OSError as error:
            yield subject, Remark(Level.ERROR, f"{error.filename or subject}: {error.strerror or error}", "check that it may be read")


def _size(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())
