"""What foreign code prints goes to standard error: standard output is the answer's."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast


class _Aside:
    """Standard output, which is standard error for threads that run foreign code at this moment."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.users = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.out if not _here.depth else sys.stderr or _NOWHERE, name)


class _Here(threading.local):
    depth = 0


_here = _Here()
_guard = threading.RLock()
_NOWHERE = io.StringIO()


@contextmanager
def printing_aside() -> Iterator[None]:
    """What this thread prints until the block is left goes to standard error; other threads print where they always do.

    ``contextlib.redirect_stdout`` does that for the whole process, and two threads that overlap leave it so for good.
    """
    with _guard:
        stand_in = _stand_in()
        stand_in.users += 1
    _here.depth += 1
    try:
        yield
    finally:
        _here.depth -= 1
        with _guard:
            stand_in.users -= 1
            if not stand_in.users and sys.stdout is cast(TextIO, stand_in):
                sys.stdout = stand_in.out


def _stand_in() -> _Aside:
    """The one in the place of standard output, put there where there is none."""
    if not isinstance(sys.stdout, _Aside):
        sys.stdout = cast(TextIO, _Aside(sys.stdout or _NOWHERE))
    return cast(_Aside, sys.stdout)
