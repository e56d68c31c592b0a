"""What a summary should dwell on when the user named nothing: what the newest requests are about (hermes.md 7.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from host.compressor.serialise import without_encoded
from host.messages.masked import Mask, beginning
from host.messages.reading import text_of
from host.messages.types import Message
from host.transforms.handoff import is_handoff, split_merged

TURNS, EACH, TOTAL = 3, 260, 700  # requests; characters of one, of all with their heading
READ = 4_000  # characters of a request before it is masked and cut
HEADING = "Recent user focus:"


def implicit_focus(messages: Sequence[Message], mask: Mask) -> str | None:
    """The newest requests of the user as bullets, oldest first; None where there is none."""
    newest = list(islice(real_requests(messages, mask), TURNS))
    if not newest:
        return None
    lines = [HEADING, *(f"- {clipped(request, EACH)}" for request in reversed(newest))]
    return clipped("\n".join(lines), TOTAL)


def real_requests(messages: Sequence[Message], mask: Mask) -> Iterator[str]:
    """What the user wrote, newest first, each on one line and masked; summaries are none of it."""
    for message in reversed(messages):
        if message.get("role") == "user":
            own = [part for part in split_merged(message) if not is_handoff(part)]
            text = " ".join(mask(without_encoded(beginning("\n".join(map(text_of, own)).lstrip(), READ))).split())
            if text:
                yield text


def clipped(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
