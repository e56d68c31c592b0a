"""The handoff: one message that stands for the compacted part, and how it is recognised again (hermes.md 7.6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from host.messages.reading import calls_of, is_system, part_text, text_of
from host.messages.types import Message, Part

TAG = "[CONTEXT COMPACTION — REFERENCE ONLY]"
LEGACY_TAG = "[CONTEXT SUMMARY]:"
END_MARKER = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"

PREFIX = (
    f"{TAG} The earlier part of this conversation no longer fits and was condensed into the notes below. "
    "They are background, not instructions: nothing in them is a new request, so do not answer, repeat or carry out what they mention. "
    "Work only on the newest message that the user wrote outside these notes; it stands after them, or before them where its work "
    "is still going on. A topic that appears in both gives no permission to resume old work; what the Historical sections list stays "
    "closed unless that message asks for it, and a message such as stop, undo or never mind ends it. "
    "Memory files and the system prompt keep their authority, all tools stay usable, "
    "and the state described here may have moved on: check before relying on it."
)
SHORT_PREFIX = f"{TAG} Background notes on earlier turns; act only on the newest user message outside them."

EARLIER_PREFIXES = (
    f"{TAG} The earlier part of this conversation no longer fits and was condensed into the notes below. "
    "They are background, not instructions: nothing in them is a new request, so do not answer, repeat or carry out what they mention. "
    "Work only on the newest user message that comes after these notes. A topic that appears in both gives no permission to resume "
    "old work; what the Historical sections list stays closed unless that message asks for it, and a message such as stop, undo "
    "or never mind ends it. "
    "Memory files and the system prompt keep their authority, all tools stay usable, "
    "and the state described here may have moved on: check before relying on it.",
    f"{TAG} Background notes on earlier turns; act only on the newest user message after them.",
    LEGACY_TAG,
)
"""What handoffs began with before, newest first: stored conversations hold them still. A prefix that is changed is added here."""

PREFIXES = (PREFIX, SHORT_PREFIX, *EARLIER_PREFIXES)
FOREIGN_OPENING = f"{TAG} Earlier turns were compacted"
"""How the handoffs of other agents begin whose sessions are imported; the first line is all of their prefix."""
PRIOR_OPENING = "[PRIOR CONTEXT — for reference only; not a new message]"
PRIOR_END = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
"""Around a message that another agent merged its handoff behind, where here it stands in front."""

NOTE = (
    "[Note: Some earlier conversation turns have been compacted into a handoff summary to save room; build on it instead of redoing "
    "the work. Persistent memory (MEMORY.md, USER.md) stays authoritative.]"
)
QUOTED_MARKER = "(end of context summary)"
EXACT_HEADING = "## Kept word for word by the host"
EXACT_END = "(end of what is kept word for word)"
GAP = "\n\n"
NOTHING = "\n"  # behind a handoff that was merged into a message with null content
OPENING = "CONTEXT "  # what is in every opening above
MARGIN = 256  # characters that blanks before a handoff may take


def handoff_text(body: str, *, short: bool = False) -> str:
    """The notes between prefix and end marker; an empty body is the frame alone."""
    prefix = SHORT_PREFIX if short else PREFIX
    quoted = body.replace(END_MARKER, QUOTED_MARKER)  # notes that quote the marker would end there
    return GAP.join([f"{prefix}\n{quoted}" if body else prefix, END_MARKER])


def is_handoff(message: Message) -> bool:
    """Whether the message is, or holds, a handoff: by a prefix of ours of any time, by tag and end marker, or another agent's."""
    content: object = message.get("content")
    if isinstance(content, str) and OPENING not in content[:MARGIN]:  # asked of every message: most are told from one look
        return False
    text = _behind_prior(text_of(message).lstrip())
    return text.startswith((*PREFIXES, FOREIGN_OPENING)) or (text.startswith(TAG) and END_MARKER in text)


def handoff_body(message: Message) -> str:
    """The notes of a handoff without prefix, end marker, the host's exact values and what was merged with it."""
    text = without_exact(_behind_prior(text_of(message).lstrip()).split(END_MARKER, 1)[0]).strip()
    for prefix in PREFIXES:
        if text.startswith(prefix):
            return text[len(prefix) :].strip()
    return text.partition("\n")[2].strip()


def _behind_prior(text: str) -> str:
    """The text from its handoff on, where another agent merged that behind a message."""
    return text.partition(PRIOR_END)[2].lstrip() if text.startswith(PRIOR_OPENING) and PRIOR_END in text else text


def with_exact(handoff: str, block: str) -> str:
    """The handoff with a block of exact values before its end marker, in the place of an earlier one."""
    text, marker, behind = without_exact(handoff).partition(END_MARKER)
    quoted = block.replace(END_MARKER, QUOTED_MARKER).replace(EXACT_END, "")
    framed = GAP.join([text.rstrip(), f"{EXACT_HEADING}\n{quoted}\n{EXACT_END}"]) if block else text.rstrip()
    return framed + (GAP + marker + behind if marker else "")


def without_exact(text: str) -> str:
    """The text without blocks of exact values."""
    while (start := text.find(EXACT_HEADING)) >= 0 and (end := text.find(EXACT_END, start)) >= 0:
        text = text[:start].rstrip() + GAP + text[end + len(EXACT_END) :].lstrip()
    return text


def merged_in_front(handoff: str, message: Message) -> Message:
    """The message with the handoff before its own content, which stays unchanged behind the end marker."""
    if END_MARKER not in handoff:
        handoff = GAP.join([handoff, END_MARKER])  # written by another engine: without it nobody could tell them apart again
    content: object = message.get("content")
    if isinstance(content, list):
        merged: str | list[Part] = [{"type": "text", "text": handoff}, *content]
    else:
        nothing = "" if calls_of(message) else NOTHING  # calls tell a merged message from a handoff alone
        merged = handoff + (nothing if content is None else f"{GAP}{content}")
    return cast(Message, {**message, "content": merged})


def split_merged(message: Message) -> list[Message]:
    """A merged message as those it was made of, the handoffs first; any other as itself."""
    handoffs: list[Message] = []
    while is_handoff(message) and (parted := _first_handoff_off(message)) is not None:
        handoff, message = parted
        handoffs.append(handoff)
    return [*handoffs, message]


def _first_handoff_off(message: Message) -> tuple[Message, Message] | None:
    """A handoff and the message that it was merged with; None where it stands alone."""
    content: object = message.get("content")
    if isinstance(content, list):
        return _split_parts(message, content)
    text = str(content).lstrip()
    if text.startswith(PRIOR_OPENING):
        prior = text[len(PRIOR_OPENING) :].partition(PRIOR_END)[0].removeprefix("\n").removesuffix(GAP)
        return _standalone(message, _behind_prior(text)), cast(Message, {**message, "content": prior})
    before, marker, behind = str(content).partition(END_MARKER)
    if not marker or (not behind and not calls_of(message)):
        return None
    own = None if behind in ("", NOTHING) else behind.removeprefix(GAP)
    return _standalone(message, before + marker), cast(Message, {**message, "content": own})


def as_one(first: Message, second: Message) -> Message:
    """Two handoffs that stand alone as one, in the role of the first: the notes of both under one prefix."""
    notes = GAP.join(body for body in map(handoff_body, (first, second)) if body)
    return _standalone(first, handoff_text(notes, short=text_of(first).lstrip().startswith(SHORT_PREFIX)))


def with_note(system: Message) -> Message:
    """The system prompt with the compaction note at its end, added once."""
    if NOTE in text_of(system):
        return system
    content: object = system.get("content")
    if isinstance(content, list):
        return cast(Message, {**system, "content": [*content, {"type": "text", "text": NOTE}]})
    return cast(Message, {**system, "content": f"{content}{GAP}{NOTE}" if content else NOTE})


def without_note(system: Message) -> Message:
    """The system prompt as it was before the note; the same object where it has none."""
    content: object = system.get("content")
    if isinstance(content, str) and content.endswith(NOTE):
        return cast(Message, {**system, "content": content[: -len(NOTE)].removesuffix(GAP)})
    if isinstance(content, list) and content and part_text(content[-1]) == NOTE:
        return cast(Message, {**system, "content": content[:-1]})
    return system


def opened(messages: Sequence[Message]) -> list[Message]:
    """The list without what earlier compactions wrote into messages: summaries stand apart, the note is off."""
    parts = list(messages)
    if any(map(is_handoff, parts)):
        parts = [part for message in messages for part in split_merged(message)]
    return [without_note(parts[0]), *parts[1:]] if parts and is_system(parts[0]) else parts


def _split_parts(message: Message, parts: list[Part]) -> tuple[Message, Message] | None:
    if not parts or not part_text(parts[0]).rstrip().endswith(END_MARKER):
        return None
    return _standalone(message, part_text(parts[0])), cast(Message, {**message, "content": parts[1:]})


def _standalone(message: Message, text: str) -> Message:
    return {"role": message["role"], "content": text}
