"""What an engine sees when it compacts: the conversation, cut where the anchors allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from host.messages.reading import call_arguments, call_name, calls_of, text_of
from host.messages.types import Message
from host.transforms.assemble import seat_between
from host.transforms.boundary import Cut, kept_tokens
from host.transforms.handoff import handoff_text
from host.transforms.plan import Plan


@dataclass(frozen=True)
class Window:
    """Head, middle and tail of a conversation; whole tool groups, the newest request and pinned messages never in the middle.

    ``reason`` is "manual" or "automatic". The messages are the live ones: make new dicts, do not change them.
    """

    messages: tuple[Message, ...]
    cut: Cut
    plan: Plan
    reason: str = "manual"

    @property
    def head(self) -> list[Message]:
        """System prompt and first turns."""
        return list(self.messages[: self.cut.start])

    @cached_property
    def middle(self) -> list[Message]:
        """What may be replaced."""
        return self.cut.middle(self.messages)

    @property
    def tail(self) -> list[Message]:
        """The newest turns; older messages that stay, a request that the tail had no room for and pins, stand at its front."""
        return self.cut.behind(self.messages)

    @cached_property
    def room(self) -> int:
        """Tokens that may stand between head and tail."""
        ceiling = self.plan.summary + self.plan.frame
        if self.plan.threshold is None:
            return ceiling
        return max(0, min(ceiling, self.plan.threshold - kept_tokens(self.messages, self.cut, self.plan)))

    @property
    def focus(self) -> str | None:
        """What the user asked to keep in detail."""
        return self.plan.focus

    @property
    def pins(self) -> tuple[Message, ...]:
        """Messages that stay whatever happens."""
        return self.plan.pins

    def as_text(self, messages: Sequence[Message]) -> str:
        """Messages as plain text for a prompt: a label, the words, the calls."""
        return "\n\n".join(_as_text(message) for message in messages)

    def summary(self, text: str, covers: Sequence[Message]) -> Message:
        """A handoff message with this text, in a role that fits between head and tail.

        ``covers`` says for the reader what it stands for; the host works it out from what is left.
        """
        return {"role": seat_between(self.head, self.tail).role, "content": handoff_text(text)}


def _as_text(message: Message) -> str:
    calls = ", ".join(f"{call_name(call)}({call_arguments(call)})" for call in calls_of(message))
    words = text_of(message)
    return f"[{message.get('role', '?').upper()}] {words}" + (f"\n[calls: {calls}]" if calls else "")
