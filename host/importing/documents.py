"""Files of messages that are read whole: what is new in them is told by content."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from host.formats.feeds import FEEDS
from host.formats.source import Source
from host.formats.table import FORMATS, drafts
from host.formats.transcript import Draft
from host.importing.binding import Binding
from host.importing.lines import check_at, goes_on
from host.importing.numbered import Remembered, chains_of, is_numbered
from host.importing.places import RecordedFile
from host.importing.values import Damage, Imported, Pace, Trouble
from host.messages.types import JSON, Message
from host.store.protocols import FileStore
from host.store.readings import Entry, Reading, Told

DOCUMENTS = tuple(known for known in FORMATS if known.name not in FEEDS)
TIMES = ("timestamp", "created_at")
SECOND_OF_YEAR_5138 = 100_000_000_000  # a larger number counts milliseconds


def keep_document(store: FileStore, file: RecordedFile, source: Source, opened: BinaryIO, status: os.stat_result, pace: Pace) -> Imported:
    """Keep what is new of a file of conversations, in one transaction. ``status`` is what it was like before it was parsed.

    Raises NotAConversation where no reader knows it, DamagedLine where it breaks off, Outrun where another process was quicker.
    """
    remembered = store.imports.reading(file.name)
    modified = datetime.fromtimestamp(status.st_mtime, UTC)
    format, found = drafts(source, DOCUMENTS)
    said = _read(file, source, status.st_size)
    if not found:
        return said + _without_message(file, format, said)
    numbered = [draft for draft in found if is_numbered(draft.title)]
    before = Remembered.of(remembered, [draft.title for draft in numbered])
    named = iter(_chains(store, file, numbered, before, goes_on=remembered is None or goes_on(opened, remembered)))
    chains = {next(named) if is_numbered(draft.title) else draft.title: draft for draft in found}
    binding = Binding(store, file, format, again=remembered is not None)
    entries = {chain: list(entries_of(draft.messages, modified)) for chain, draft in chains.items()}
    chapters = binding.chapters(entries, {chain: _about(chain, draft, file.path) for chain, draft in chains.items()})
    state = before.followed_by([chain for chain, draft in chains.items() if is_numbered(draft.title)])
    check = check_at(opened, status.st_size)
    reading = Reading(file.name, format, status.st_size, status.st_mtime_ns, status.st_size, 0, check, state)
    return binding.keep(reading, chapters, expected=remembered.offset if remembered is not None else 0, pace=pace) + said + Imported(read=1)


def _chains(store: FileStore, file: RecordedFile, numbered: Sequence[Draft], remembered: Remembered, *, goes_on: bool) -> list[str]:
    """The chains of the conversations without an id: those that they had before, as far as they are the same."""
    titles = [draft.title for draft in numbered]
    if goes_on and remembered.here == titles[: len(remembered.here)]:
        return titles
    chains = [*remembered.here, *remembered.gone]
    names = {chain: name for chain in chains if (name := store.imports.conversation(file.name, chain)) is not None}
    archived = {chain: [row.message for row in store.archive(name).current() if row.message] for chain, name in names.items()}
    return chains_of(titles, [draft.messages for draft in numbered], archived)


def _without_message(file: RecordedFile, format: str, said: Imported) -> Imported:
    if file.is_named and not (said.damaged or said.unfinished):
        return Imported(unreadable=(Trouble(file.shown, f"read as {format}, it holds no message"),))
    return Imported(empty=1)


def entries_of(messages: list[Message], otherwise: datetime) -> Iterator[Entry]:
    """Messages, each with the time that it carries, or that of its file. They have no keys: the next reading compares them all."""
    return (Told(None, message, time_of(message) or otherwise) for message in messages)


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


def _about(chain: str, draft: Draft, path: Path) -> JSON:
    name = "-".join(filter(None, (path.stem, chain)))
    told = {"title": "" if is_numbered(draft.title) else draft.title, "model": draft.model}
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
