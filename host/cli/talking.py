"""What ``run`` and ``chat`` have in common."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from host.errors import CtxhostError
    from host.loop.agent import Turn
    from host.store.protocols import Store

LASTING = {"auth", "billing", "not_found", "bad_request"}  # failures that no second try mends
STATUS = {"answered": 0, "exhausted": 1, "interrupted": 130}
"""How a turn ended -> exit status."""


def ending_of(turn: Turn) -> str:
    """How a turn ended, and why where that is known."""
    return f"{turn.reason}: {turn.detail}" if turn.detail else turn.reason


def forget_empty(store: Store, conversation: str) -> None:
    """A session that was begun for nothing leaves no trace."""
    from host.errors import CtxhostError

    with suppress(CtxhostError):  # it may be gone already; an empty session harms nobody
        if store.archive(conversation).range() == (0, 0):
            store.sessions.delete(conversation)


def advise_to_ask_again(error: CtxhostError, how: str) -> None:
    """Put the way on behind a failure's own advice, where the model may answer a second time."""
    from host.errors import ProviderError
    from host.provider.errors import OutOfReplies

    lasts = isinstance(error, OutOfReplies) or getattr(error, "label", "") in LASTING
    if isinstance(error, ProviderError) and not lasts:
        error.advice = "\n".join(filter(None, [error.advice, how]))
