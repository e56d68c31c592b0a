"""One verb at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast


class Locked(Protocol):
    """Whoever has a lock for its verbs; the lock may be taken again by the thread that holds it."""

    _lock: threading.RLock


P = ParamSpec("P")
R = TypeVar("R")
L = TypeVar("L", bound=Locked)


def alone(verb: Callable[Concatenate[L, P], R]) -> Callable[Concatenate[L, P], R]:
    """Threads that share an object wait for each other at this verb; other objects do not."""

    @wraps(verb)
    def locked(self: L, *args: P.args, **keywords: P.kwargs) -> R:
        with self._lock:
            return verb(self, *args, **keywords)

    return cast(Callable[Concatenate[L, P], R], locked)
