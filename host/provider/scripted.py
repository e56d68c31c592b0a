"""A model that says what it was told to say: for demos, tests and rehearsals, without a key or a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from host.messages.types import Message, Reply, ToolSchema
from host.provider.errors import OutOfReplies

Scripted = str | Message | Reply | BaseException


@dataclass(frozen=True)
class Asked:
    """One request as it came in; ``timeout`` in seconds."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_tokens: int | None = None
    timeout: float | None = None


class ScriptedProvider:
    """Gives its replies in order, one a request; an exception among them is raised.

    ``requests`` holds what it was asked. After the last reply it raises OutOfReplies.
    """

    def __init__(self, replies: Iterable[Scripted]) -> None:
        self.replies = tuple(replies)
        self.requests: list[Asked] = []

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> Reply:
        """The next scripted reply."""
        turn = len(self.requests)
        self.requests.append(Asked(tuple(messages), tuple(tools), max_tokens, timeout))
        if turn >= len(self.replies):
            raise OutOfReplies(turn + 1, len(self.replies))
        return _as_reply(self.replies[turn])


def _as_reply(scripted: Scripted) -> Reply:
    if isinstance(scripted, BaseException):
        raise scripted
    if isinstance(scripted, Reply):
        return scripted
    if isinstance(scripted, str):
        return Reply({"role": "assistant", "content": scripted}, finish_reason="stop")
    reason = "tool_calls" if scripted.get("tool_calls") else "stop"
    return Reply(scripted, finish_reason=reason)
