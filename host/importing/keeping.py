"""What is new of one file, kept portion by portion: whatever reader it needs, whoever else reads it."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any

from host.errors import CtxhostError, DamagedLine, FormatError, NotAConversation, Outrun, UsageError
from host.formats.feeds import FEEDS, FeedFormat, feed_format_of
from host.formats.found import json_kind
from host.formats.source import Source, open_source
from host.importing.documents import DOCUMENTS, keep_document
from host.importing.places import OPENAI, RecordedFile
from host.importing.recording import Recording, portions
from host.importing.values import Damage, Imported, Pace, Trouble
from host.store.protocols import FileStore

ATTEMPTS = 5  # to go on where another process is reading the same file


def kept_of(store: FileStore, file: RecordedFile, pace: Pace) -> Generator[Imported, None, None]:
    """Keep what is new of a file, each portion in a transaction of its own, and say what each brought.

    A file that cannot be read, or holds something else, is said too. Outrun where others are quicker all the time.
    """
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            yield from _kept(store, file, pace)
            return
        except Outrun:
            if not attempts_left:
                raise
        except (CtxhostError, OSError) as error:
            yield _fault(file, error)
            return


def refuse_foreign(file: RecordedFile) -> None:
    """Raise NotAConversation for a file that no reader knows, or not the one of its client.

    What is damaged in a file that is known is told when it is read.
    """
    with suppress(DamagedLine), open_source(file.path, tolerant=True) as source:
        if not any(recognises(source) for recognises in _readers(file.client)):
            raise NotAConversation(file.path, json_kind(source.document, source.objects))


def _readers(client: str | None) -> list[Callable[[Source], bool]]:
    """What recognises the files of a client; those of all where none is named."""
    feeds = [known.recognises for name, known in FEEDS.items() if client in (None, name)]
    return [*feeds, *(known.recognises for known in DOCUMENTS if client in (None, OPENAI))]


def _fault(file: RecordedFile, error: CtxhostError | OSError) -> Imported:
    """What is said of a file that cannot be read; what the archive cannot do is not the file's fault and travels."""
    told = next((tell for kind, tell in FAULTS.items() if isinstance(error, kind)), None)
    if told is None:
        raise error
    return told(file, error)


def _kept(store: FileStore, file: RecordedFile, pace: Pace) -> Iterator[Imported]:
    if file.client in FEEDS:
        yield from _recorded(store, file, FEEDS[file.client], pace)
        return
    with file.path.open("rb") as opened:
        status = os.fstat(opened.fileno())  # before it is parsed: what is written meanwhile is seen the next time
        with open_source(file.path, tolerant=True) as source:
            feed = feed_format_of(source) if file.client != OPENAI else None
            if feed is None:
                yield keep_document(store, file, source, opened, status, pace)
                return
    yield from _recorded(store, file, feed, pace)


def _recorded(store: FileStore, file: RecordedFile, format: FeedFormat, pace: Pace) -> Iterator[Imported]:
    said = Imported()
    with file.path.open("rb") as opened:
        recording = Recording(store, file, format, opened, store.imports.reading(file.name))
        for kept in portions(recording, pace):
            said += kept
            yield kept
    if recording.is_unmatched:
        yield Imported(unmatched=1)
    else:
        yield Imported(read=1) if recording.is_kept else _without_message(file, format, said)


def _without_message(file: RecordedFile, format: FeedFormat, said: Imported) -> Imported:
    """What is told of a file that brought nothing: another client's, or one that holds nothing yet."""
    if file.is_named and not (said.damaged or said.unfinished):
        return Imported(unreadable=(Trouble(file.shown, f"read as {format.name}, it holds no message"),))
    with suppress(FormatError), open_source(file.path, tolerant=True) as source:
        return Imported(empty=1) if format.recognises(source) else Imported(passed_over=1)
    return Imported(passed_over=1) if said.bytes else Imported(empty=1)


def _what_of(file: RecordedFile, error: UsageError) -> str:
    """What is wrong, without the name of the file, which stands before it."""
    return error.what.removeprefix(str(file.path)).lstrip(": ")


FAULTS: dict[type[Exception], Callable[[RecordedFile, Any], Imported]] = {
    NotAConversation: lambda file, error: Imported(passed_over=1),
    DamagedLine: lambda file, error: Imported(damaged=(Damage(file.shown, error.line, error.why),)),
    UsageError: lambda file, error: Imported(unreadable=(Trouble(file.shown, _what_of(file, error)),)),
    OSError: lambda file, error: Imported(unreadable=(Trouble(file.shown, error.strerror or str(error)),)),
}
"""What a file can be like -> what is said of it; the first that fits."""
