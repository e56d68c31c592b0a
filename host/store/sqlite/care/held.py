"""The file under repair. Nobody else may touch it meanwhile, and it is read and written through one handle.

Closing any handle on a file drops all POSIX locks that the process has on it, SQLite's too: neither a copy nor a second
connection may be made by its name. The new content is laid into the same file, for another process may wait with the file open,
and would go on with one that is not there any more if another took its name.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from host.errors import DamagedStore, StoreUnavailable

SQLITE_LOCKS = (512, 0x40000000)  # how many bytes from where on SQLite locks; whoever has a WAL file open holds one of them
HEAD = 100  # bytes: without its head SQLite takes a file for none of its own
CHUNK = 1 << 20
BLANK = bytes(HEAD)


@dataclass(frozen=True)
class HeldFile:
    """A database file with SQLite's own lock on it."""

    path: Path
    _handle: int

    @property
    def is_half_written(self) -> bool:
        """Whether ``replace_with`` was cut short."""
        return os.pread(self._handle, HEAD, 0) == BLANK

    def copy_to(self, target: Path) -> None:
        """Copy the file and its log as they are, for their owner alone."""
        with os.fdopen(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as copy:
            at = 0
            while piece := os.pread(self._handle, CHUNK, at):
                copy.write(piece)
                at += len(piece)
        if (log := _beside(self.path, "-wal")).exists():  # SQLite locks nothing in its log
            shutil.copyfile(log, to := _beside(target, "-wal"))
            to.chmod(0o600)

    def replace_with(self, new: Path) -> None:
        """Lay the content of another file into this one. Cut short, it has no head until it is done once more."""
        with new.open("rb") as source:
            os.fsync(source.fileno())
            head = source.read(HEAD)
            self._write(BLANK, 0)
            os.fsync(self._handle)
            for suffix in ("-wal", "-shm"):  # SQLite would lay the old log over whatever file has its name
                _beside(self.path, suffix).unlink(missing_ok=True)
            at = HEAD
            while piece := source.read(CHUNK):
                self._write(piece, at)
                at += len(piece)
        os.ftruncate(self._handle, at)
        os.fsync(self._handle)
        self._write(head, 0)
        os.fsync(self._handle)

    def _write(self, piece: bytes, at: int) -> None:
        while piece:
            written = os.pwrite(self._handle, piece, at)
            piece, at = piece[written:], at + written


@contextmanager
def alone_with(path: Path) -> Iterator[HeldFile]:
    """Hold the file until the block is left; StoreUnavailable while another process has it open, or where the disk fails."""
    length, start = SQLITE_LOCKS
    try:
        handle = os.open(path, os.O_RDWR)
        try:
            try:
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
            except OSError as error:
                raise StoreUnavailable(path, "locked: another process has it open") from error
            yield HeldFile(path, handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise StoreUnavailable(path, error.strerror or str(error)) from error
    except sqlite3.OperationalError as error:
        raise StoreUnavailable(path, str(error)) from error
    except sqlite3.DatabaseError as error:
        raise DamagedStore(path, str(error)) from error


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
