"""Which conversation a chapter of a recording belongs to."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from host.errors import Outrun
from host.store.readings import Chapter, Told
from host.store.spelling import spelled
from host.store.sqlite.recorded_facts import OF_A_SESSION
from host.store.sqlite.refusing import was_deleted
from host.store.sqlite.remembered import keys_in
from host.store.sqlite.sessions import begin_session, free_name
from host.store.times import to_microseconds

WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{3,99}")
NO_CONVERSATION = 0  # the number of the conversation of a chapter whose session was deleted before it was read
KNOWN = """
SELECT h.id, CAST(h.keys AS BLOB), h.conversation, c.name
FROM chapters h
LEFT JOIN conversations c ON c.id = h.conversation
WHERE h.reading = ? AND h.chain = ?
"""
SESSION = """
SELECT 1
FROM sessions s
JOIN conversations c ON c.id = s.conversation
WHERE s.name = ? AND s.source = ?
"""
TAKEN = "SELECT 1 FROM sessions WHERE name = :name UNION SELECT 1 FROM conversations WHERE name = :name"


@dataclass(frozen=True)
class ChapterRow:
    """A row of the table with the conversation that it is about; ``name`` is None where that was deleted."""

    number: int
    keys: dict[str, int]
    conversation: int
    name: str | None
    is_new: bool = False  # the conversation, with the chapter


def row_of(connection: sqlite3.Connection, reading: int, client: str, chapter: Chapter) -> ChapterRow:
    """The row of a chapter, a new one where nothing of it was read before.

    Outrun where the archive is not as the chapter's reader found it: what it took for new may be there now.
    """
    if chapter.is_anew:
        connection.execute("DELETE FROM chapters WHERE reading = ? AND chain = ?", (reading, spelled(chapter.chain)))
    row = _known(connection, reading, chapter) or _new(connection, reading, client, chapter)
    if chapter.after is not None and row.name is not None:
        asked = "SELECT coalesce(max(position), 0) FROM messages WHERE conversation = ?"
        last = connection.execute(asked, (row.conversation,)).fetchone()[0]
        if last != chapter.after:
            raise _outrun(f"position {last} of {row.name} is there, position {chapter.after} was expected")
    return row


def _known(connection: sqlite3.Connection, reading: int, chapter: Chapter) -> ChapterRow | None:
    """A chapter of which something was read before."""
    found = connection.execute(KNOWN, (reading, spelled(chapter.chain))).fetchone()
    if found is None:
        return None
    number, keys, conversation, name = found
    return ChapterRow(number, keys_in(keys) or {}, conversation, name)


def _new(connection: sqlite3.Connection, reading: int, client: str, chapter: Chapter) -> ChapterRow:
    """A new chapter: it goes on in a conversation, or begins one. A session that was deleted is not begun again."""
    if chapter.conversation is not None:
        conversation, name = _there(connection, chapter.conversation), chapter.conversation
    elif _is_of_a_session(chapter) and was_deleted(connection, spelled(chapter.name)):
        conversation, name = NO_CONVERSATION, None
    elif connection.execute(SESSION, (spelled(chapter.name), spelled(client))).fetchone() is not None:
        raise _outrun(f"the session {spelled(chapter.name)} is there by now")
    else:
        conversation, name = _begin(connection, spelled(client), chapter)
    number = connection.execute(
        "INSERT INTO chapters (reading, chain, conversation) VALUES (?, ?, ?)", (reading, spelled(chapter.chain), conversation)
    ).lastrowid
    is_new = name is not None and chapter.conversation is None
    return ChapterRow(number or 0, {}, conversation, name, is_new)


def _there(connection: sqlite3.Connection, name: str) -> int:
    found = connection.execute("SELECT id FROM conversations WHERE name = ?", (name,)).fetchone()
    if found is None:
        raise _outrun(f"the conversation {name} is gone")
    number: int = found[0]
    return number


def _begin(connection: sqlite3.Connection, source: str, chapter: Chapter) -> tuple[int, str]:
    wanted = chapter.name
    is_taken = connection.execute(TAKEN, {"name": spelled(wanted)}).fetchone()
    name = wanted if WELL_FORMED.fullmatch(wanted) and not is_taken else free_name(connection)
    times = (to_microseconds(entry.time) for entry in chapter.entries if isinstance(entry, Told))
    started = min(times, default=to_microseconds(None))
    number = connection.execute("INSERT INTO conversations (name, created) VALUES (?, ?)", (name, started)).lastrowid or 0
    begin_session(connection, (name, number, None, None, source, started, "{}", "{}"), number, first=1)
    return number, name


def _is_of_a_session(chapter: Chapter) -> bool:
    return any(chapter.about.get(key) for key in OF_A_SESSION)


def _outrun(why: str) -> Outrun:
    return Outrun(why, what="nothing was kept")
