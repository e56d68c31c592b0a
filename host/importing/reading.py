"""What is new of one file, kept portion by portion: whatever reader it needs, whoever else reads it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress

from host.errors import CtxhostError, DamagedLine, NotAConversation, Outrun, UsageError
from host.formats.feeds import FEEDS, FeedFormat, feed_format_of
from host.formats.found import json_kind
from host.formats.source import open_source
from host.importing.documents import DOCUMENTS, keep_document
from host.importing.places import OPENAI, RecordedFile
from host.importing.recording import Recording, portions
from host.importing.values import Damage, Enough, Imported, Trouble
from host.store.protocols import FileStore

ATTEMPTS = 5  # to go on where another process is reading the same file


def kept_of(store: FileStore, file: RecordedFile, enough: Enough, *, history: bool = False) -> Generator[Imported, None, None]:
    """Keep what is new of a file, each portion in a transaction of its own, and say what each brought.

    A file that cannot be read, or holds something else, is said too. Outrun where others are quicker all the time.
    """
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            yield from _kept(store, file, enough, history=history)
            yield Imported(read=1)
            return
        except Outrun:
            if not attempts_left:
                raise
        except (CtxhostError, OSError) as error:
            yield _fault(file, error)
            return


def _fault(file: RecordedFile, error: CtxhostError | OSError) -> Imported:
    """What is said of a file that cannot be read; what the archive cannot do is not the file's fault and travels."""
    if isinstance(error, NotAConversation):
        return Imported(passed_over=1)
    if isinstance(error, DamagedLine):
        return Imported(damaged=(Damage(file.shown, error.line, error.why),))
    if isinstance(error, UsageError):
        return Imported(unreadable=(Trouble(file.shown, error.what),))
    if isinstance(error, OSError):
        return Imported(unreadable=(Trouble(file.shown, error.strerror or str(error)),))
    raise error


def refuse_foreign(file: RecordedFile) -> None:
    """Raise NotAConversation for a file that no reader knows; what is damaged in one that is known is told when it is read."""
    if file.client in FEEDS:
        return
    with suppress(DamagedLine), open_source(file.path, tolerant=True) as source:
        if (file.client == OPENAI or feed_format_of(source) is None) and not any(known.recognises(source) for known in DOCUMENTS):
            raise NotAConversation(file.path, json_kind(source.document, source.objects))


def _kept(store: FileStore, file: RecordedFile, enough: Enough, *, history: bool) -> Iterator[Imported]:
    if file.client in FEEDS:
        yield from _recorded(store, file, FEEDS[file.client], enough, history=history)
        return
    with open_source(file.path, tolerant=True) as source:
        feed = feed_format_of(source) if file.client != OPENAI else None
        if feed is None:
            yield keep_document(store, file, source, store.imports.reading(file.name), history=history)
            return
    yield from _recorded(store, file, feed, enough, history=history)


def _recorded(store: FileStore, file: RecordedFile, format: FeedFormat, enough: Enough, *, history: bool) -> Iterator[Imported]:
    with file.path.open("rb") as opened:
        recording = Recording(store, file, format, opened, store.imports.reading(file.name))
        yield from portions(recording, enough, history=history)
