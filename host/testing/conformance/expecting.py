"""Saying what a check found; no ``assert``, so that ``python -O`` checks the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=BaseException)
LONGEST = 300  # characters of a value in a text


class NotConforming(AssertionError):
    """What was checked does not do what its protocol says."""


def same(what: str, found: object, wanted: object) -> None:
    """Raise where the two differ."""
    if found != wanted:
        raise NotConforming(f"{what}: found {shortened(found)}, wanted {shortened(wanted)}")


def true(what: str, holds: bool) -> None:
    """Raise where it does not hold."""
    if not holds:
        raise NotConforming(f"not so: {what}")


def raises(what: str, wanted: type[E], attempt: Callable[[], object]) -> E:
    """Raise where the attempt does not raise the error that is wanted; else give the error back."""
    try:
        found = attempt()
    except wanted as error:
        return error
    except Exception as error:
        raise NotConforming(f"{what}: raised {type(error).__name__} ({shortened(error)}), wanted {wanted.__name__}") from error
    raise NotConforming(f"{what}: gave {shortened(found)}, wanted {wanted.__name__} to be raised")


def there(what: str, found: T | None) -> T:
    """What is there; raises where it is None."""
    if found is None:
        raise NotConforming(f"{what}: found nothing")
    return found


def shortened(value: object) -> str:
    """A value for a text."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
