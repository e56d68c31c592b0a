"""Which deliveries of a platform are in the archive: one that comes again, after a crash on either side, is not kept again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from host.loop.events import Ending
from host.messages.reading import text_of
from host.messages.types import Message
from host.store.protocols import Archive, Sessions
from host.store.values import Row, Session

SETTING = "delivered"
REMEMBERED = 64  # of the newest deliveries of a session
ELSEWHERE = 0  # the position of what is not among the rows: a command, or a message of an earlier conversation


@dataclass(frozen=True)
class Delivered:
    """A delivery that came before; ``answer`` is what was said to it. ``is_open``: it may wait for an answer still.

    ``ending`` is how the turn ended (host.loop.events.Ending): of one that was interrupted there may be half an answer.
    """

    answer: Message | None
    is_open: bool
    ending: str = Ending.ANSWERED


class Entry(NamedTuple):
    """A note of a delivery: its name, the position at or behind which it was kept, and how its turn ended."""

    name: str
    position: int
    ending: str = Ending.ANSWERED


def named(delivery: str, text: str) -> str:
    """The delivery with a mark of its text: a message that its user edited has the same id, and is another message."""
    return f"{delivery}:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def expected(sessions: Sessions, session: Session, name: str, position: int) -> None:
    """Write down that a delivery is about to be archived at this position, or behind it.

    Written before the message is: a process that dies between the two leaves a note without a message, which harms nobody.
    """
    known = [entry for entry in _entries(session) if entry.name != name]
    sessions.set(session.id, **{SETTING: [*known, Entry(name, position)][-REMEMBERED:]})


def ended(sessions: Sessions, session: Session, name: str, ending: str) -> None:
    """Write down how the turn of a delivery ended, where that was not with an answer."""
    sessions.set(session.id, **{SETTING: [e._replace(ending=str(ending)) if e.name == name else e for e in _entries(session)]})


def carried(session: Session) -> list[Entry]:
    """The notes for the conversation after this one: what was delivered before it begins is not delivered to it."""
    return [entry._replace(position=ELSEWHERE) for entry in _entries(session)]


def found(session: Session, archive: Archive, name: str, text: str) -> Delivered | None:
    """The delivery where it came before, with the answer to it; None where it is new, or died before it was kept."""
    entries = _entries(session)
    at = next((index for index, entry in enumerate(entries) if entry.name == name), None)
    if at is None:
        return None
    entry = entries[at]
    if entry.position == ELSEWHERE:
        return Delivered(None, is_open=False)
    after = next((later.position for later in entries[at + 1 :] if later.position != ELSEWHERE), None)
    delivered = _among(list(archive.rows(entry.position)), text, after)
    return replace(delivered, ending=entry.ending) if delivered is not None else None


def question(text: str) -> Message:
    """An inbound text as a message."""
    return {"role": "user", "content": text}


def _among(rows: list[Row], text: str, after: int | None) -> Delivered | None:
    """The message with this text before the position ``after``, where the next delivery was expected. An erased one was there too."""
    own = [row for row in rows if row.role == "user" and (after is None or row.position < after)]
    asked = next((row for row in own if row.message == question(text)), None)
    if asked is None:
        return Delivered(None, is_open=False) if any(row.message is None for row in own) else None
    answer = _answer([row for row in rows if row.position > asked.position])
    return Delivered(answer, is_open=answer is None)


def _answer(rows: Iterable[Row]) -> Message | None:
    """The last words of the model before the user's next."""
    answer: Message | None = None
    for row in rows:
        if row.role == "user":
            break
        if row.role == "assistant":
            is_final = row.message is not None and text_of(row.message).strip() and not row.message.get("tool_calls")
            answer = row.message if is_final else None
    return answer


def _entries(session: Session) -> list[Entry]:
    """What is written down, as far as it makes sense: settings may be written by hand."""
    written = session.settings.get(SETTING)
    return [entry for each in written if (entry := _entry(each)) is not None] if isinstance(written, list) else []


def _entry(written: object) -> Entry | None:
    if not isinstance(written, list | tuple):
        return None
    match written:
        case [str(name), int(position), *ending] if type(position) is int and position >= 0 and len(ending) < 2:
            return Entry(name, position, *map(str, ending))
    return None
