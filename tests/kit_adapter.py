"""The shipped compressor as the compaction-conformance-kit wants it: turns in, one text out.

A round is a real compaction by hand, without a summary model, of a real conversation that goes on: the window of the round
before with a little small talk more. What comes out is that window as the model is sent it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from compaction_kit import CompactedContext, Turn

from host.conversation.conversation import Conversation
from host.messages.reading import text_of
from host.messages.types import Message
from host.store.memory import MemoryStore
from host.transforms.handoff import END_MARKER, GAP, NOTE, PREFIX, SHORT_PREFIX
from tests.desk import Desk, fed
from tests.engines_for_tests import compressor

WINDOW = 128_000
FRAME = (f"{PREFIX}\n", f"{SHORT_PREFIX}\n", f"{GAP}{END_MARKER}", f"{GAP}{NOTE}")
"""What every compacted window has around its notes, whatever the conversation."""
SMALL_TALK = (
    ("How is it going?", "Working on it."),
    ("Anything new?", "Not yet, the run is still going."),
    ("All right, go on.", "Going on."),
    ("Still there?", "Yes."),
)


class UnderTest:
    """One conversation under the built-in engine. ``framed``: whether the words that every handoff has count as well."""

    name = "ctxhost-compressor"

    def __init__(self, *, framed: bool = False) -> None:
        self.conversation: Conversation | None = None
        self._framed = framed
        self._told = ""

    def compact(self, turns: list[Turn], round_num: int = 1, budget_chars: int | None = None) -> CompactedContext:
        """The window after one compaction more. The kit hands back what it was told; the conversation goes on from there."""
        if self.conversation is None or [turn.text for turn in turns] != [self._told]:
            self.conversation = begun([cast(Message, {"role": turn.role, "content": turn.text}) for turn in turns])
        else:
            for asked, answered in SMALL_TALK:
                fed(self.conversation, [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}])
        self.conversation.compact()
        self._told = as_text(self.conversation.view.messages, framed=self._framed)
        return CompactedContext(self._told, self.name, round_num)


def begun(messages: Sequence[Message]) -> Conversation:
    """A conversation of these messages, far below the threshold of its window, with the default room for exact values."""
    engine = compressor(WINDOW, target_ratio=0.10, protect_last_n=3, protect_first_n=0)
    return fed(Desk(MemoryStore()).open(engine, keep_exact=800), list(messages))


def as_text(messages: Sequence[Message], *, framed: bool) -> str:
    """The window in the kit's own notation."""
    text = "\n".join(f"[{message['role']}] {text_of(message)}" for message in messages)
    for words in () if framed else FRAME:
        text = text.replace(words, "")
    return text
