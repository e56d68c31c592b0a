"""What comes in from a chat platform, and what goes back."""

from __future__ import annotations

import json
from dataclasses import dataclass

from host.errors import UsageError

LONGEST = 200  # characters of a part of an origin: platforms have ids, not texts


@dataclass(frozen=True)
class Origin:
    """Where a conversation takes place; one for each user of a chat, and of a thread where the platform has threads."""

    platform: str
    chat: str
    user: str = ""
    thread: str = ""

    def __post_init__(self) -> None:
        for name, part in vars(self).items():
            if not isinstance(part, str) or len(part) > LONGEST or (name in ("platform", "chat") and not part.strip()):
                raise UsageError(
                    f"{name} {str(part)[:40]!r} of an inbound message is no id", f"give {name} as a text of at most {LONGEST} characters"
                )

    @property
    def key(self) -> str:
        """A text that no other origin has, whatever stands in the ids."""
        return json.dumps([self.platform, self.chat, self.user, self.thread])

    def __str__(self) -> str:
        """For people: two origins may look the same."""
        return " ".join(filter(None, (self.platform, self.chat, self.thread, self.user)))


@dataclass(frozen=True)
class Inbound:
    """One message of a user. ``id`` is the platform's own of this message: one that is delivered twice is answered once."""

    origin: Origin
    text: str
    id: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise UsageError("an inbound message has no text", "pass on only messages with something in them")


@dataclass(frozen=True)
class Outbound:
    """What the user is to see: the answer, and lines that stand apart from it. ``reason`` is that of the turn's end.

    ``reason``: answered, interrupted, exhausted, failed, busy (another process still answers), or command.
    """

    session: str
    text: str
    reason: str
    warnings: tuple[str, ...] = ()
