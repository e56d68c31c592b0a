"""Which messages can be pinned: the same in every store."""

from __future__ import annotations

from host.errors import UsageError


def refuse_unpinnable(conversation: str, position: int, *, is_there: bool, is_erased: bool) -> None:
    """UsageError for a position where no message stands, or one whose content is gone."""
    if not is_there:
        raise UsageError(f"{conversation} has no message at position {position}", "`ctxhost sessions show` gives its positions")
    if is_erased:
        raise UsageError(f"message {conversation}:{position} was erased, there is nothing left to pin", "pin another message")
