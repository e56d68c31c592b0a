"""Exchanges: a message of the user with all that follows it before the next; how a list is parted between two, and put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from host.messages.reading import calls_of
from host.messages.types import Message
from host.transforms.handoff import is_handoff

OTHER = {"user": "assistant", "assistant": "user"}


def kept_from(requests: Sequence[int], keep: int) -> int:
    """Index at which the last ``keep`` exchanges begin; ``requests`` are the indices of what the user said, in order.

    Where there are fewer, all are kept. 0: nothing stands before them, or the user said nothing.
    """
    return requests[max(0, len(requests) - keep)] if requests else 0


def split_exchanges(messages: Sequence[Message], keep: int) -> tuple[list[Message], list[Message]]:
    """What stands before the last ``keep`` exchanges, and those (hermes.md 12). Without a tail the whole list is one part."""
    start = kept_from([i for i, m in enumerate(messages) if m.get("role") == "user" and not is_handoff(m)], keep)
    return (list(messages[:start]), list(messages[start:])) if start else (list(messages), [])


def rejoin(head: Sequence[Message], tail: Sequence[Message], *, merging: bool = True) -> list[Message]:
    """Both as one list. Two texts of one role that would meet become one message, what cannot be merged is kept apart by a turn.

    Without ``merging`` no message is changed.
    """
    if not head or not tail or head[-1].get("role") != tail[0].get("role") or head[-1].get("role") not in OTHER:
        return [*head, *tail]
    if merging and _is_text(head[-1]) and _is_text(tail[0]):
        seam = {**tail[0], "content": f"{head[-1].get('content')}\n\n{tail[0].get('content')}"}
        return [*head[:-1], cast(Message, seam), *tail[1:]]
    return [*head, {"role": OTHER[head[-1]["role"]], "content": ""}, *tail]


def _is_text(message: Message) -> bool:
    return isinstance(message.get("content"), str) and not calls_of(message)
