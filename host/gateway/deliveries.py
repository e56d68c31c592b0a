"""Which deliveries of a platform are in the archive: one that comes again, after a crash on either side, is not kept again."""

from __future__ import annotations

from dataclasses import dataclass

from host.messages.reading import text_of
from host.messages.types import Message
from host.store.protocols import Archive, Sessions
from host.store.values import Session

SETTING = "delivered"
REMEMBERED = 64  # of the newest deliveries of a session


@dataclass(frozen=True)
class Delivered:
    """Where a delivery stands in the archive; ``answer`` is what was said to it, None where nothing was yet."""

    position: int
    answer: Message | None


def expected(sessions: Sessions, session: Session, delivery: str, position: int) -> None:
    """Write down that a delivery is about to be archived at this position, or behind it.

    Written before the message is: a process that dies between the two leaves a note without a message, which harms nobody.
    """
    known = [entry for entry in _entries(session) if entry[0] != delivery]
    sessions.set(session.id, **{SETTING: [*known, [delivery, position]][-REMEMBERED:]})


def found(session: Session, archive: Archive, delivery: str, text: str) -> Delivered | None:
    """The delivery where it is in the archive, with the answer to it."""
    start = next((position for known, position in reversed(_entries(session)) if known == delivery), None)
    if not delivery or start is None:
        return None
    rows = [row for row in archive.rows(start) if row.message is not None]
    asked = next((index for index, row in enumerate(rows) if row.role == "user" and row.message == question(text)), None)
    if asked is None:
        return None
    answer: Message | None = None
    for row in rows[asked + 1 :]:
        if row.role == "user":
            break
        if row.role == "assistant" and row.message is not None:
            answer = row.message if text_of(row.message).strip() and not row.message.get("tool_calls") else None
    return Delivered(rows[asked].position, answer)


def question(text: str) -> Message:
    """An inbound text as a message."""
    return {"role": "user", "content": text}


def _entries(session: Session) -> list[tuple[str, int]]:
    """What is written down, as far as it makes sense: settings may be written by hand."""
    entries = session.settings.get(SETTING)
    pairs = [entry for entry in entries if isinstance(entry, list) and len(entry) == 2] if isinstance(entries, list) else []
    return [(known, position) for known, position in pairs if isinstance(known, str) and isinstance(position, int)]
