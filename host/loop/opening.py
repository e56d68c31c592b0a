"""The system prompt: written once, when a conversation begins, and never again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from host.discovery.aside import printing_aside
from host.discovery.foreign import words_of
from host.engine.offers import Memory

LONGEST_BLOCK = 8_000  # characters of one memory: what is always in the window must not crowd it
CUT = "\n[cut here: {:,} of {:,} characters]"

DEFAULT = (
    "You are an assistant who works with the user step by step. Use the tools that you are given when they bring you further, "
    "and say plainly when something failed or when you do not know it.\n\n"
    "In a long conversation earlier turns may be replaced by a summary. Nothing is lost: every message is archived word for word. "
    "Where a summary is not exact enough, look it up rather than guess: lcm_grep searches everything that was said, and "
    "lcm_expand opens a message that it found."
)


def system_prompt(told: str, memories: Sequence[Memory], warn: Callable[[str], None]) -> str:
    """What the agent is told first: ``told``, or a few words of our own, and what each memory has to say, under its name."""
    blocks = (_block(memory, warn) for memory in memories)
    return "\n\n".join([told.strip() or DEFAULT, *filter(None, blocks)])


def _block(memory: Memory, warn: Callable[[str], None]) -> str:
    """What one memory says, blank where it says nothing or fails."""
    try:
        with printing_aside():
            name, said = str(memory.name), memory.block()
        if not isinstance(said, str):
            raise TypeError(f"its block is {type(said).__name__}, not text")
    except Exception as error:  # noqa: BLE001  a plugin's door: the conversation begins without it, and the user is told
        warn(f"the memory {getattr(memory, 'name', '?')!s} is not in the system prompt: {type(error).__name__}: {words_of(error)}")
        return ""
    text = said.strip()
    if len(text) > LONGEST_BLOCK:
        warn(f"the memory {name} holds {len(text):,} characters; the system prompt has the first {LONGEST_BLOCK:,}")
        text = text[:LONGEST_BLOCK] + CUT.format(LONGEST_BLOCK, len(text))
    return f"# {name}\n\n{text}" if text else ""
