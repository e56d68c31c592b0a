"""The check and the mending of what is remembered of recordings: how far each was read, and where its newest messages are."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from host.store.care import Finding
from host.store.sqlite.care.look import FAR, Look
from host.store.sqlite.remembered import is_position, keys_in
from host.store.sqlite.schema import FIRST_ID

CHAPTERS = "SELECT id, conversation, keys FROM chapters ORDER BY id"
ORPHANS = "SELECT id FROM chapters WHERE reading NOT IN (SELECT id FROM readings)"
TO_COME = """
SELECT id
FROM chapters
WHERE conversation > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'conversations'), 0)
"""
"""Chapters that name a conversation that is still to come: it would be taken for theirs."""
UNREADABLE = "offset < 0 OR line < 0"
LAST = "SELECT id, position FROM messages WHERE conversation = ? ORDER BY position DESC LIMIT 1"
ROOM = """
SELECT max(:first, coalesce((SELECT value FROM store WHERE key = 'head'), 0), coalesce(max(id), 0)) - :last - count(*)
FROM messages
WHERE id > :last
"""
"""How many ids behind one are nobody's, as far as any check has seen."""


def check_chapters(look: Look) -> Iterator[Finding]:
    """Chapters belong to files, and what they name of a conversation is there."""
    look.counts["session files"] = look.connection.execute("SELECT count(*) FROM readings").fetchone()[0]
    for (number,) in look.connection.execute(f"SELECT id FROM readings WHERE {UNREADABLE}").fetchall():
        yield Finding(f"readings {number}", "how far the file was read cannot be right")
    for (number,) in look.connection.execute(ORPHANS).fetchall():
        yield Finding(f"chapters {number}", "the file that it was read from is not named any more")
    for (number,) in look.connection.execute(TO_COME).fetchall():
        yield Finding(f"chapters {number}", "it names a conversation that was never there")
    for number, conversation, text in look.connection.execute(CHAPTERS).fetchall():
        last = look.lengths.get(conversation)
        if (keys := keys_in(text)) is None:
            yield Finding(f"chapters {number}", "its keys name no positions")
            continue
        told = max(keys.values(), default=0)
        if last is not None and told > last:
            yield Finding(f"{look.name_of(conversation)}:{last + 1}", f"rows are gone: position {told} was read from a recording")


def mend_chapters(target: sqlite3.Connection) -> Iterator[str]:
    """Chapters of a file that is not named any more go, and the number of no deleted conversation is given again."""
    target.execute(f"UPDATE readings SET size = -1, offset = 0, line = 0, mark = '', state = '{{}}' WHERE {UNREADABLE}")
    highest = target.execute("SELECT coalesce(max(id), 0) FROM conversations").fetchone()[0]
    gone = target.execute(f"DELETE FROM chapters WHERE id IN ({ORPHANS}) OR conversation NOT BETWEEN 0 AND ?", (highest + FAR,)).rowcount
    if gone:
        yield f"table chapters: {gone:,} rows are gone, for their file or their conversation cannot be told"
    highest = max(highest, target.execute("SELECT coalesce(max(conversation), 0) FROM chapters").fetchone()[0])
    target.execute("DELETE FROM sqlite_sequence WHERE name = 'conversations'")
    target.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('conversations', ?)", (highest,))


def mend_keys(target: sqlite3.Connection) -> Iterator[str]:
    """Keys name positions that are there; what is read on from a recording is told by them from what is new."""
    lengths = dict(target.execute("SELECT conversation, max(position) FROM messages GROUP BY conversation").fetchall())
    for number, conversation, text in target.execute(CHAPTERS).fetchall():
        keys = json.loads(text)
        last = lengths.get(conversation, 0)
        kept = {key: position for key, position in keys.items() if is_position(position) and position <= last}
        if kept != keys:
            target.execute("UPDATE chapters SET keys = ? WHERE id = ?", (json.dumps(kept), number))
            if conversation in lengths:
                yield f"chapters {number}: {len(keys) - len(kept):,} of its keys named no messages and are gone"


def told_by_keys(target: sqlite3.Connection, most: int) -> Iterator[tuple[int, int]]:
    """Conversation and position of the last message that was read from a recording.

    No further than there is room for lost rows behind the last one that is left: damage may have made a number larger.
    """
    for _, conversation, text in target.execute(CHAPTERS).fetchall():
        told = max((position for position in json.loads(text).values() if is_position(position)), default=0)
        row, position = target.execute(LAST, (conversation,)).fetchone() or (None, 0)
        if told > position:
            room = most if row is None else target.execute(ROOM, {"first": FIRST_ID, "last": row}).fetchone()[0]
            yield conversation, min(told, position + room)
