"""What counts as a fault among the warnings of a conversation that is compacted many times on purpose."""

from __future__ import annotations

from collections.abc import Callable

EXPECTED = "Session compressed "


def unexpected(faults: list[str]) -> Callable[[str], None]:
    """Takes warnings into the list, but for the one that counts compactions."""
    return lambda text: None if text.startswith(EXPECTED) else faults.append(text)
