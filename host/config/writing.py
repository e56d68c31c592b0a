"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from host.errors import UsageError, meaning_of


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Replace a file in one step; one that exists keeps its mode, a link keeps pointing at it."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else mode
        _replace(target, text, kept)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {meaning_of(error.strerror or str(error))}", "check who may write there, or choose another folder"
        ) from error


def _replace(target: Path, text: str, mode: int) -> None:
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
