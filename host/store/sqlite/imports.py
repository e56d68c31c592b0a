"""Recordings of other clients in the archive, and how far each file was read (protocol Imports)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from host.messages.types import JSON, Message
from host.store.kept import erased as note_for
from host.store.readings import Chapter, Placed, Reading, Told
from host.store.spelling import spelled
from host.store.sqlite.archive import SqliteArchive
from host.store.sqlite.bodies import message_in
from host.store.sqlite.chapter_rows import ChapterRow, row_of
from host.store.sqlite.chapter_writing import Writing, end_before_all, is_erased, newest
from host.store.sqlite.connection import Connection
from host.store.sqlite.recorded_facts import tell_about, untitled, without_title
from host.store.sqlite.recorded_views import RecordedViews
from host.store.sqlite.refusing import Erased
from host.store.sqlite.remembered import keys_in, reading_of, remember, stamps
from host.store.sqlite.searching import SqliteSearch

DELETED = "its conversation was deleted"
GROWS = "assistant"  # the role of what is asked for by its key: an answer that came in pieces
OF_FILE = """
SELECT c.name, CAST(h.keys AS BLOB), c.id
FROM chapters h
JOIN readings r ON r.id = h.reading
LEFT JOIN conversations c ON c.id = h.conversation
WHERE r.file = ?
"""


class SqliteImports:
    """What was imported into one archive."""

    def __init__(self, connection: Connection, key: bytes, search: SqliteSearch) -> None:
        self._connection = connection
        self._key = key
        self._search = search

    def reading(self, file: str) -> Reading | None:
        """How far a file was read; None where it never was."""
        with self._connection.snapshot() as connection:
            return reading_of(connection, file)

    def readings(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file that was read, by its path as ``spelled`` spells it."""
        with self._connection.reading() as connection:
            return stamps(connection)

    def conversation(self, file: str, chain: str) -> str | None:
        """Which conversation a chain of a file went into; None where there is none, or where it was deleted since."""
        found: str | None = self._connection.value(f"{OF_FILE} AND h.chain = ?", (spelled(file), spelled(chain)))
        return found

    def deleted(self, file: str) -> bool:
        """Whether everything that was read from a file was deleted since."""
        found = self._connection.rows(OF_FILE, (spelled(file),))
        return bool(found) and all(name is None for name, *_ in found)

    def recorded(self, file: str, chain: str, key: str) -> Message | None:
        """One of the newest messages of a chain, by its key; where it was erased a note in its place."""
        with self._connection.snapshot() as connection:
            found = connection.execute(f"{OF_FILE} AND h.chain = ?", (spelled(file), spelled(chain))).fetchone()
            place = (keys_in(found[1]) or {}).get(spelled(key)) if found else None
            if place is None:
                return None
            if is_erased(Erased(connection, self._key), found[2], place):
                return note_for(GROWS)
            return newest(connection, found[2], place, message_in)

    def keep(
        self, reading: Reading, chapters: Sequence[Chapter], *, expected: int, history: bool = False, patience: float | None = None
    ) -> list[Placed]:
        """Archive chapters and remember how far the file was read, in one transaction."""
        with self._connection.writing(patience=patience) as connection:
            number, erased = remember(connection, reading, expected), Erased(connection, self._key)
            rows = ((row_of(connection, number, reading.client, chapter), chapter) for chapter in chapters)
            return [self._kept(connection, row, reading.client, chapter, erased, history=history) for row, chapter in rows]

    def _kept(
        self, connection: sqlite3.Connection, row: ChapterRow, client: str, chapter: Chapter, erased: Erased, *, history: bool
    ) -> Placed:
        if row.name is None:
            nowhere = dict.fromkeys(range(len(chapter.entries)), DELETED)
            return Placed(chapter.chain, "", (None,) * len(chapter.entries), nowhere)
        archive = SqliteArchive(self._connection, row.name, self._key, self._search)
        views = RecordedViews(self._connection, row.name, client)
        writing = Writing(archive, views, connection, client, row.conversation, row.keys, erased)
        if row.is_new and history:
            writing.end = end_before_all(connection, sum(isinstance(entry, Told) for entry in chapter.entries))
        positions = tuple(writing.add(index, entry) for index, entry in enumerate(chapter.entries))
        connection.execute("UPDATE chapters SET keys = ? WHERE id = ?", (json.dumps(writing.keys), row.number))
        tell_about(connection, row.conversation, _tellable(chapter.about, writing))
        return Placed(chapter.chain, row.name, positions, writing.refused, row.is_new)


def _tellable(about: JSON, writing: Writing) -> JSON:
    """What is known of a recording, without a title where that may be a piece of what was erased."""
    if writing.erased.was_in(writing.conversation):
        return untitled(about)
    return without_title(about) if writing.has_refused_erased else about
