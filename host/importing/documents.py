"""Files of messages that are read whole: what is new in them is told by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from host.formats.feeds import FEEDS
from host.formats.source import Source
from host.formats.table import FORMATS, drafts
from host.formats.transcript import Draft
from host.importing.binding import Binding
from host.importing.lines import check_at
from host.importing.places import RecordedFile
from host.importing.values import Damage, Imported
from host.messages.canonical import identity
from host.messages.types import JSON, Message
from host.store.protocols import FileStore
from host.store.readings import Entry, Reading

DOCUMENTS = tuple(known for known in FORMATS if known.name not in FEEDS)
TIMES = ("timestamp", "created_at")
SECOND_OF_YEAR_5138 = 100_000_000_000  # a larger number counts milliseconds


def keep_document(store: FileStore, file: RecordedFile, source: Source, remembered: Reading | None, *, history: bool) -> Imported:
    """Keep what is new of a file of conversations, in one transaction.

    Raises NotAConversation where no reader knows it, DamagedLine where it breaks off, Outrun where another process was quicker.
    """
    status = source.file.stat()
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    format, found = drafts(source, DOCUMENTS)
    binding = Binding(store, file, format, again=remembered is not None)
    chains = {draft.title: list(entries_of(draft.messages, modified)) for draft in found}
    chapters = binding.chapters(chains, {draft.title: _about(draft, file.path) for draft in found})
    with source.file.open("rb") as opened:
        check = check_at(opened, status.st_size)
    reading = Reading(file.name, format, status.st_size, status.st_mtime_ns, status.st_size, 0, check)
    kept = binding.keep(reading, chapters, expected=remembered.offset if remembered is not None else 0, history=history)
    return kept + _read(file, source, status.st_size)


def entries_of(messages: list[Message], otherwise: datetime) -> Iterator[Entry]:
    """Messages by content and occurrence, each with the time that it carries, or that of its file."""
    seen: Counter[bytes] = Counter()
    for message in messages:
        content = identity(message)
        seen[content] += 1
        yield Entry(f"{content.hex()}:{seen[content]}", message, time_of(message) or otherwise)


def time_of(message: Message) -> datetime | None:
    """When a message says it was said: ISO 8601, or seconds or milliseconds since 1970."""
    for key in TIMES:
        if (moment := _moment(message.get(key))) is not None:
            return moment
    return None


def _moment(value: object) -> datetime | None:
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > SECOND_OF_YEAR_5138 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def _about(draft: Draft, path: Path) -> JSON:
    name = "-".join(filter(None, (path.stem, draft.title)))
    told = {"title": draft.title, "model": draft.model}
    return {"name": name, **{key: value for key, value in told.items() if value}}


def _read(file: RecordedFile, source: Source, size: int) -> Imported:
    """The lines that were passed over; a last one without an end is still being written."""
    damaged = dict(source.damaged)
    last = max(damaged, default=0)
    is_unfinished = bool(last) and _is_open_end(source.file, last)
    if is_unfinished:
        del damaged[last]
    lines = tuple(Damage(file.shown, number, why) for number, why in sorted(damaged.items()))
    return Imported(damaged=lines, unfinished=int(is_unfinished), bytes=size)


def _is_open_end(file: Path, line: int) -> bool:
    """Whether a line is the last of a file, and has no end."""
    with file.open("rb") as opened:
        number = 0
        for number, raw in enumerate(opened, start=1):
            if number == line:
                return not raw.endswith(b"\n")
    return False
