"""Mending what stands around the messages: conversations and sessions, views and what they show."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from secrets import token_bytes

from host.store.sqlite.care.look import FAR, entries_in, is_message_text
from host.store.sqlite.views import unfolded

VIEWS = """
SELECT v.id, v.conversation, v.version, v.entries, v.undoes, c.name
FROM views v
JOIN conversations c ON c.id = v.conversation
ORDER BY v.conversation, v.version
"""
MADE = "INSERT OR IGNORE INTO made (id, conversation, kind, content) VALUES (?, ?, 'summary', ?)"
Position = tuple[int, int]
"""Number of a conversation and position in it."""


def mend_conversations(target: sqlite3.Connection) -> Iterator[str]:
    """A conversation of which only messages or sessions are left takes its first session's name, as it had."""
    target.execute(
        "UPDATE sessions SET conversation = (SELECT c.id FROM conversations c WHERE c.name = sessions.name) "
        "WHERE conversation NOT IN (SELECT id FROM conversations) AND name IN (SELECT name FROM conversations)"
    )
    numbers = "SELECT conversation FROM messages UNION SELECT conversation FROM sessions UNION SELECT conversation FROM views"
    for (number,) in target.execute(f"{numbers} EXCEPT SELECT id FROM conversations").fetchall():
        first = target.execute("SELECT name, started FROM sessions WHERE conversation = ? ORDER BY id LIMIT 1", (number,)).fetchone()
        began = target.execute("SELECT coalesce(min(time), 0) FROM messages WHERE conversation = ?", (number,)).fetchone()[0]
        name, created = first or (f"recovered_{number}", began)
        into = "INSERT OR IGNORE INTO conversations (id, name, created) VALUES (?, ?, ?)"
        if not target.execute(into, (number, name, created)).rowcount:
            target.execute(into, (number, f"recovered_{number}", created))
        if first is None:
            yield f"the name of a conversation is lost: it is called {name} now"


def mend_far(target: sqlite3.Connection, most: int) -> Iterator[str]:
    """What names positions that no conversation can have reached says nothing; it would make as many holes."""
    for table, column in (("segments", "first"), ("tombstones", "position"), ("views", "upto"), ("pins", "position")):
        gone = target.execute(f"DELETE FROM {table} WHERE {column} NOT BETWEEN 0 AND ?", (most,)).rowcount
        if gone:
            yield f"table {table}: {gone:,} rows are gone, for they named positions that cannot be"


def mend_sessions(target: sqlite3.Connection) -> None:
    """Every position belongs to a session, whose parent is there or not named."""
    for number, name, created in target.execute("SELECT id, name, created FROM conversations").fetchall():
        if target.execute("SELECT 1 FROM sessions WHERE conversation = ?", (number,)).fetchone() is None:
            into = "INSERT OR IGNORE INTO sessions (name, conversation, started) VALUES (?, ?, ?)"
            if not target.execute(into, (name, number, created)).rowcount:  # another conversation's session has its name
                target.execute(into, (f"recovered_{number}", number, created))
        first = target.execute("SELECT min(id) FROM sessions WHERE conversation = ?", (number,)).fetchone()[0]
        ours = "(SELECT id FROM sessions WHERE conversation = :of)"
        for table in ("segments", "views"):
            target.execute(
                f"UPDATE {table} SET session = :first WHERE conversation = :of AND session NOT IN {ours}", {"first": first, "of": number}
            )
        target.execute(f"UPDATE sessions SET parent = NULL WHERE conversation = :of AND parent NOT IN {ours}", {"of": number})
        _mend_segments(target, number, first)


def _mend_segments(target: sqlite3.Connection, number: int, session: int) -> None:
    """Segments rise, and the first one begins at position 1."""
    reached = 0
    for segment, first in target.execute("SELECT id, first FROM segments WHERE conversation = ? ORDER BY id", (number,)).fetchall():
        if first < max(reached, 1):
            target.execute("DELETE FROM segments WHERE id = ?", (segment,))
        reached = max(reached, first)
    began = target.execute("SELECT first FROM segments WHERE conversation = ? ORDER BY id LIMIT 1", (number,)).fetchone()
    if began is None or began[0] > 1:  # below all others: of two segments the one with the higher id counts
        before = "(SELECT min(0, coalesce(min(id), 0)) - 1 FROM segments)"
        target.execute(f"INSERT INTO segments (id, conversation, first, session) VALUES ({before}, ?, 1, ?)", (number, session))


def mend_views(target: sqlite3.Connection, most: int, notes: list[str]) -> Iterator[str]:
    """Views show what is there; a version that cannot be read goes. Yields the versions that are missing."""
    seen: dict[int, int] = {}
    for number, conversation, version, entries, undoes, name in target.execute(VIEWS).fetchall():
        try:
            shown = list(unfolded(entries_in(entries, most)))
        except (ValueError, TypeError):
            target.execute("DELETE FROM views WHERE id = ?", (number,))
            notes.append(f"{name} view {version} is gone: its entries could not be read")
            continue
        if not 0 < version - seen.get(conversation, 0) <= FAR:
            target.execute("DELETE FROM views WHERE id = ?", (number,))
            notes.append(f"a view of {name} is gone: its version cannot be {version}")
            continue
        yield from (f"{name} {missing}" for missing in range(seen.get(conversation, 0) + 1, version))
        seen[conversation] = version
        if undoes is not None and not 0 < undoes < version:
            target.execute("UPDATE views SET undoes = NULL WHERE id = ?", (number,))
        for made in (made for _, made in shown if made):
            target.execute(MADE, (made, conversation, token_bytes(32)))


def mend_made(target: sqlite3.Connection) -> Iterator[str]:
    """Made messages can be read and cover what is there, each row once in a view."""
    lengths = dict(target.execute("SELECT conversation, max(position) FROM messages GROUP BY conversation").fetchall())
    covers: dict[int, list[tuple[int, int]]] = {}
    lost: list[int] = []
    for number, conversation, text, body in target.execute("SELECT id, conversation, covers, body FROM made").fetchall():
        if (spans := _spans(text, lengths.get(conversation, 0))) is None:
            target.execute("UPDATE made SET covers = '[]' WHERE id = ?", (number,))
            yield f"made message {number} covers nothing now: what it covered cannot be read"
        covers[number] = spans or []
        if body is not None and not is_message_text(body):
            target.execute("UPDATE made SET body = NULL, content = ? WHERE id = ?", (token_bytes(32), number))
            lost.append(number)
    if lost:
        yield f"the texts of summaries are lost (made messages {', '.join(map(str, lost))})"
    for (entries,) in target.execute("SELECT entries FROM views ORDER BY conversation, version").fetchall():
        for number in _overlapping([made for _, made in unfolded(json.loads(entries)) if made], covers):
            covers[number] = []
            target.execute("UPDATE made SET covers = '[]' WHERE id = ?", (number,))
            yield f"made message {number} covers nothing now: another one of its view covers the same"


def _overlapping(made: list[int], covers: dict[int, list[tuple[int, int]]]) -> list[int]:
    """The made messages that cover what others before them do."""
    spans = sorted((first, stop, number) for number in made for first, stop in covers.get(number, ()))
    reached, found = 0, []
    for first, stop, number in spans:
        if first < reached:
            found.append(number)
        reached = max(reached, stop)
    return found


def _spans(text: str, last: int) -> list[tuple[int, int]] | None:
    try:
        spans = [(int(first), int(stop)) for first, stop in json.loads(text)]
    except (ValueError, TypeError):
        return None
    return spans if all(0 < first < stop <= last + 1 for first, stop in spans) else None


def shown_in(target: sqlite3.Connection) -> Iterator[Position]:
    """The positions that views show."""
    for conversation, entries in target.execute("SELECT conversation, entries FROM views"):
        yield from ((conversation, position) for position, _ in unfolded(json.loads(entries)))
