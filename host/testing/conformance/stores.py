"""The checks of a store, and running them without pytest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from host.store.protocols import Store
from host.testing.conformance import archives, leases, pins, searching, sessions, shared, undoing, views

F = TypeVar("F", bound=Callable[..., None])
Check = Callable[[Store], None]
SharedCheck = Callable[[Store, Store], None]


def named(checks: Iterable[F]) -> dict[str, F]:
    """The checks by their names, read as words."""
    return {check.__name__.replace("_", " "): check for check in checks}


STORE_CHECKS: dict[str, Check] = named(
    (*archives.CHECKS, *searching.CHECKS, *views.CHECKS, *undoing.CHECKS, *pins.CHECKS, *leases.CHECKS, *sessions.CHECKS)
)
"""Name -> check. Each takes a fresh store and raises where it breaks its protocol."""

SHARED_STORE_CHECKS: dict[str, SharedCheck] = named(shared.CHECKS)
"""Name -> check of two handles on the same fresh store, as two processes or threads have them."""


@dataclass(frozen=True)
class Outcome:
    """What became of one check; ``error`` is what it raised."""

    name: str
    error: Exception | None = None

    @property
    def passed(self) -> bool:
        """Whether the store does what is checked."""
        return self.error is None

    def __str__(self) -> str:
        return f"ok      {self.name}" if self.error is None else f"failed  {self.name}\n        {type(self.error).__name__}: {self.error}"


def check_store(make: Callable[[], Store], *, beside: Callable[[Store], Store] | None = None) -> Iterator[Outcome]:
    """Run all checks, each on a fresh store from ``make``.

    ``beside`` opens the data of a store another time; without it the checks of shared stores are left out.
    """
    for name, check in STORE_CHECKS.items():
        yield outcome(name, make, check)
    if beside is not None:
        for name, shared_check in SHARED_STORE_CHECKS.items():
            yield outcome(name, make, with_another(shared_check, beside))


def outcome(name: str, make: Callable[[], Store], check: Check) -> Outcome:
    """What becomes of one check on a fresh store."""
    try:
        store = make()
        try:
            check(store)
        finally:
            store.close()
    except Exception as error:  # noqa: BLE001  the store is the caller's: whatever it raises is the outcome
        return Outcome(name, error)
    return Outcome(name)


def with_another(check: SharedCheck, beside: Callable[[Store], Store]) -> Check:
    """A check of two handles as one of a single store."""

    def checked(store: Store) -> None:
        another = beside(store)
        try:
            check(store, another)
        finally:
            another.close()

    return checked
