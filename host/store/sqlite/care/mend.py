"""Making a salvaged store whole again: what refers to lost rows gets something to refer to."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from secrets import token_bytes

from host.store.kept import message_of
from host.store.sqlite.bodies import chained, whole
from host.store.sqlite.care.holes import holes_of, resumed_seal
from host.store.sqlite.care.rows import GAPS, HEAD, highest_id
from host.store.sqlite.receipts import as_pairs
from host.store.sqlite.removal import digests_in_use
from host.store.sqlite.schema import FIRST_ID
from host.store.sqlite.views import unfolded

NOTE = b"[lost: the file was damaged and this text could not be salvaged]"
VIEWS = """
SELECT v.id, v.conversation, v.version, v.entries, c.name
FROM views v
JOIN conversations c ON c.id = v.conversation
ORDER BY v.conversation, v.version
"""
MADE = "INSERT OR IGNORE INTO made (id, conversation, kind, content) VALUES (?, ?, 'summary', ?)"
NOBODY = "user"  # the role of a lost message: a window may hold it anywhere
Position = tuple[int, int]
"""Number of a conversation and position in it."""


@dataclass
class Mended:
    """What a repair's receipt says: positions that hold nothing any more and what else is not as it was."""

    lost: list[str] = field(default_factory=list)
    blobs: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=list)
    ids: list[list[int]] = field(default_factory=list)
    resumed: dict[str, str] = field(default_factory=dict)
    is_rekeyed: bool = False  # the key was lost: digests were made anew over what is there


def mend(target: sqlite3.Connection, indexed: Iterable[tuple[int, int, int]]) -> Mended:
    """Fill the holes. ``indexed`` are the messages that the damaged file's index knew."""
    target.execute("DELETE FROM store WHERE key = 'search_index'")
    target.execute("UPDATE messages SET facts = NULL")
    _mend_conversations(target)
    _mend_sessions(target)
    mended = Mended(views=list(_mend_views(target)))
    ids = {(conversation, position): row for conversation, position, row in indexed}
    _fill_positions(target, ids)
    mended.blobs = list(_mend_blobs(target))
    _empty_unreadable(target)
    mended.is_rekeyed = _mend_key(target)
    mended.lost = list(_unexplained(target))
    mended.resumed = dict(_resumed(target))
    mended.ids = as_pairs(list(_lost_ids(target)))
    return mended


def _mend_conversations(target: sqlite3.Connection) -> None:
    """A conversation of which only messages or sessions are left takes its first session's name, as it had."""
    numbers = "SELECT conversation FROM messages UNION SELECT conversation FROM sessions UNION SELECT conversation FROM views"
    for (number,) in target.execute(f"{numbers} EXCEPT SELECT id FROM conversations").fetchall():
        first = target.execute("SELECT name, started FROM sessions WHERE conversation = ? ORDER BY id LIMIT 1", (number,)).fetchone()
        began = target.execute("SELECT coalesce(min(time), 0) FROM messages WHERE conversation = ?", (number,)).fetchone()[0]
        name, created = first or (f"recovered_{number}", began)
        target.execute("INSERT OR IGNORE INTO conversations (id, name, created) VALUES (?, ?, ?)", (number, name, created))


def _mend_sessions(target: sqlite3.Connection) -> None:
    """Every position belongs to a session, whose parent is there or not named."""
    for number, name, created in target.execute("SELECT id, name, created FROM conversations").fetchall():
        if target.execute("SELECT 1 FROM sessions WHERE conversation = ?", (number,)).fetchone() is None:
            target.execute("INSERT INTO sessions (name, conversation, started) VALUES (?, ?, ?)", (name, number, created))
        first = target.execute("SELECT min(id) FROM sessions WHERE conversation = ?", (number,)).fetchone()[0]
        ours = "(SELECT id FROM sessions WHERE conversation = :of)"
        for table in ("segments", "views"):
            target.execute(
                f"UPDATE {table} SET session = :first WHERE conversation = :of AND session NOT IN {ours}", {"first": first, "of": number}
            )
        target.execute(f"UPDATE sessions SET parent = NULL WHERE conversation = :of AND parent NOT IN {ours}", {"of": number})
        began = target.execute("SELECT first FROM segments WHERE conversation = ? ORDER BY id LIMIT 1", (number,)).fetchone()
        if began is None or began[0] > 1:  # below all others: of two segments the one with the higher id counts
            before = "(SELECT min(0, coalesce(min(id), 0)) - 1 FROM segments)"
            target.execute(f"INSERT INTO segments (id, conversation, first, session) VALUES ({before}, ?, 1, ?)", (number, first))


def _mend_views(target: sqlite3.Connection) -> Iterator[str]:
    """Views show what is there; a version that cannot be read goes. Yields the versions that are missing."""
    seen: dict[int, int] = {}
    for number, conversation, version, entries, name in target.execute(VIEWS).fetchall():
        try:
            shown = list(unfolded(json.loads(entries)))
        except (ValueError, TypeError):
            target.execute("DELETE FROM views WHERE id = ?", (number,))
            continue
        yield from (f"{name} {missing}" for missing in range(seen.get(conversation, 0) + 1, version))
        seen[conversation] = version
        for made in (made for _, made in shown if made):
            target.execute(MADE, (made, conversation, token_bytes(32)))


def _fill_positions(target: sqlite3.Connection, ids: Mapping[Position, int]) -> None:
    """A row without content for each position that is not there any more, with its old id where that is known."""
    known: dict[int, dict[int, tuple[int, int]]] = {}
    for conversation, position, row, time in target.execute("SELECT conversation, position, id, time FROM messages ORDER BY 1, 2"):
        known.setdefault(conversation, {})[position] = (row, time)
    used = {row for rows in known.values() for row, _ in rows.values()}
    lengths = _lengths(target, ids)
    for conversation, length in lengths.items():
        rows = known.get(conversation, {})
        before, moment = FIRST_ID, min((time for _, time in rows.values()), default=0)
        for position in range(1, length + 1):
            if position in rows:
                before, moment = rows[position]
                continue
            before = _free_id(ids.get((conversation, position)), before, used)
            used.add(before)
            target.execute(
                "INSERT INTO messages (id, conversation, position, time, role, digest) VALUES (?, ?, ?, ?, ?, x'')",
                (before, conversation, position, moment, NOBODY),
            )


def _free_id(old: int | None, before: int, used: set[int]) -> int:
    if old is not None and old not in used:
        return old
    free = before + 1
    while free in used:
        free += 1
    return free


def _lengths(target: sqlite3.Connection, ids: Iterable[Position]) -> dict[int, int]:
    """How far each conversation reached, by everything that names a position of it."""
    witnesses = """
    SELECT conversation, max(position) FROM messages GROUP BY 1
    UNION ALL SELECT conversation, max(position) FROM tombstones GROUP BY 1
    UNION ALL SELECT conversation, max(upto) FROM views GROUP BY 1
    UNION ALL SELECT conversation, max(first) - 1 FROM segments GROUP BY 1
    """
    conversations = {number for (number,) in target.execute("SELECT id FROM conversations")}
    lengths = dict.fromkeys(conversations, 0)
    for conversation, position in (*target.execute(witnesses), *ids, *_shown(target)):
        if conversation in conversations:
            lengths[conversation] = max(lengths[conversation], position)
    return lengths


def _shown(target: sqlite3.Connection) -> Iterator[Position]:
    for conversation, entries in target.execute("SELECT conversation, entries FROM views"):
        yield from ((conversation, position) for position, _ in unfolded(json.loads(entries)))


def _mend_blobs(target: sqlite3.Connection) -> Iterator[str]:
    """A note in the place of each large string that is lost: the rest of its message can be read."""
    readable = {digest for digest, body in target.execute("SELECT digest, body FROM blobs") if _is_text(body)}
    for digest in sorted(digests_in_use(target) - readable):
        target.execute("INSERT OR REPLACE INTO blobs (digest, body) VALUES (?, ?)", (digest, NOTE))
        yield digest.hex()


def _empty_unreadable(target: sqlite3.Connection) -> None:
    """Bytes that are no message any more keep nobody from reading the others; their digest stays for the chain."""
    rows = target.execute("SELECT id, body, cuts FROM messages WHERE body IS NOT NULL").fetchall()
    gone = [(row,) for row, body, cuts in rows if not is_message(target, body, cuts)]
    target.executemany("UPDATE messages SET body = NULL, cuts = NULL WHERE id = ?", gone)


def is_message(connection: sqlite3.Connection, body: object, cuts: object) -> bool:
    """Whether a row's bytes can be read, changed or not."""
    try:
        return isinstance(body, bytes) and isinstance(message_of(whole(connection, body, str(cuts) if cuts else None)), dict)
    except (KeyError, ValueError, TypeError):
        return False


def _is_text(body: object) -> bool:
    """Whether a large string's bytes are still what stands between two quotes in JSON."""
    try:
        return isinstance(body, bytes) and isinstance(json.loads(f'"{body.decode("utf-8", "surrogatepass")}"'), str)
    except ValueError:
        return False


def _mend_key(target: sqlite3.Connection) -> bool:
    """Where the key of the digests is lost, make them anew with another one."""
    if target.execute("SELECT 1 FROM store WHERE key = 'digest_key'").fetchone():
        return False
    key, of, previous = token_bytes(32), None, b""
    target.execute("INSERT INTO store (key, value) VALUES ('digest_key', ?)", (key,))
    for row, conversation, body, cuts in target.execute(
        "SELECT id, conversation, body, cuts FROM messages ORDER BY conversation, position"
    ).fetchall():
        previous = chained(key, previous if conversation == of else b"", _bytes(target, body, cuts) or b"")
        target.execute("UPDATE messages SET digest = ? WHERE id = ?", (previous, row))
        of = conversation
    return True


def _unexplained(target: sqlite3.Connection) -> Iterator[str]:
    """The messages without content of which no tombstone and receipt say that they were erased on purpose."""
    holes = holes_of(target)
    empty = """
    SELECT c.name || ':' || m.position, t.receipt
    FROM messages m
    JOIN conversations c ON c.id = m.conversation
    LEFT JOIN tombstones t ON t.conversation = m.conversation AND t.position = m.position
    WHERE m.body IS NULL
    ORDER BY m.conversation, m.position
    """
    for message, receipt in target.execute(empty):
        if receipt not in holes.erased.get(message, ()):
            yield message


def _resumed(target: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Messages after a lost one, with a seal over what they are: the chain cannot speak for them."""
    key = target.execute("SELECT value FROM store WHERE key = 'digest_key'").fetchone()[0]
    after = """
    SELECT c.name || ':' || m.position, m.body, m.cuts
    FROM messages p
    JOIN messages m ON m.conversation = p.conversation AND m.position = p.position + 1
    JOIN conversations c ON c.id = m.conversation
    WHERE p.digest = x'' AND m.body IS NOT NULL
    """
    for message, body, cuts in target.execute(after).fetchall():
        if (canonical := _bytes(target, body, cuts)) is not None:
            yield message, resumed_seal(key, canonical).hex()


def _lost_ids(target: sqlite3.Connection) -> Iterator[range]:
    for first, after in target.execute(GAPS, {"first": FIRST_ID}).fetchall():
        yield range(first, after)
    highest, head = max(highest_id(target), FIRST_ID), target.execute(HEAD).fetchone()
    if head is not None and head[0] > highest:
        yield range(highest + 1, head[0] + 1)


def _bytes(target: sqlite3.Connection, body: object, cuts: str | None) -> bytes | None:
    try:
        return whole(target, body, cuts) if isinstance(body, bytes) else None
    except (KeyError, ValueError, TypeError):
        return None
