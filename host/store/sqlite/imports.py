"""Recordings of other clients in the archive, and how far each file was read (protocol Imports)."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from host.errors import NotStorable, Outrun
from host.messages.types import JSON, Message
from host.store.readings import Chapter, Entry, Placed, Reading
from host.store.sqlite.archive import End, SqliteArchive
from host.store.sqlite.bodies import Unreadable, message_in, whole
from host.store.sqlite.connection import Connection
from host.store.sqlite.recorded_views import RecordedViews
from host.store.sqlite.refusing import Erased, was_deleted, without_erased
from host.store.sqlite.schema import LOWEST_ID
from host.store.sqlite.searching import SqliteSearch
from host.store.sqlite.sessions import begin_session, free_name
from host.store.times import to_microseconds
from host.store.values import FIRST_ID

WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{3,99}")
KEYS = 400  # of the newest messages of a chain: an answer may still grow, a prompt be taken back
FIRST_COUNTS = frozenset({"working_directory", "file"})  # of ``about``: what was recorded first stays
OF_A_SESSION = ("session", "side_chain_of")  # of ``about``: the client's own id of it, which no other has
DELETED = "its conversation was deleted"
FORGOTTEN = "its content was erased with `ctxhost archive forget`"
NOWHERE = 0  # the number of a conversation that was deleted, for a chapter that never had it; and the position of what was erased
NEWEST = """
SELECT body, cuts
FROM (
  SELECT position, body, cuts FROM messages WHERE conversation = :of AND position = :place
  UNION ALL
  SELECT position, body, cuts FROM messages WHERE conversation = :of AND place = :place
)
ORDER BY position DESC
LIMIT 1
"""
LOWEST = f"""
SELECT min(coalesce((SELECT min(id) FROM messages), {FIRST_ID + 1}),
           coalesce((SELECT value FROM store WHERE key = '{LOWEST_ID}'), {FIRST_ID + 1}), {FIRST_ID + 1})
"""
OF_FILE = """
SELECT c.name, h.id, h.keys, c.id
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
        asked = "SELECT client, size, mtime, offset, line, mark, state FROM readings WHERE file = ?"
        found = self._connection.rows(asked, (named(file),))
        for client, size, mtime, offset, line, mark, state in found:
            return Reading(file, client, size, mtime, offset, line, mark, json.loads(state))
        return None

    def readings(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file that was read, by its path as ``named`` spells it."""
        return {file: (size, mtime) for file, size, mtime in self._connection.rows("SELECT file, size, mtime FROM readings")}

    def conversation(self, file: str, chain: str) -> str | None:
        """Which conversation a chain of a file went into; None where there is none, or where it was deleted since."""
        found: str | None = self._connection.value(f"{OF_FILE} AND h.chain = ?", (named(file), named(chain)))
        return found

    def deleted(self, file: str) -> bool:
        """Whether everything that was read from a file was deleted since."""
        found = self._connection.rows(OF_FILE, (named(file),))
        return bool(found) and all(name is None for name, *_ in found)

    def recorded(self, file: str, chain: str, key: str) -> Message | None:
        """One of the newest messages of a chain, by its key."""
        with self._connection.snapshot() as connection:
            found = connection.execute(f"{OF_FILE} AND h.chain = ?", (named(file), named(chain))).fetchone()
            position = json.loads(found[2]).get(named(key)) if found else None
            return _newest(connection, found[3], position) if position is not None else None

    def keep(
        self, reading: Reading, chapters: Sequence[Chapter], *, expected: int, history: bool = False, patience: float | None = None
    ) -> list[Placed]:
        """Archive chapters and remember how far the file was read, in one transaction."""
        with self._connection.writing(patience=patience) as connection:
            number, erased = _noted(connection, reading, expected), Erased(connection, self._key)
            return [self._kept(connection, number, reading, chapter, erased, history=history) for chapter in chapters]

    def _kept(
        self, connection: sqlite3.Connection, reading: int, of: Reading, chapter: Chapter, erased: Erased, *, history: bool
    ) -> Placed:
        known = _known(connection, reading, chapter) or _begun(connection, reading, of, chapter)
        if known.name is None:
            nowhere = dict.fromkeys(range(len(chapter.entries)), DELETED)
            return Placed(chapter.chain, "", (None,) * len(chapter.entries), nowhere)
        archive = SqliteArchive(self._connection, known.name, self._key, self._search)
        views = RecordedViews(self._connection, known.name, of.client)
        writing = _Writing(archive, views, connection, known.conversation, known.keys, erased)
        if known.is_new and history:
            writing.end = _before_all(connection, sum(entry.message is not None for entry in chapter.entries))
        positions = tuple(writing.add(index, entry) for index, entry in enumerate(chapter.entries))
        newest = dict(islice(writing.keys.items(), max(len(writing.keys) - KEYS, 0), None))
        connection.execute("UPDATE chapters SET keys = ? WHERE id = ?", (json.dumps(newest), known.number))
        _tell_about(connection, known.conversation, chapter.about, writing.erased_now)
        return Placed(chapter.chain, known.name, positions, writing.refused, known.is_new)


@dataclass(frozen=True)
class _Chapter:
    """A row of the table with the conversation that it is about; ``name`` is None where that was deleted."""

    number: int
    keys: dict[str, int]
    conversation: int
    name: str | None
    is_new: bool = False  # the conversation, with the chapter


@dataclass
class _Writing:
    """One chapter while it is written."""

    archive: SqliteArchive
    views: RecordedViews
    connection: sqlite3.Connection
    conversation: int
    keys: dict[str, int]
    erased: Erased
    end: End | None = None
    refused: dict[int, str] = field(default_factory=dict)
    erased_now: list[Message] = field(default_factory=list)  # that were told again

    def add(self, index: int, entry: Entry) -> int | None:
        """Keep an entry; the position where it went, the one of its first version where it is a new one."""
        key = named(entry.key)
        if entry.message is None:
            if place := self.keys.get(key):
                self.views.take_back(place)
            return None
        position = self._inserted(index, entry, entry.message, self.keys.get(key)) if entry.at is None else self._place_of(entry.at)
        if position is not None:
            self.keys.setdefault(key, position)
        return position or None

    def _inserted(self, index: int, entry: Entry, message: Message, replaces: int | None) -> int | None:
        try:
            body = self.archive.bytes_of(message)
        except NotStorable as error:
            self.refused[index] = str(error).splitlines()[0]
            return None
        if replaces is not None and _newest_bytes(self.connection, self.conversation, replaces) == body:
            return replaces
        if self._is_erased(message, replaces):
            self.refused[index] = FORGOTTEN
            self.erased_now.append(message)
            return NOWHERE
        before = self.end or replace(self.archive.end_of(self.connection), has_tombstones=False)  # they were asked for above
        self.end = self.archive.kept(self.connection, before, message, body, replaces, to_microseconds(entry.time))
        if entry.compaction:
            self.views.compact(self.end.position, replaces or self.end.position, message, entry.time)
        return replaces or self.end.position

    def _is_erased(self, message: Message, replaces: int | None) -> bool:
        if replaces is not None and (replaces == NOWHERE or self.erased.is_buried(self.conversation, replaces)):
            return True
        return self.erased.holds(message)

    def _place_of(self, position: int) -> int | None:
        asked = "SELECT coalesce(place, position) FROM messages WHERE conversation = ? AND position = ?"
        found = self.connection.execute(asked, (self.conversation, position)).fetchone()
        return found[0] if found else None


def named(name: str) -> str:
    """A path, chain or key as the tables hold it: names that are no text are spelled out."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _noted(connection: sqlite3.Connection, reading: Reading, expected: int) -> int:
    """Remember how far a file was read; Outrun where another reader was there first."""
    file = named(reading.file)
    found = connection.execute("SELECT id, offset FROM readings WHERE file = ?", (file,)).fetchone()
    if (found[1] if found else 0) != expected:
        raise Outrun(
            f"{reading.file} was read from byte {found[1] if found else 0} on, byte {expected} was expected", what="nothing was kept"
        )
    values = (reading.client, reading.size, reading.mtime, reading.offset, reading.line, reading.check, json.dumps(reading.state), file)
    if found is None:
        asked = "INSERT INTO readings (client, size, mtime, offset, line, mark, state, file) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        return connection.execute(asked, values).lastrowid or 0
    asked = "UPDATE readings SET client = ?, size = ?, mtime = ?, offset = ?, line = ?, mark = ?, state = ? WHERE file = ?"
    connection.execute(asked, values)
    return int(found[0])


def _known(connection: sqlite3.Connection, reading: int, chapter: Chapter) -> _Chapter | None:
    """A chapter of which something was read before."""
    found = connection.execute(
        "SELECT h.id, h.keys, h.conversation, c.name FROM chapters h LEFT JOIN conversations c ON c.id = h.conversation "
        "WHERE h.reading = ? AND h.chain = ?",
        (reading, named(chapter.chain)),
    ).fetchone()
    return _Chapter(found[0], json.loads(found[1]), found[2], found[3]) if found else None


def _begun(connection: sqlite3.Connection, reading: int, of: Reading, chapter: Chapter) -> _Chapter:
    """A new chapter.

    A session that another file of the same client brought is taken: that is a copy of it, or what came before it. Where that
    was deleted it is not begun again.
    """
    source = named(of.client)
    known = connection.execute(
        "SELECT s.conversation, c.name FROM sessions s JOIN conversations c ON c.id = s.conversation WHERE s.name = ? AND s.source = ?",
        (named(chapter.name), source),
    ).fetchone()
    is_of_a_session = any(chapter.about.get(key) for key in OF_A_SESSION)
    if known is None and is_of_a_session and was_deleted(connection, named(chapter.name)):
        known = (NOWHERE, None)
    conversation, name = known or _begin_conversation(connection, source, chapter)
    number = connection.execute(
        "INSERT INTO chapters (reading, chain, conversation) VALUES (?, ?, ?)", (reading, named(chapter.chain), conversation)
    ).lastrowid
    return _Chapter(number or 0, {}, conversation, name, is_new=known is None)


def _begin_conversation(connection: sqlite3.Connection, source: str, chapter: Chapter) -> tuple[int, str]:
    wanted = chapter.name
    is_taken = connection.execute(
        "SELECT 1 FROM sessions WHERE name = :name UNION SELECT 1 FROM conversations WHERE name = :name", {"name": named(wanted)}
    ).fetchone()
    name = wanted if WELL_FORMED.fullmatch(wanted) and not is_taken else free_name(connection)
    started = min((to_microseconds(entry.time) for entry in chapter.entries if entry.message is not None), default=to_microseconds(None))
    number = connection.execute("INSERT INTO conversations (name, created) VALUES (?, ?)", (name, started)).lastrowid or 0
    begin_session(connection, (name, number, None, None, source, started, "{}", json.dumps(chapter.about)), number, first=1)
    return number, name


def _before_all(connection: sqlite3.Connection, count: int) -> End | None:
    """An end whose next rows have ids before all others; None where there is no room left, and they come behind all others."""
    lowest = connection.execute(LOWEST).fetchone()[0] - count
    if lowest < 1 or not count:
        return None
    connection.execute("INSERT OR REPLACE INTO store (key, value) VALUES (?, ?)", (LOWEST_ID, lowest))
    return End(lowest - 1, 0, b"", False, 0, 0)


def _tell_about(connection: sqlite3.Connection, conversation: int, about: JSON, refused: Sequence[Message]) -> None:
    """Add what is known of a recording by now; the working directory stays the one that was recorded first."""
    number, held = connection.execute(
        "SELECT id, about FROM sessions WHERE conversation = ? ORDER BY id LIMIT 1", (conversation,)
    ).fetchone()
    before = json.loads(held)
    told = {key: value for key, value in about.items() if key not in FIRST_COUNTS or key not in before}
    after = {**before, **without_erased(told, before, refused)}
    if after != before:
        connection.execute("UPDATE sessions SET about = ? WHERE id = ?", (json.dumps(after), number))


def _newest(connection: sqlite3.Connection, conversation: int, place: int) -> Message | None:
    found = connection.execute(NEWEST, {"of": conversation, "place": place}).fetchone()
    try:
        return message_in(connection, *found) if found and found[0] is not None else None
    except Unreadable:
        return None


def _newest_bytes(connection: sqlite3.Connection, conversation: int, place: int) -> bytes | None:
    found = connection.execute(NEWEST, {"of": conversation, "place": place}).fetchone()
    try:
        return whole(connection, *found) if found and found[0] is not None else None
    except (KeyError, ValueError, TypeError):  # damaged: what is told now is another version
        return None
