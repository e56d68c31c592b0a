"""A client's file: read, backed up, replaced in one step. Mode and owner are kept, links are followed."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from host.errors import meaning_of
from host.mcp.connect.obstacles import NoRegularFile, NotWritable, Obstacle, Outpaced

PRIVATE = 0o600  # of a file that is made new: clients keep keys in them
BOM = "\ufeff"


@dataclass(frozen=True)
class Original:
    """A file as it was read; ``data`` is None where there is none. ``path`` is its name, ``target`` where links lead."""

    path: Path
    target: Path
    data: bytes | None
    mode: int = PRIVATE
    owner: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The text without a byte order mark. Raises Obstacle with the line of what is no UTF-8."""
        data = self.data or b""
        try:
            return data.decode("utf-8").removeprefix(BOM)
        except UnicodeDecodeError as error:
            raise Obstacle(1 + data.count(b"\n", 0, error.start), "this is no UTF-8") from error

    def encoded(self, text: str) -> bytes:
        """A text as bytes for this file, with the byte order mark that it had."""
        mark = BOM if (self.data or b"").startswith(BOM.encode()) else ""
        return (mark + text).encode()


def read(path: Path) -> Original:
    """A file as it is now."""
    target = target_of(path)
    try:
        kind = target.stat()
        if not stat.S_ISREG(kind.st_mode):
            raise NoRegularFile(path, "a folder" if stat.S_ISDIR(kind.st_mode) else "no regular file")
        return Original(path, target, target.read_bytes(), stat.S_IMODE(kind.st_mode), (kind.st_uid, kind.st_gid))
    except FileNotFoundError:
        return Original(path, target, None)
    except OSError as error:
        raise NotWritable(path, _why(error)) from error


def target_of(path: Path) -> Path:
    """Where links lead; a link that leads to itself stays as it is, and cannot be read."""
    return Path(os.path.realpath(path))


def back_up(original: Original, now: datetime) -> Path | None:
    """Keep a file's bytes beside it under a dated name that is new; None where there is no file."""
    if original.data is None:
        return None
    dated = f"{original.target.name}.ctxhost-{now:%Y%m%d-%H%M%S}"
    try:
        for count in range(1, 10_000):
            name = original.target.with_name(f"{dated}.bak" if count == 1 else f"{dated}-{count}.bak")
            with contextlib.suppress(FileExistsError):
                handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
                _fill(handle, original.data, original)
                return name
    except OSError as error:
        raise NotWritable(original.path, f"no backup can be made: {_why(error)}") from error
    raise NotWritable(original.path, f"no name is free for a backup ({dated})")


def replace(original: Original, data: bytes | None) -> None:
    """Put other bytes in a file's place, or take it away. Raises Outpaced where it is not as it was read."""
    target = original.target
    if original.data is not None and not original.mode & 0o222:
        raise NotWritable(original.path, "it is read-only")
    try:
        if data is None:
            _check_unchanged(original)
            target.unlink(missing_ok=True)
            return
        with _folder_of(target):
            _swap(original, data)
    except OSError as error:
        raise NotWritable(original.path, _why(error)) from error


@contextlib.contextmanager
def _folder_of(target: Path) -> Iterator[None]:
    """The folders of a file are there; those that had to be made are gone again where it could not be written."""
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _swap(original: Original, data: bytes) -> None:
    target = original.target
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        _fill(handle, data, original)
        _check_unchanged(original)
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _fill(handle: int, data: bytes, original: Original) -> None:
    """Write a new file to the disk, closed to others until it has the owner and mode of the old one."""
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        made = os.fstat(file.fileno())
        if original.owner is not None and original.owner != (made.st_uid, made.st_gid):
            os.fchown(file.fileno(), *original.owner)
        os.fchmod(file.fileno(), original.mode)
        os.fsync(file.fileno())


def _check_unchanged(original: Original) -> None:
    now = original.target.read_bytes() if original.target.exists() else None
    if now != original.data:
        raise Outpaced(original.path)


def _why(error: OSError) -> str:
    return meaning_of(error.strerror or str(error))
