"""Exchanges: a message of the user with all that follows it before the next; how a list is parted between two, and put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from host.messages.reading import calls_of
from host.messages.types import Message
from host.transforms.handoff import is_handoff

T = TypeVar("T")
OTHER = {"user": "assistant", "assistant": "user"}


def is_request(message: Message) -> bool:
    """Whether an exchange begins with this message."""
    return message.get("role") == "user" and not is_handoff(message)


def split_exchanges(items: Sequence[T], keep: int, begins: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """What stands before the last ``keep`` exchanges, and those (hermes.md 12); ``begins`` tells what one begins with.

    The whole list is one part where nothing is to be kept, and where nothing stands before what is.
    """
    requests = [at for at, item in enumerate(items) if begins(item)]
    start = next(iter(requests[-keep:]), 0) if keep else 0
    return (list(items[:start]), list(items[start:])) if start else (list(items), [])


def empty_turn(role: str) -> Message:
    """A turn without words before a message of this role. Some providers refuse it: ``bridge`` gives one that all take."""
    return {"role": OTHER[role], "content": ""}


def rejoin(
    head: Sequence[Message], tail: Sequence[Message], *, merging: bool = True, turn: Callable[[str], Message] = empty_turn
) -> list[Message]:
    """Both as one list. Two texts of one role that would meet become one message, what cannot be merged is kept apart by a turn.

    Without ``merging`` no message is changed: a conversation joins its window so, as it has to recognise each message again.
    """
    if not head or not tail or head[-1].get("role") != tail[0].get("role") or head[-1].get("role") not in OTHER:
        return [*head, *tail]
    if merging and _is_text(head[-1]) and _is_text(tail[0]):
        seam = {**tail[0], "content": f"{head[-1].get('content')}\n\n{tail[0].get('content')}"}
        return [*head[:-1], cast(Message, seam), *tail[1:]]
    return [*head, turn(tail[0]["role"]), *tail]


def _is_text(message: Message) -> bool:
    return isinstance(message.get("content"), str) and not calls_of(message)
