"""Reading what can be read only once: pipes, terminals and standard input become a file for a while."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import BinaryIO

from host.errors import NotAConversation, UsageError
from host.formats.found import unreadable_kind

STANDARD_INPUT = Path("-")
HEAD_BYTES = 4096
DEVICES = Path("/dev")


@contextmanager
def reopenable(path: Path) -> Iterator[Path]:
    """A file with the content of ``path`` that can be opened as often as one likes.

    A regular file is that itself. Anything else (``STANDARD_INPUT`` is ``-``) is copied, piece by piece, into a temporary
    file that is gone afterwards. Raises ``UsageError`` where it cannot be read, ``NotAConversation`` for a folder and for
    what its first bytes show to be no text: that is told before it is copied.
    """
    if not _is_stream(path):
        yield path
        return
    with _temporary_folder(path) as folder:
        copy = Path(folder) / "recording"
        _copy(path, copy)
        yield copy


def head_of(path: Path, file: Path) -> bytes:
    """The first bytes of ``file``; the error names ``path``."""
    try:
        with file.open("rb") as opened:
            return opened.read(HEAD_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from error


def _is_stream(path: Path) -> bool:
    if path == STANDARD_INPUT:
        return True
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(mode):
        raise NotAConversation(path, "a directory")
    # a file behind /dev/stdin is a stream too: macOS goes on reading where the last opening stopped
    return not stat.S_ISREG(mode) or DEVICES in path.parents


def _temporary_folder(path: Path) -> TemporaryDirectory[str]:
    try:
        return TemporaryDirectory(prefix="ctxhost-")
    except OSError as error:
        raise _not_copied(path, error) from error


def _copy(path: Path, copy: Path) -> None:
    try:
        with _opened(path) as stream:
            head = stream.read(HEAD_BYTES)
            if (kind := unreadable_kind(head)) is not None:
                raise NotAConversation(path, kind)
            with copy.open("wb") as file:
                file.write(head)
                copyfileobj(stream, file)
    except OSError as error:
        raise _not_copied(path, error) from error


def _opened(path: Path) -> nullcontext[BinaryIO] | BinaryIO:
    """The stream; standard input is not ours to close."""
    if path != STANDARD_INPUT:
        return path.open("rb")
    if sys.stdin is None:
        raise UsageError("standard input is closed", "name a file, or pipe a recording into `ctxhost replay -`")
    return nullcontext(sys.stdin.buffer)


def _unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be read: {error.strerror}", "name a file that exists and may be read")


def _not_copied(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{path} cannot be read into a temporary file: {error.strerror}",
        "save it as a file first and name that; or see to the space in TMPDIR",
    )
